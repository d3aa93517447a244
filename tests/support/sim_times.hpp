#pragma once

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include "coll/algorithms/algorithms.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/model/replay.hpp"
#include "coll/tune/operation_word.hpp"
#include "conduits/sim/sim_network.hpp"
#include "runtime/builder.hpp"
#include "tests/conformance/collective_trial.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::coll::sim_times {

using conduits::sim::SimNetwork;
using conduits::sim::SimOptions;
using conformance::CollectiveCall;
using conformance::CollPlace;

using Picoseconds = std::uint64_t;

// Apart by so much that all that a call leaves behind is over when the next one begins.
inline constexpr Picoseconds kApart = 1'000'000'000'000;

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

/// What one call took.
struct Timed {
  std::string what;
  const Algorithm* algorithm = nullptr;  ///< null: it was not made
  Shape shape;
  std::vector<Picoseconds> took;  ///< [member]
};

inline std::uint64_t control_of(Endpoint& ep) {
  for (const StatisticsRow& one : ep.statistics_rows()) {
    if (one.name == "collective_control") return *one.counter;
  }
  ADD_FAILURE() << "there is no row collective_control";
  return 0;
}

inline Shape shape_of(const CollectiveCall& call, Rank ranks) {
  Shape shape;
  shape.operation = call.operation;
  shape.in = call.options.in;
  shape.out = call.options.out;
  shape.order = conformance::is_reduction(call.operation) ? call.options.order : Order::any;
  shape.addresses = call.place == CollPlace::on_all ? Addresses::single : Addresses::local;
  shape.ranks = ranks;
  shape.root = conformance::has_root(call.operation) ? call.root : 0;
  shape.element = sizeof(std::int64_t);
  shape.bytes = call.count * sizeof(std::int64_t);
  shape.pitch = shape.bytes;
  return shape;
}

/// A job over a simulated network, all ranks of which make the same calls at the same times.
class SimTimes {
 public:
  using Forced = std::vector<std::pair<std::string, std::string>>;

  SimTimes(Rank ranks, const SimOptions& options, const Forced& forced)
      : ranks_(ranks), network_(ranks, options, nullptr, {}) {
    Config config;
    const Forced always = {{"segment_bytes", "64K"}, {"coll_scratch", "32M"}, {"log", "off"}};
    for (const Forced& settings : {always, forced}) {
      for (const auto& [name, value] : settings) EXPECT_TRUE(config.set(name, value)) << name << '=' << value;
    }
    auto made = runtime::build_in_process(ranks, config, network_);
    EXPECT_TRUE(made) << made.status().text();
    if (made) job_.emplace(*std::move(made));
  }
  ~SimTimes() {
    if (job_) {
      EXPECT_TRUE(job_->finish());
    }
    EXPECT_EQ(network_.passed_over(), 0u);
  }

  /// Makes all calls. Those that no algorithm does, or that are cut into pieces, are left out.
  std::vector<Timed> make(const std::vector<CollectiveCall>& calls, std::uint64_t most_count) {
    std::vector<Timed> times(calls.size());
    if (!job_) return times;
    for (Timed& one : times) one.took.resize(ranks_);
    job_->run_each([&](Endpoint& ep) { make_on(ep, calls, most_count, times); });
    return times;
  }

 private:
  void make_on(Endpoint& ep, const std::vector<CollectiveCall>& calls, std::uint64_t most_count,
               std::vector<Timed>& times) {
    Team& team = ep.world();
    conformance::CollMemory memory(team, most_count * sizeof(std::int64_t) * ranks_);
    ASSERT_TRUE(memory.ok());
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const CollectiveCall& call = calls[i];
      const Choice choice = ep.state().layer<Collectives>()->choice(team_state(team), shape_of(call, ranks_));
      if (choice.algorithm == nullptr || choice.piece < choice.shape.bytes) continue;
      conformance::CollTrial<std::int64_t> trial(memory, team, call, i + 1);
      // What earlier calls owe to their peers is sent and heard of.
      EXPECT_EQ(ep.wait_until([] { return false; }, std::chrono::milliseconds(1)).code(),
                ErrorCode::timed_out);
      const Picoseconds begins = conduits::sim::kBeginning + (i + 1) * kApart;
      network_.sleep_until(ep.rank(), begins);
      const std::uint64_t control = control_of(ep);
      Event event = trial.begin();
      EXPECT_TRUE(ep.wait(event)) << i;
      times[i].took[ep.rank()] = network_.time_of(ep.rank()) - begins;
      EXPECT_EQ(control_of(ep), control) << "the scratch sends messages of its own: call " << i;
      EXPECT_TRUE(trial.check());
      if (ep.rank() != 0) continue;
      times[i].algorithm = choice.algorithm;
      times[i].shape = choice.shape;
      times[i].shape.root = shape_of(call, ranks_).root;
    }
    ASSERT_TRUE(memory.release());
  }
  static aqueduct::detail::TeamState& team_state(Team& team) { return team.state(); }

  Rank ranks_;
  SimNetwork network_;
  std::optional<Job> job_;
};

