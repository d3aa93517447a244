// What `explain` tells of the model of memory.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include "coll/tune/memory_lines.hpp"
#include "core/endpoint_state.hpp"
#include "core/network_profile.hpp"
#include "topology/machine.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <unistd.h>

namespace aqueduct::coll {
namespace {

NetworkModel puts_of(std::int64_t latency_ps, std::uint64_t femtoseconds_per_byte) {
  NetworkModel model;
  model.by_size[0] = {.latency = Picoseconds(latency_ps),
                      .overhead = Picoseconds(1'000),
                      .femtoseconds_per_byte = femtoseconds_per_byte};
  return model;
}

TEST(MemoryLines, TakeLatenciesAndBytesOfTwoLevels) {
  const MemoryMachine machine = memory_machine({.count = 2, .smallest = 5, .largest = 6}, puts_of(29'000, 40),
                                               puts_of(99'000, 80), 4096);
  EXPECT_EQ(machine.inside.first, 30'000'000u);
  EXPECT_EQ(machine.inside.each, 64u * 40);
  EXPECT_EQ(machine.across.first, 100'000'000u);
  EXPECT_EQ(machine.across.shared, 64u * 80);
  EXPECT_EQ(machine.domains, 2u);
  EXPECT_EQ(machine.members, 6u);
}

/// A team whose members publish up to 16 KiB at once.
constexpr const char* kLevels = "levels cache and host";
const TeamTraits kWithBoard{.ranks = 12, .board = {.slots = 8, .narrow = 2, .bulk = 16384}};

Shape shape_of_lines(Operation operation, std::uint64_t bytes) {
  Shape shape;
  shape.operation = operation;
  shape.ranks = kWithBoard.ranks;
  shape.bytes = shape.pitch = bytes;
  return shape;
}

TEST(MemoryLines, SayWhereTilesGain) {
  const std::string text =
      memory_lines(shape_of_lines(Operation::all_reduce, 64), kTwoDomainsOfSix, kWithBoard, kLevels);
  EXPECT_NE(text.find(fmt::format("flags-tree {:.3f} us",
                                  static_cast<double>(all_reduce_by_tree_time(kTwoDomainsOfSix, 1)) / 1e9)),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("tiles gain from 16384 bytes on"), std::string::npos) << text;
  EXPECT_EQ(memory_lines(shape_of_lines(Operation::scan, 64), kTwoDomainsOfSix, kWithBoard, kLevels), "");
}

// `explain` has said just before that such a block is longer than a slot.
TEST(MemoryLines, LeaveOutAlgorithmsThatCannotDoTheBlock) {
  for (const Operation operation : {Operation::reduce, Operation::all_reduce}) {
    const std::string at_most =
        memory_lines(shape_of_lines(operation, 16384), kTwoDomainsOfSix, kWithBoard, kLevels);
    EXPECT_NE(at_most.find("flags-tree"), std::string::npos) << at_most;
    const std::string longer =
        memory_lines(shape_of_lines(operation, 16392), kTwoDomainsOfSix, kWithBoard, kLevels);
    EXPECT_EQ(longer.find("flags-"), std::string::npos) << longer;
    EXPECT_NE(longer.find("mapped-domain-tiles"), std::string::npos) << longer;
  }
  const TeamTraits without{.ranks = kWithBoard.ranks};
  EXPECT_EQ(memory_lines(shape_of_lines(Operation::all_gather, 16384), kTwoDomainsOfSix, without, kLevels),
            "");
}

TEST(MemoryLines, SayWhatCrossesIfBlocksArePacked) {
  Shape shape;
  shape.operation = Operation::all_gather;
  shape.ranks = 8;
  shape.bytes = 8;
  const std::uint32_t first[] = {0, 2, 8};
  // 16 bytes are a line, and so are 48; all 64 take two.
  EXPECT_EQ(packed_lines(shape, first),
            "  2 lines cross between 2 domains of memory, and 18 move inside them\n");
  shape.bytes = 16;
  EXPECT_EQ(packed_lines(shape, first),
            "  3 lines cross between 2 domains of memory, and 24 move inside them\n");
}

/// A profile of this machine with these levels, in a file.
std::string profile_with(const std::string& name, const std::string& levels) {
  const std::string file = fmt::format("{}{}-{}.json", testing::TempDir(), name, getpid());
  std::ofstream(file) << fmt::format(
      R"({{"format": "{}", "version": {}, "machine": "{}", "conduit": "smp", "levels": {{{}}}}})",
      core::kProfileFormat, core::kProfileVersion, core::machine_name(), levels);
  return file;
}
std::string level_text(const std::string& name, int latency_ps, int femtoseconds_per_byte) {
  return fmt::format(
      R"("{}": {{"injection_depth": 32, "inline_limit": 64, "peak_bytes": 4096, "rendezvous_limit": 0,
         "copy_femtoseconds_per_byte": 50, "reduce_femtoseconds_per_byte": 90, "costs": [{{"bytes": 0,
         "latency_ps": {}, "overhead_ps": 1000, "gap_ps": 1000, "femtoseconds_per_byte": {}}}]}})",
      name, latency_ps, femtoseconds_per_byte);
}

/// What rank 0 of eight on such a machine is told of an operation.
std::string explained(const char* machine, const std::string& profile, Collective operation) {
  constexpr Rank kRanks = 8;
  Config config;
  for (const auto& [name, value] : {std::pair<std::string, std::string>{"conduit", "smp"},
                                    {"topology", machine},
                                    {"network_profile", profile}})
    EXPECT_TRUE(config.set(name, value)) << name;
  auto job = Job::in_process(kRanks, config);
  if (!job) {
    ADD_FAILURE() << job.status().text();
    return {};
  }
  std::string text;
  job->run_each([&](Endpoint& me) {
    me.state().crowded.assign(kRanks, false);  // as with a processor for each
    auto team = me.world().split(0, me.rank());
    if (!team || !*team) {
      ADD_FAILURE() << "no team";
      job->leave(1);  // the others wait for this rank
    }
    if (me.rank() == 0) text = (*team)->explain(operation, 1 << 20);
    EXPECT_TRUE((*team)->end());
  });
  EXPECT_TRUE(job->finish());
  return text;
}

constexpr const char* kTwoNodes = "package:2 numa:1 l3:1 core:4 pu:1";

TEST(MemoryLines, AreInWhatExplainsACallIfTheProfileHasBothLevels) {
  // hwloc reads the description, and a build may lack it.
  if (!topology::read_machine(topology::Source::of(kTwoNodes)).problem.empty()) GTEST_SKIP() << "no hwloc";
  const std::string both =
      profile_with("memory_both", level_text("cache", 29'000, 40) + "," + level_text("host", 99'000, 80));
  const std::string text = explained(kTwoNodes, both, Collective::all_gather);
  const std::string line = memory_lines(
      shape_of_lines(Operation::all_gather, 1 << 20),
      memory_machine({.count = 2, .smallest = 4, .largest = 4}, puts_of(29'000, 40), puts_of(99'000, 80), 0),
      kWithBoard, kLevels);
  EXPECT_NE(line.find("mapped-domain-blocks"), std::string::npos) << line;
  EXPECT_NE(text.find(line), std::string::npos) << text;
  const std::string one = profile_with("memory_one", level_text("cache", 29'000, 40));
  EXPECT_EQ(explained(kTwoNodes, one, Collective::all_gather).find("model of memory"), std::string::npos);
  EXPECT_EQ(explained(kTwoNodes, both, Collective::all_to_all).find("model of memory"), std::string::npos);
  for (const std::string& file : {both, one}) std::filesystem::remove(file);
}

// Those of a cache and of the most distant ranks of any host were taken, wherever the members were.
TEST(MemoryLines, HaveTheCostsOfTheDomainsThatAreMeant) {
  if (!topology::read_machine(topology::Source::of(kTwoNodes)).problem.empty()) GTEST_SKIP() << "no hwloc";
  const std::string profile =
      profile_with("memory_three", level_text("cache", 29'000, 40) + "," + level_text("domain", 49'000, 60) +
                                       "," + level_text("host", 99'000, 80));
  const NetworkModel cache = puts_of(29'000, 40);
  const NetworkModel domain = puts_of(49'000, 60);
  const NetworkModel host = puts_of(99'000, 80);
  struct Case {
    const char* machine;
    const char* levels;
    const NetworkModel& inside;
    const NetworkModel& across;
  };
  for (const Case& one : {Case{"numa:1 l3:2 core:4 pu:1", "levels cache and domain", cache, domain},
                          Case{"numa:2 core:4 pu:1", "levels domain and host", domain, host}}) {
    const std::string text = explained(one.machine, profile, Collective::all_gather);
    const std::string line =
        memory_lines(shape_of_lines(Operation::all_gather, 1 << 20),
                     memory_machine({.count = 2, .smallest = 4, .largest = 4}, one.inside, one.across, 0),
                     kWithBoard, one.levels);
    EXPECT_NE(text.find(line), std::string::npos) << one.machine << ": " << line << text;
  }
  std::filesystem::remove(profile);
}

}  // namespace
}  // namespace aqueduct::coll
