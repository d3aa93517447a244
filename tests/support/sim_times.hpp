#pragma once

#include "tests/support/sim_jobs.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <vector>

// Compares what the engine takes over the conduit sim with what the replay of its schedules predicts.

namespace aqueduct::coll::sim_times {

/// Networks on which different things take the time. Numbers that are no multiples of one another.
inline std::vector<SimOptions> networks() {
  SimOptions usual{.latency = 1'700'003, .overhead = 211'007, .gap = 53'011};
  SimOptions busy{.latency = 100'003, .overhead = 900'001, .gap = 11};   // o > L: looks overlap arrivals
  SimOptions narrow{.latency = 500'009, .overhead = 7, .gap = 800'011};  // the ports queue
  narrow.femtoseconds_per_byte = 1'234'567;
  SimOptions idle{.latency = 3'000'017, .overhead = 0, .gap = 0};
  idle.femtoseconds_per_byte = 0;
  return {usual, busy, narrow, idle};
}

inline Machine machine_of(const SimOptions& options) {
  Machine machine;
  machine.levels.front().link = {options.latency, options.overhead, options.gap,
                                 options.femtoseconds_per_byte};
  machine.strided = Strided::pieces;
  return machine;
}

/// What has been compared: how many calls, by the algorithm's name and, among `all`, by name and all that calls differ in.
struct Compared {
  std::map<std::string, int> by_name;
  /// Calls that had to wait for their scratch to be free: the scratch sends messages of its own then, which are no part of
  /// a schedule.
  int left_out = 0;
  int late = 0;
  int of_several_lanes = 0;
  int with_parameters = 0;  ///< other ones than the usual
  std::map<std::pair<Sync, Sync>, int> by_sync;
};

inline std::string text_of(const ReplayedCall& call, Rank member, const SimOptions& options) {
  return std::string(operation_word(call.shape.operation)) + " " + name_of(*call.algorithm, call.shape) +
         ", " + std::to_string(call.shape.bytes) + " bytes, root " + std::to_string(call.shape.root) +
         ", member " + std::to_string(member) + " of " + std::to_string(call.shape.ranks) + ", sync " +
         std::to_string(static_cast<int>(call.shape.in)) + std::to_string(static_cast<int>(call.shape.out)) +
         ", L " + std::to_string(options.latency) + ", o " + std::to_string(options.overhead);
}

inline void count(const SimCall& made, const ReplayedCall& call, Compared& compared) {
  const Algorithm& algorithm = *call.algorithm;
  const std::string operation(operation_word(made.call.operation));
  ++compared
        .by_name[made.call.operation == Collective::barrier ? operation
                                                            : operation + " " + std::string(algorithm.name)];
  compared.late += made.most_late != 0 ? 1 : 0;
  ++compared.by_sync[{call.shape.in, call.shape.out}];
  for (Rank member = 0; member < call.shape.ranks; ++member) {
    if (algorithm.lanes(call.shape, member) < 2) continue;
    ++compared.of_several_lanes;
    break;
  }
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
    if (call.shape.parameters[i] == algorithm.parameters[i].usual) continue;
    ++compared.with_parameters;
    break;
  }
}

inline void compare(const std::vector<SimCall>& calls, const std::vector<Timed>& times,
                    const SimOptions& options, Compared& compared) {
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Timed& one = times[i];
    if (one.replayed.empty()) continue;
    if (std::count(one.controls.begin(), one.controls.end(), 0) != std::ssize(one.controls)) {
      ++compared.left_out;
      continue;
    }
    ReplayOptions how;
    how.calls = one.called;
    const Replayed replayed = replay(one.replayed, machine_of(options), how);
    const ReplayedCall& last = one.replayed.back();
    ASSERT_EQ(replayed.problem, "") << text_of(last, 0, options);
    count(calls[i], last, compared);
    for (Rank member = 0; member < last.shape.ranks; ++member) {
      ASSERT_EQ(one.ended[member] - one.called[member],
                replayed.members[member].ended - replayed.members[member].called)
          << text_of(last, member, options) << (calls[i].most_late != 0 ? ", late" : "");
    }
  }
}

/// Runs every algorithm on teams of these sizes, on the networks in turn or on all of them, and compares each member's time with
/// the replay's. `variants`: how many sets of parameters each algorithm gets.
inline Compared compare_all(const std::vector<Rank>& teams, const std::vector<std::uint64_t>& counts,
                            bool all_networks, std::size_t variants) {
  Compared compared;
  std::size_t turn = 0;
  const auto try_on = [&](Rank ranks, const Settings& settings, const std::vector<SimCall>& calls) {
    for (std::size_t i = 0; i < (all_networks ? networks().size() : 1); ++i) {
      const SimOptions options = networks()[turn++ % networks().size()];
      std::vector<Timed> times;
      {
        SimTimes jobs(ranks, options, settings);
        times = jobs.make(calls, counts.back());
      }
      compare(calls, times, options, compared);
    }
  };
  for (const Rank ranks : teams) {
    for (const Settings& settings : forced_blocks())
      try_on(ranks, settings, calls_without_choice(ranks, counts));
    for (std::size_t variant = 0; variant < variants; ++variant) {
      for (std::size_t which = 0; !forced(which, variant).empty(); ++which) {
        const Settings settings = forced(which, variant);
        try_on(ranks, settings, calls_for(ranks, counts, settings));
        if (testing::Test::HasFailure()) return compared;
      }
    }
  }
  return compared;
}

inline void expect_all_compared(const Compared& compared) {
  for (const std::string& name : all_names())
    EXPECT_GT(compared.by_name.count(name), 0u) << name << " was not compared";
  for (const Sync in : conformance::kSyncs) {
    for (const Sync out : conformance::kSyncs)
      EXPECT_GT(compared.by_sync.count({in, out}), 0u) << static_cast<int>(in) << static_cast<int>(out);
  }
  int all = 0;
  for (const auto& [name, calls] : compared.by_name) all += calls;
  EXPECT_LE(compared.left_out, all / 100);
  EXPECT_GT(compared.late, 0);
  EXPECT_GT(compared.of_several_lanes, 0);
  EXPECT_GT(compared.with_parameters, 0);
}

}  // namespace aqueduct::coll::sim_times
