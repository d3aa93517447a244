// A linked list whose nodes lie in random order over the memory of all ranks. Following it costs one get after the
// other; following several chains at once hides part of that time.

#include <aqueduct/aqueduct.hpp>

#include "common/board.hpp"
#include "common/check.hpp"
#include "common/command_line.hpp"
#include "common/stopwatch.hpp"
#include "pointer_chase/list.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace {

using example::fail;
using example::need;
using pointer_chase::Link;
using pointer_chase::List;

struct Options {
  std::uint32_t nodes_per_rank = 4096;
  std::uint32_t chains = 8;
  std::uint64_t seed = 1;
};

/// The state of one walk along the list.
struct Walk {
  Link at;  // the current node; initially the first one
  std::uint64_t hops = 0;
  std::uint64_t sum = 0;  // of the numbers of all visited nodes
};

/// A node has one successor. So a walk that is back at its start after exactly `nodes` hops,
/// and not before, has visited each node once.
void check(const List& list, const Walk& walk, const Link& start, const char* how) {
  const std::uint64_t nodes = list.nodes();
  if (walk.at != start || walk.hops != nodes || walk.sum != nodes * (nodes - 1) / 2) {
    fail(std::string(how) + ": ended after " + std::to_string(walk.hops) + " hops with sum " +
         std::to_string(walk.sum) + "; there are " + std::to_string(nodes) + " nodes");
  }
}

void count(const List& list, Walk& walk) {
  walk.sum += list.number_of(walk.at);
  ++walk.hops;
}

void chase_by_get_value(aqueduct::Endpoint& ep, const List& list, const Link& start) {
  Walk walk{start};
  do {
    walk.at = need(aqueduct::get_value(ep, list.node(walk.at)), "get a link");
    count(list, walk);
  } while (walk.at != start && walk.hops < list.nodes());
  check(list, walk, start, "get_value");
}

void chase_by_get(aqueduct::Endpoint& ep, const List& list, const Link& start) {
  Walk walk{start};
  do {
    need(aqueduct::get(ep, std::span(&walk.at, 1), list.node(walk.at)), "get a link");
    count(list, walk);
  } while (walk.at != start && walk.hops < list.nodes());
  check(list, walk, start, "get");
}

/// Several walks along the one list, each from its own start, with one get of each in flight.
void chase_by_get_nb(aqueduct::Endpoint& ep, const List& list, std::span<const Link> starts) {
  std::vector<Walk> walks;
  for (const Link& start : starts) walks.push_back({start});
  std::vector<aqueduct::Event> pending(walks.size());
  for (std::uint64_t hop = 0; hop <= list.nodes(); ++hop) {
    for (std::size_t i = 0; i < walks.size(); ++i) {
      Walk& walk = walks[i];
      need(ep.wait(pending[i]), "get a link");
      if (hop > 0) count(list, walk);
      if (walk.hops == list.nodes()) continue;
      // Back at the start too early.
      if (hop > 0 && walk.at == starts[i]) check(list, walk, starts[i], "get_nb");
      pending[i] = aqueduct::get_nb(ep, std::span(&walk.at, 1), list.node(walk.at));
    }
  }
  for (std::size_t i = 0; i < walks.size(); ++i) check(list, walks[i], starts[i], "get_nb");
}

/// Times a chase that all ranks do at the same time; nanoseconds per hop on the slowest rank.
template <class Chase>
double time_chase(aqueduct::Endpoint& ep, example::Board& board, double hops, Chase chase) {
  need(ep.barrier(), "barrier");
  const example::Stopwatch watch;
  chase();
  const double seconds = watch.seconds();  // before the barrier: the time of this rank alone
  need(ep.barrier(), "barrier");
  return board.max(seconds) / hops * 1e9;
}

void run(aqueduct::Endpoint& ep, const Options& options) {
  example::Board board(ep);
  const List list(ep, options.nodes_per_rank, options.seed);
  std::vector<Link> starts;  // spread over all nodes, and different on each rank
  for (std::uint64_t i = 0; i < options.chains; ++i) {
    const std::uint64_t stride = list.nodes() / options.chains;
    starts.push_back(
        list.link_to((ep.rank() * std::uint64_t{options.nodes_per_rank} + i * stride) % list.nodes()));
  }

  const auto hops = static_cast<double>(list.nodes());
  const double by_value = time_chase(ep, board, hops, [&] { chase_by_get_value(ep, list, starts[0]); });
  const double by_get = time_chase(ep, board, hops, [&] { chase_by_get(ep, list, starts[0]); });
  const double by_nb =
      time_chase(ep, board, hops * options.chains, [&] { chase_by_get_nb(ep, list, starts); });
  if (ep.rank() == 0) {
    std::printf(
        "pointer_chase: %llu nodes, %u ranks: get_value %.1f, get %.1f, get_nb %.1f ns a hop (%u chains)\n",
        static_cast<unsigned long long>(list.nodes()), ep.ranks(), by_value, by_get, by_nb, options.chains);
  }
}

}  // namespace

int main(int argc, char** argv) {
  example::CommandLine line("Follows a linked list that lies in random order over the memory of all ranks.");
  Options options;
  line.number("--nodes", options.nodes_per_rank, "Nodes on each rank", 1, 1 << 24);
  line.number("--chains", options.chains, "How many chains to follow at once, with get_nb", 1, 1024);
  line.number("--seed", options.seed, "Of the random order", 0, std::numeric_limits<std::uint64_t>::max());
  line.parse(argc, argv);

  auto job = need(aqueduct::Job::start(), "start the job");
  job.run_each([&](aqueduct::Endpoint& ep) { run(ep, options); });
  need(job.finish(), "finish the job");
  return 0;
}