/// Compares what was measured with the replay. Counts what was compared by algorithm.
inline void compare(const std::vector<Timed>& times, const SimOptions& options,
                    std::map<std::string, int>& compared) {
  for (const Timed& one : times) {
    if (one.algorithm == nullptr) continue;
    const Replayed replayed = replay(*one.algorithm, one.shape, machine_of(options));
    ASSERT_EQ(replayed.problem, "") << one.algorithm->name;
    ++compared[std::string(operation_word(one.algorithm->operation)) + " " +
               std::string(one.algorithm->name)];
    for (Rank member = 0; member < one.shape.ranks; ++member) {
      ASSERT_EQ(one.took[member], replayed.members[member].ended - replayed.members[member].called)
          << operation_word(one.algorithm->operation) << ' ' << one.algorithm->name << ' '
          << one.shape.parameters[0] << ',' << one.shape.parameters[1] << ", " << one.shape.bytes
          << " bytes, root " << one.shape.root << ", member " << member << " of " << one.shape.ranks
          << ", sync " << static_cast<int>(one.shape.in) << static_cast<int>(one.shape.out) << ", L "
          << options.latency << ", o " << options.overhead;
    }
  }
}

/// The settings with which each operation uses its algorithm number `which`, if it has so many.
inline SimTimes::Forced forced(std::size_t which) {
  SimTimes::Forced settings;
  for (const Collective operation : conformance::kCollectives) {
    std::size_t number = 0;
    for (const Algorithm* algorithm : all_algorithms()) {
      if (algorithm->operation != operation || number++ != which) continue;
      settings.emplace_back("coll_" + std::string(operation_word(operation)), algorithm->name);
    }
  }
  return settings;
}

inline std::vector<CollectiveCall> calls_for(Rank ranks, const std::vector<std::uint64_t>& counts,
                                             std::size_t which) {
  std::vector<CollectiveCall> calls;
  const SimTimes::Forced given = forced(which);
  for (const Collective operation : conformance::kCollectives) {
    const auto is_its = [&](const auto& one) {
      return one.first == "coll_" + std::string(operation_word(operation));
    };
    if (std::none_of(given.begin(), given.end(), is_its)) continue;
    for (const std::uint64_t count : counts) {
      CollectiveCall call;
      call.operation = operation;
      call.count = count;
      call.root = calls.size() % 3 == 0 && conformance::has_root(operation) ? ranks - 1 : 0;
      call.place = calls.size() % 2 == 0 ? CollPlace::on_all : CollPlace::heap;
      call.form = conformance::CollForm::nb;
      call.options.in = calls.size() % 4 < 2 ? Sync::all : Sync::mine;
      call.options.out = calls.size() % 8 < 4 ? Sync::all : Sync::mine;
      calls.push_back(call);
      call.place = call.place == CollPlace::heap ? CollPlace::on_all : CollPlace::heap;
      std::swap(call.options.in, call.options.out);
      calls.push_back(call);
    }
  }
  return calls;
}

/// Runs every algorithm of the collective operations on teams of these sizes, on the networks in turn or on all of them, and
/// compares each member's time with the replay's. Returns how many calls of each algorithm were compared.
inline std::map<std::string, int> compare_all(const std::vector<Rank>& teams,
                                              const std::vector<std::uint64_t>& counts, bool all_networks) {
  std::map<std::string, int> compared;
  std::size_t turn = 0;
  for (std::size_t which = 0; !forced(which).empty(); ++which) {
    for (const Rank ranks : teams) {
      for (std::size_t i = 0; i < (all_networks ? networks().size() : 1); ++i) {
        const SimOptions options = networks()[turn++ % networks().size()];
        std::vector<Timed> times;
        {
          SimTimes jobs(ranks, options, forced(which));
          times = jobs.make(calls_for(ranks, counts, which), counts.back());
        }
        compare(times, options, compared);
        if (testing::Test::HasFailure()) return compared;
      }
    }
  }
  return compared;
}

/// Every algorithm that a setting can name.
inline std::set<std::string> all_names() {
  std::set<std::string> names;
  for (const Algorithm* one : all_algorithms()) {
    const auto& operations = conformance::kCollectives;
    if (std::find(operations.begin(), operations.end(), one->operation) != operations.end())
      names.insert(std::string(operation_word(one->operation)) + " " + std::string(one->name));
  }
  return names;
}

}  // namespace aqueduct::coll::sim_times
