#pragma once

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll_v.hpp>

#include "coll/engine/collectives.hpp"
#include "coll/model/replay.hpp"
#include "coll/tune/table.hpp"
#include "conduits/sim/sim_network.hpp"
#include "runtime/builder.hpp"
#include "tests/conformance/collective_trial.hpp"
#include "tests/support/sim_calls.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace aqueduct::coll::sim_times {

using conduits::sim::SimNetwork;
using conduits::sim::SimOptions;

// Apart by so much that all that a call leaves behind is over when the next one begins.
inline constexpr Picoseconds kApart = 1'000'000'000'000;

/// What one call took.
struct Timed {
  std::vector<ReplayedCall> replayed;  ///< what it is made of; none: it was not made
  std::vector<Picoseconds> called;     ///< [member]
  std::vector<Picoseconds> ended;      ///< [member]
  std::vector<char> controls;          ///< [member] whether the scratch sent messages of its own meanwhile
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
  shape.order = reduces(call.operation) ? call.options.order : Order::any;
  shape.addresses = call.place == CollPlace::on_all ? Addresses::single : Addresses::local;
  shape.ranks = ranks;
  shape.root = has_root(call.operation) ? call.root : 0;
  shape.element = sizeof(std::int64_t);
  shape.bytes = call.count * sizeof(std::int64_t);
  shape.pitch = shape.bytes;
  return shape;
}

/// A call whose blocks may differ, here of `count` elements each.
class EqualBlocks {
 public:
  EqualBlocks(const CollectiveCall& call, Rank ranks, Rank me)
      : call_(call), ranks_(ranks), me_(me), counts_(ranks, call.count) {
    for (Rank to = 0; to < ranks; ++to) {
      for (std::uint64_t i = 0; i < call.count; ++i) in_.push_back(value(me, to, i));
    }
    out_.resize(in_.size(), -1);
  }
  Event begin(Team& team) {
    const std::span<const std::int64_t> in(in_);
    const std::span<std::int64_t> out(out_);
    const CollBlocks blocks{counts_};
    const std::uint64_t n = call_.count;
    switch (call_.operation) {
      case Collective::permute:
        return permute_nb(team, in.first(n), out.first(n), (me_ + 1) % ranks_, {}, call_.options);
      case Collective::scatter_v:
        return scatter_v_nb(team, in, blocks, out.first(n), call_.root, call_.options);
      case Collective::gather_v:
        return gather_v_nb(team, in.first(n), out, blocks, call_.root, call_.options);
      case Collective::all_gather_v: return all_gather_v_nb(team, in.first(n), out, blocks, call_.options);
      default: return all_to_all_v_nb(team, in, blocks, out, blocks, call_.options);
    }
  }
  /// Whether the first element of each block that this member receives is right; the kit looks at all of them.
  bool check() const {
    const std::uint64_t n = call_.count;
    switch (call_.operation) {
      case Collective::permute: return out_[0] == value((me_ + ranks_ - 1) % ranks_, 0, 0);
      case Collective::scatter_v: return out_[0] == value(call_.root, me_, 0);
      default: break;
    }
    if (call_.operation == Collective::gather_v && me_ != call_.root) return out_[0] == -1;
    for (Rank from = 0; from < ranks_; ++from) {
      const Rank block = call_.operation == Collective::all_to_all_v ? me_ : 0;
      if (out_[from * n] != value(from, block, 0)) return false;
    }
    return true;
  }

 private:
  static std::int64_t value(Rank from, Rank to, std::uint64_t i) noexcept {
    return static_cast<std::int64_t>(conformance::mix((std::uint64_t{from} << 20) + to) % 1'000'000 + i);
  }

  CollectiveCall call_;
  Rank ranks_;
  Rank me_;
  std::vector<std::uint64_t> counts_;
  std::vector<std::int64_t> in_;
  std::vector<std::int64_t> out_;
};

/// On a busy machine a rank's thread may get no processor for seconds.
inline SimOptions patient(SimOptions options) {
  options.patience = std::chrono::minutes(2);
  return options;
}

