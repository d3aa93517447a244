// Trees of a team in virtual time: --tree.

#include "tools/aqsim/run.hpp"
#include "tools/aqsim/team.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace aqueduct::aqsim {
namespace {

using testing::HasSubstr;

Options with_tree(const std::string& algorithm, const std::string& tree) {
  Options options;
  options.algorithm = algorithm;
  if (!tree.empty()) read_tree(tree, options);
  return options;
}

sim::Outcome simulated(const Options& options, coll::Operation operation, const sim::Network& network,
                       Rank ranks, Rank root) {
  const SimulatedTeam team(network.machine, ranks, options.tree);
  coll::Shape shape;
  shape.operation = operation;
  shape.in = shape.out = coll::Sync::none;
  shape.ranks = ranks;
  shape.root = root;
  shape.bytes = shape.pitch = 64;
  const Chosen chosen = choose(options, shape, team.traits()).at(0);
  sim::Job job;
  job.algorithm = chosen.algorithm;
  job.shape = chosen.shape;
  return sim::simulate(job, network);
}

constexpr const char* kTorus = R"({"version": 1, "levels": [{"latency_us": 1}],
    "topology": {"kind": "torus", "sizes": [4, 4, 4]}, "ranks_per_host": 1, "link": {"hop_us": 0.05}})";

// A fork tree of the team keeps its edges, so each of its messages takes one link, whoever is the root. The algorithm `fork`
// shifts positions, and edges from the end of a row then take more.
TEST(AqsimTrees, OfAForkTakeTheSameLinksForEveryRoot) {
  const sim::Network network = sim::parse_network(kTorus, "torus", 64);
  const auto hops = [&](const Options& options, Rank root) {
    return simulated(options, coll::Operation::broadcast, network, 64, root).hops;
  };
  const Options kept = with_tree("team-tree:segments=1", "fork:4x4");
  const Options shifted = with_tree("fork:row=4,rows=4,segments=1", "");
  EXPECT_EQ(hops(kept, 0), hops(shifted, 0));
  for (Rank root = 0; root < 64; ++root) EXPECT_EQ(hops(kept, root), hops(kept, 0)) << root;
  EXPECT_GT(hops(shifted, 21), hops(kept, 21));
}

TEST(AqsimTrees, ServeAllOperationsThatHaveThem) {
  const sim::Network network = sim::load_network("ideal", 48, {});
  const Options options = with_tree("team-tree", "4-nomial over 2-ary portion=8");
  for (const coll::Operation operation : {coll::Operation::broadcast, coll::Operation::scatter,
                                          coll::Operation::gather, coll::Operation::reduce}) {
    for (const Rank root : {0u, 13u}) {
      const std::uint64_t messages = simulated(options, operation, network, 48, root).replayed.messages;
      EXPECT_GE(messages, 47u);
      EXPECT_LE(messages, 48u);
    }
  }
}

TEST(AqsimTrees, OverHostsCrossToEachHostOnce) {
  Options options = with_tree("team-tree:segments=1", "flat over flat");
  read_hosts("4x8", options);
  const sim::Network network = sim::load_network("two-level", 32, options.hosts);
  const SimulatedTeam team(network.machine, 32, options.tree);
  ASSERT_NE(team.traits().tree, nullptr);
  EXPECT_EQ(team.traits().tree->depth(), 2u);
  EXPECT_EQ(team.traits().tree->children(0).size(), 7u + 3u);
}

TEST(AqsimTrees, AreMissedInWords) {
  const sim::Network network = sim::load_network("ideal", 8, {});
  const auto refusal = [&](const Options& options) -> std::string {
    try {
      simulated(options, coll::Operation::gather, network, 8, 0);
    } catch (const sim::BadInput& problem) {
      return problem.what();
    }
    return {};
  };
  EXPECT_THAT(refusal(with_tree("team-tree", "")), HasSubstr("--tree gives one"));
  EXPECT_THAT(refusal(with_tree("team-tree", "parents=-,0")), HasSubstr("gives one for its size"));
  EXPECT_EQ(refusal(with_tree("team-tree", "parents=-,0,0,1,1,1,2,2")), "");
  Options options;
  EXPECT_THROW(read_tree("oak", options), sim::BadInput);
}

}  // namespace
}  // namespace aqueduct::aqsim
