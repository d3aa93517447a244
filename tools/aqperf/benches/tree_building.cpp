#include <aqueduct/coll.hpp>

#include "tools/aqperf/apps/space_tree.hpp"
#include "tools/aqperf/apps/timed_app.hpp"
#include "tools/aqperf/bench.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

// The all-reduces with which a tree code of Barnes and Hut divides space (requirement HB-07). Their lengths change from round to round.

namespace aqueduct::perf {

namespace {

/// Chosen: a cube has at most this part of all bodies, so trees of any number of bodies are alike.
constexpr std::uint64_t kLeaves = 1024;

}  // namespace

void tree_building(Session& session, Reporter& reporter) {
  const std::size_t bodies = session.options().size != 0 ? session.options().size : kTreeBodies;
  std::vector<Place> mine;
  for (std::uint64_t i = session.rank(); i < bodies; i += session.ranks()) mine.push_back(body(i));
  const std::uint64_t limit = std::max<std::uint64_t>(1, bodies / kLeaves);

  TimedApp app(session);
  std::size_t rounds = 0, longest = 0, elements = 0;
  while (app.goes_on()) {
    rounds = longest = elements = 0;
    app.begin_turn();
    SpaceTree tree(mine, limit);
    while (!tree.costs().empty()) {
      ++rounds;
      longest = std::max(longest, tree.costs().size());
      elements += tree.costs().size();
      app.collective([&] { return all_reduce(session.ep().world(), tree.costs(), ReduceOp::sum); },
                     "all_reduce");
      tree.next_round();
    }
    app.end_turn();
    if (tree.cost_of_leaves() != bodies)
      throw Failure(fmt::format("the cubes hold {} of {} bodies", tree.cost_of_leaves(), bodies), 1);
  }
  Row row = app.row(longest * sizeof(std::uint64_t));
  row.extra.emplace_back("bodies", static_cast<double>(bodies));
  row.extra.emplace_back("rounds", static_cast<double>(rounds));
  row.extra.emplace_back("elements", static_cast<double>(elements));
  reporter.add(row);
}

}  // namespace aqueduct::perf