/// A job over a simulated network, all ranks of which make the same calls.
class SimTimes {
 public:
  /// `host_of` each rank; none: all share one. The conduit joins the ranks of one process, so other hosts are pretended: each
  /// rank believes in them when it makes the team that calls.
  SimTimes(Rank ranks, const SimOptions& options, const Settings& forced, std::vector<Rank> host_of = {})
      : ranks_(ranks), host_of_(std::move(host_of)), network_(ranks, patient(options), nullptr, {}) {
    Config config;
    const Settings always = {{"segment_bytes", "64K"}, {"coll_scratch", "32M"}, {"log", "off"}};
    for (const Settings& settings : {always, forced}) {
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
  std::vector<Timed> make(const std::vector<SimCall>& calls, std::uint64_t most_count) {
    std::vector<Timed> times(calls.size());
    if (!job_) return times;
    for (Timed& one : times) {
      one.called.resize(ranks_);
      one.ended.resize(ranks_);
      one.controls.resize(ranks_);
    }
    job_->run_each([&](Endpoint& ep) { make_on(ep, calls, most_count, times); });
    return times;
  }

 private:
  void make_on(Endpoint& ep, const std::vector<SimCall>& calls, std::uint64_t most_count,
               std::vector<Timed>& times) {
    std::optional<Team> pretended;
    if (!host_of_.empty()) {
      ep.state().host_of = host_of_;
      Result<Team> made = ep.world().dup();
      ASSERT_TRUE(made);
      pretended.emplace(*std::move(made));
    }
    Team& team = pretended ? *pretended : ep.world();
    conformance::CollMemory memory(team, most_count * sizeof(std::int64_t) * ranks_);
    ASSERT_TRUE(memory.ok());
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const std::vector<ReplayedCall> replayed = replayed_as(ep, team, calls[i].call);
      if (replayed.empty()) continue;
      make_one(ep, team, memory, calls[i], i, times[i]);
      if (ep.rank() == 0) times[i].replayed = replayed;
    }
    ASSERT_TRUE(memory.release());
    if (pretended) {
      ASSERT_TRUE(pretended->end());
    }
  }

  void make_one(Endpoint& ep, Team& team, conformance::CollMemory& memory, const SimCall& made, std::size_t i,
                Timed& timed) {
    const Rank me = ep.rank();
    std::optional<conformance::CollTrial<std::int64_t>> trial;
    std::optional<EqualBlocks> blocks;
    const bool barrier = made.call.operation == Collective::barrier;
    if (made.call.operation >= Collective::permute) {
      blocks.emplace(made.call, ranks_, me);
    } else if (!barrier) {
      trial.emplace(memory, team, made.call, i + 1);
    }
    // What earlier calls owe to their peers is sent and heard of.
    EXPECT_EQ(ep.wait_until([] { return false; }, std::chrono::milliseconds(1)).code(), ErrorCode::timed_out);
    const Picoseconds begins = conduits::sim::kBeginning + (i + 1) * kApart;
    timed.called[me] = begins + lateness(made, i, me);
    network_.sleep_until(me, timed.called[me]);
    const std::uint64_t control = control_of(ep);
    Event event = barrier ? team.barrier_nb() : trial ? trial->begin() : blocks->begin(team);
    EXPECT_TRUE(ep.wait(event)) << i;
    timed.ended[me] = network_.time_of(me);
    timed.controls[me] = control_of(ep) != control ? 1 : 0;
    // With Sync::none, others may write to this member's output until they have ended too.
    network_.sleep_until(me, begins + kApart / 2);
    if (trial) {
      EXPECT_TRUE(trial->check());
    }
    if (blocks) {
      EXPECT_TRUE(blocks->check()) << operation_word(made.call.operation);
    }
  }

  /// The schedules that the engine runs for a call, one after the other. None: no algorithm does it in one piece.
  std::vector<ReplayedCall> replayed_as(Endpoint& ep, Team& team, const CollectiveCall& call) {
    Collectives& layer = *ep.state().layer<Collectives>();
    const auto chosen = [&](const Shape& shape) {
      const Choice choice = layer.choice(team.state(), shape);
      if (choice.algorithm == nullptr || choice.piece < choice.shape.bytes) return ReplayedCall{};
      return ReplayedCall{choice.algorithm, choice.shape};
    };
    std::vector<ReplayedCall> out;
    if (call.operation == Collective::barrier) {
      Shape barrier;
      barrier.operation = Collective::barrier;
      out = {chosen(barrier)};
    } else if (call.operation >= Collective::permute) {
      Shape moving = shape_of(call, ranks_);
      moving.in = Sync::none;
      moving.element = 1;
      out = {chosen(moving), {}};  // lengths first
      const Choice moved =
          Collectives::engine_of(team.state())->choice_of_moving(call.operation, moving.bytes);
      if (moved.algorithm != nullptr) {
        moving.parameters = moved.shape.parameters;
        out[1] = {moved.algorithm, moving};
      }
    } else {
      out = {chosen(shape_of(call, ranks_))};
      if (out[0].algorithm != nullptr) out[0].shape.root = shape_of(call, ranks_).root;
    }
    if (out[0].algorithm == nullptr) out.clear();
    return out;
  }

  Rank ranks_;
  std::vector<Rank> host_of_;
  SimNetwork network_;
  std::optional<Job> job_;
};

}  // namespace aqueduct::coll::sim_times
