// Hosts with fewer processors than ranks: what simulations take them for, and what the library chooses there.

#include "coll/schedule/schedule.hpp"
#include "coll/tune/table.hpp"
#include "sim/hosts.hpp"
#include "tests/unit/aqsim/hosts.hpp"
#include "tools/aqsim/team.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace aqueduct::aqsim {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(AqsimHosts, ShareTheProcessorsOfTheirHost) {
  const auto time_of = [](const char* hosts, std::uint32_t cores) {
    Options options = hosts_options("all_gather", hosts, "ring");
    options.cores = cores;
    return hosts_line(options).at("virtual_us").get<double>();
  };
  EXPECT_EQ(time_of("3,1,5", 5), time_of("3,1,5", 0));
  EXPECT_GT(time_of("3,1,5", 1), time_of("3,1,5", 5));
  EXPECT_EQ(time_of("1,1,1", 1), time_of("1,1,1", 0));
}

TEST(AqsimHosts, MayMixTheRanksOfAHost) {
  coll::Machine machine;
  machine.host = 4;
  sim::mix_on_hosts(machine, 10, 7);
  ASSERT_EQ(machine.slots.size(), 10u);
  for (Rank rank = 0; rank < 10; ++rank) EXPECT_EQ(machine.host_of(rank), rank / 4) << rank;
  std::vector<Rank> sorted = machine.slots;
  std::ranges::sort(sorted);
  for (Rank rank = 0; rank < 10; ++rank) EXPECT_EQ(sorted[rank], rank);
  std::vector<Rank> other = machine.slots;
  sim::mix_on_hosts(machine, 10, 8);
  EXPECT_NE(machine.slots, other) << "another seed";
  const auto time_of = [](std::uint64_t seed) {
    Options options = hosts_options("all_gather", "8", "neighbours");
    options.cores = 4;
    options.mixed = seed != 0;
    options.seed = seed;
    return hosts_line(options).at("virtual_us").get<double>();
  };
  EXPECT_EQ(time_of(3), time_of(3));
  EXPECT_GT(time_of(3), 0);
}

/// What the table chooses for a real team like this one.
std::string choice_for(const coll::Shape& shape, coll::TeamTraits team) {
  const coll::ScratchLayout ample({.banks = 2, .counters = 65535, .bytes = std::uint64_t{1} << 50},
                                  shape.ranks);
  const coll::Choice choice = coll::TableChooser().choose(shape, team, ample);
  return coll::name_of(*choice.algorithm, choice.shape);
}

TEST(AqsimHosts, WithFewerProcessorsThanRanksAreCrowded) {
  const auto simulated = [](const char* operation, std::uint64_t bytes, std::uint32_t cores) {
    Options options = hosts_options(operation, "8");
    options.bytes = {bytes};
    options.cores = cores;
    return hosts_line(options);
  };
  EXPECT_EQ(simulated("all_reduce", 8, 2).at("algorithm"), "tree:radix=8");
  EXPECT_EQ(simulated("all_reduce", 32 << 10, 2).at("algorithm"), "tree:radix=2");
  EXPECT_EQ(simulated("all_gather", 1 << 10, 2).at("algorithm"), "doubling");
  EXPECT_EQ(simulated("reduce_scatter", 8, 2).at("algorithm"), "circulant");
  EXPECT_EQ(simulated("all_reduce", 8, 8).at("algorithm"), "direct") << "each rank has a processor";
  // Two passes of 2 (P - 1) signals, and the tree of the algorithm: decision 100.
  EXPECT_EQ(simulated("all_reduce", 8, 2).at("messages"), 3 * 2 * 7);
  for (const char* const operation : {"broadcast", "all_gather", "all_reduce", "reduce_scatter", "barrier"}) {
    for (const std::uint64_t bytes : {8u, 16u << 10, 1u << 20}) {
      for (const std::uint32_t cores : {2u, 8u}) {
        coll::Shape shape;
        shape.operation = read_operation(operation);
        shape.ranks = 8;
        shape.bytes = shape.pitch = shape.operation == coll::Operation::barrier ? 0 : bytes;
        EXPECT_EQ(simulated(operation, bytes, cores).at("algorithm"),
                  choice_for(shape, {.ranks = 8, .one_host = true, .mapped = false, .crowded = cores < 8}))
            << operation << " of " << bytes << " on " << cores;
      }
    }
  }
}

TEST(AqsimHosts, OfOneRankSayThatProcessorsAreNotShared) {
  const auto note_of = [](const char* hosts) {
    Options options = hosts_options("barrier", hosts);
    options.cores = 2;
    testing::internal::CaptureStderr();
    hosts_line(options);
    std::fflush(stderr);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(note_of("1,1,1"),
              AllOf(HasSubstr("--cores 2 changes nothing"), HasSubstr("--ranks-per-host N")));
  EXPECT_EQ(note_of("3"), "");
  EXPECT_EQ(note_of("1,2"), "");
}

TEST(AqsimHosts, AreCrowdedIfOneOfThemIs) {
  const auto traits_of = [](const char* hosts, std::uint32_t cores) {
    const Options options = hosts_options("barrier", hosts);
    sim::Network network = sim::load_network("two-level", options.ranks[0], options.hosts);
    network.machine.cores = cores;
    const SimulatedTeam team(network.machine, options.ranks[0]);
    coll::TeamTraits traits = team.traits();
    EXPECT_EQ(traits.groups != nullptr, options.hosts.are_mixed()) << hosts;
    traits.groups = nullptr;
    return traits;
  };
  EXPECT_TRUE(traits_of("4", 3).few_signals());
  EXPECT_FALSE(traits_of("4", 4).few_signals());
  EXPECT_FALSE(traits_of("4", 0).few_signals()) << "each rank has a processor";
  EXPECT_TRUE(traits_of("1,3", 2).crowded);
  EXPECT_FALSE(traits_of("1,3", 2).few_signals()) << "its hosts have passes of their own";
  EXPECT_FALSE(traits_of("1,3", 3).crowded) << "room for a fourth rank is no rank";
  EXPECT_FALSE(traits_of("1,1,1", 1).crowded);
  EXPECT_TRUE(traits_of("5", 8).one_host);
}

}  // namespace
}  // namespace aqueduct::aqsim
