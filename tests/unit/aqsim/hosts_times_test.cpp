// What aqsim predicts for teams on several hosts is what the engine takes over the conduit sim, to the picosecond.

#include "sim/simulate.hpp"
#include "tests/support/sim_times.hpp"
#include "tools/aqsim/run.hpp"
#include "tools/aqsim/team.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace aqueduct::aqsim {
namespace {

namespace sim_times = coll::sim_times;

/// The conduit's network as a file: all pairs of ranks cost the same, within a host and between hosts.
std::string file_of(const conduits::sim::SimOptions& options) {
  const auto us = [](coll::Picoseconds time) { return static_cast<double>(time) / 1e6; };
  const std::string costs =
      fmt::format(R"("latency_us": {:.6f}, "overhead_us": {:.6f}, "gap_us": {:.6f}, "ns_per_byte": {:.6f})",
                  us(options.latency), us(options.overhead), us(options.gap),
                  static_cast<double>(options.femtoseconds_per_byte) / 1e6);
  return fmt::format(R"({{"version": 1, "levels": [{{"ranks": 2, {}}}, {{{}}}], "strided": "pieces"}})",
                     costs, costs);
}

/// Compares what the engine has chosen and taken with what aqsim makes of the same calls. `by_hosts` counts, for each operation,
/// those that went by hosts or by a tree of the team.
void compare_with_aqsim(const std::vector<sim_times::SimCall>& calls,
                        const std::vector<sim_times::Timed>& times, const Options& options,
                        const sim_times::Settings& named, const conduits::sim::SimOptions& costs,
                        std::map<std::string, int>& by_hosts) {
  const sim::Network network =
      sim::parse_network(file_of(costs), "sim", options.ranks[0], hosts_for(options, options.ranks[0]));
  const SimulatedTeam team(network.machine, options.ranks[0], options.tree);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const sim_times::Timed& one = times[i];
    if (one.replayed.empty()) continue;
    if (std::count(one.controls.begin(), one.controls.end(), 0) != std::ssize(one.controls)) continue;
    const coll::ReplayedCall& made = one.replayed.back();
    // The call as the command line would give it.
    Options asked = options;
    for (const auto& [setting, value] : named) {
      if (setting == fmt::format("coll_{}", coll::operation_word(made.shape.operation)))
        asked.algorithm = value;
    }
    asked.single = made.shape.addresses == coll::Addresses::single;
    coll::Shape shape = made.shape;
    shape.parameters = {};
    shape.groups = {};
    shape.team_tree = {};
    const std::vector<Chosen> chosen = choose(asked, shape, team.traits());
    if (chosen.size() != 1 || chosen[0].algorithm != made.algorithm || chosen[0].shape != made.shape) {
      ADD_FAILURE() << "the engine runs " << coll::name_of(*made.algorithm, made.shape) << ", aqsim "
                    << coll::name_of(*chosen.at(0).algorithm, chosen[0].shape);
      return;
    }
    sim::Job job;
    job.algorithm = chosen[0].algorithm;
    job.shape = chosen[0].shape;
    job.calls = one.called;
    const coll::Replayed replayed = sim::simulate(job, network).replayed;
    for (Rank member = 0; member < options.ranks[0]; ++member) {
      EXPECT_EQ(one.ended[member] - one.called[member],
                replayed.members[member].ended - replayed.members[member].called)
          << sim_times::text_of({chosen[0].algorithm, chosen[0].shape}, member, costs);
    }
    // A program's barrier is an all-reduce of its members' votes.
    by_hosts[std::string(coll::operation_word(calls[i].call.operation))] +=
        chosen[0].algorithm->hosts || chosen[0].algorithm->team_tree ? 1 : 0;
  }
}

TEST(AqsimHosts, TakeTheTimesOfTheConduitSim) {
  std::size_t turn = 0;
  std::map<std::string, int> by_hosts;
  for (const char* const hosts : {"2,3", "1,3,2,2", "2,1,2"}) {
    // Forced by name, and as the table chooses.
    for (const bool forced : {true, false}) {
      SCOPED_TRACE(fmt::format("{}, forced {}", hosts, forced));
      Options options;
      read_hosts(hosts, options);
      sim_times::Settings named;
      for (const char* const operation : {"broadcast", "all_gather", "reduce", "scatter", "gather",
                                          "all_to_all", "reduce_scatter", "scan", "exscan"})
        named.emplace_back(fmt::format("coll_{}", operation), "hosts");
      named.emplace_back("coll_all_reduce", fmt::format("hosts:{}", options.hosts.sizes.size()));
      auto calls = sim_times::calls_for(options.ranks[0], {1, 30, 300}, named);
      // Several: one at which the scratch sends messages of its own is not compared.
      for (int i = 0; i < 4; ++i) calls.push_back({.call = {.operation = coll::Operation::barrier}});
      if (!forced) named.clear();
      const conduits::sim::SimOptions costs = sim_times::networks()[turn++ % sim_times::networks().size()];
      std::vector<sim_times::Timed> times;
      {
        sim_times::SimTimes jobs(options.ranks[0], costs, named, options.hosts.host_of());
        times = jobs.make(calls, 300);
      }
      compare_with_aqsim(calls, times, options, named, costs, by_hosts);
    }
  }
  for (const char* const operation : {"barrier", "broadcast", "all_gather", "reduce", "all_reduce", "scatter",
                                      "gather", "all_to_all", "reduce_scatter", "scan", "exscan"})
    EXPECT_GE(by_hosts[operation], 6) << operation << ": once for each list and way of choosing";
}

TEST(AqsimHosts, TakeTheTimesOfTheConduitSimOnTreesOfTheTeam) {
  std::size_t turn = 0;
  std::map<std::string, int> on_trees;
  for (const std::string tree : {"2-ary over flat", "3-nomial order=3,1,0,4,2", "parents=2,0,-,1,1"}) {
    SCOPED_TRACE(tree);
    Options options;
    read_hosts("2,3", options);
    read_tree(tree, options);
    sim_times::Settings named;
    for (const char* const operation : {"broadcast", "scatter", "gather", "reduce"})
      named.emplace_back(fmt::format("coll_{}", operation), "team-tree");
    const auto calls = sim_times::calls_for(options.ranks[0], {1, 300}, named);
    named.emplace_back("coll_tree", tree);
    const conduits::sim::SimOptions costs = sim_times::networks()[turn++ % sim_times::networks().size()];
    std::vector<sim_times::Timed> times;
    {
      sim_times::SimTimes jobs(options.ranks[0], costs, named, options.hosts.host_of());
      times = jobs.make(calls, 300);
    }
    compare_with_aqsim(calls, times, options, named, costs, on_trees);
  }
  for (const char* const operation : {"broadcast", "scatter", "gather", "reduce"})
    EXPECT_GE(on_trees[operation], 6) << operation << ": twice for each tree";
}

}  // namespace
}  // namespace aqueduct::aqsim
