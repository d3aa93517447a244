// The program that count_board_instructions.py runs: short calls of a team of two ranks on its board, both on one thread. The
// counted member never has to wait.
//
// board_calls          under callgrind: prints how often it calls each counted function
// board_calls steps    by itself: prints the instructions of a barrier between two accesses (publish_to_look.hpp), or "impossible"

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include "conduits/smp/tests/programs/publish_to_look.hpp"
#include "core/endpoint_state.hpp"
#include "core/mapping.hpp"
#include "core/signals.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

using namespace aqueduct;
using Number = std::array<std::uint64_t, 1>;

namespace {

constexpr CollOptions kMine{.in = Sync::mine, .out = Sync::mine};

}  // namespace

// The script looks for these names. A tail call would leave the counted function, and equal functions would become one:
// the different comments prevent both.
extern "C" {
[[gnu::noinline]] bool count_barrier(Team& team) {
  const bool right = team.barrier().ok();
  asm volatile("# barrier" ::: "memory");
  return right;
}
[[gnu::noinline]] bool count_all_reduce(Team& team, Number& data) {
  const bool right = all_reduce(team, data, ReduceOp::sum, kMine).ok();
  asm volatile("# all-reduce" ::: "memory");
  return right;
}
[[gnu::noinline]] bool count_broadcast_root(Team& team, Number& data) {
  const bool right = broadcast(team, data, 0, kMine).ok();
  asm volatile("# root" ::: "memory");
  return right;
}
[[gnu::noinline]] bool count_broadcast_leaf(Team& team, Number& data) {
  const bool right = broadcast(team, data, 1, kMine).ok();
  asm volatile("# leaf" ::: "memory");
  return right;
}
/// That of the team of all ranks, which is the conduit's own and not on the board.
[[gnu::noinline]] bool count_conduit_barrier(Team& team) {
  const bool right = team.barrier().ok();
  asm volatile("# conduit" ::: "memory");
  return right;
}
}

namespace {

constexpr int kTurns = 1000;
constexpr int kWarm = 200;  // turns that are not counted: methods are chosen, lines of the board used

class Calls {
 public:
  explicit Calls(Job& job) : job_(job) {
    job.run_each([this](Endpoint& me) {
      me.state().crowded.assign(2, false);  // as with a processor for each
      if (auto made = me.world().dup()) teams_[me.rank()].emplace(std::move(*made));
    });
  }

  bool run() {
    for (Rank rank = 0; rank < 2; ++rank) right_ = right_ && teams_[rank].has_value();
    for (int turn = 0; turn < kWarm + kTurns && right_; ++turn) {
      const bool counts = turn >= kWarm;
      barrier(*teams_[0], *teams_[1], counts ? count_barrier : plain_barrier);
      barrier(world(0), world(1), counts ? count_conduit_barrier : plain_barrier);
      all_reduces(counts);
      broadcasts(counts);
    }
    return right_;
  }
  /// Of the first member's barrier. Nothing: calls differ, or it cannot be counted here.
  std::optional<long> publish_to_look() {
    Endpoint& me = job_.endpoint(0);
    const std::span<std::byte> mine = me.state().segments[core::kSignalSegment].mine;
    std::byte* const its = core::find_mapped(me.state(), {1, 0, core::kSignalSegment}, mine.size());
    if (!right_ || its == nullptr) return std::nullopt;
    smp_test::PublishToLook counter(mine, {its, mine.size()});
    std::optional<long> found;
    for (int turn = 0; turn < 10 && right_; ++turn) {
      Event arrived = teams_[1]->barrier_nb();
      const std::optional<long> now = counter.count([&] { right_ = plain_barrier(*teams_[0]); });
      finish(arrived);
      if (!now || (found && now != found)) return std::nullopt;
      found = now;
    }
    return right_ ? found : std::nullopt;
  }

  void end() {
    job_.run_each([this](Endpoint& me) {
      if (teams_[me.rank()]) static_cast<void>(teams_[me.rank()]->end());
    });
  }

 private:
  static bool plain_barrier(Team& team) { return team.barrier().ok(); }
  Team& world(Rank rank) { return job_.endpoint(rank).world(); }

  void barrier(Team& first, Team& second, bool (*call)(Team&)) {
    Event arrived = second.barrier_nb();
    right_ = call(first) && right_;
    finish(arrived);
  }
  void all_reduces(bool counts) {
    Number here{turn_ + 1}, there{2 * turn_};
    Event begun = all_reduce_nb(*teams_[1], there, ReduceOp::sum, kMine);
    right_ = (counts ? count_all_reduce(*teams_[0], here)
                     : all_reduce(*teams_[0], here, ReduceOp::sum, kMine).ok()) &&
             right_;
    finish(begun);
    right_ = right_ && here[0] == 3 * turn_ + 1 && there == here;
    ++turn_;
  }
  void broadcasts(bool counts) {
    Number here{turn_}, there{};
    right_ = (counts ? count_broadcast_root(*teams_[0], here) : broadcast(*teams_[0], here, 0, kMine).ok()) &&
             right_;
    right_ = broadcast(*teams_[1], there, 0, kMine).ok() && right_ && there == here;
    there[0] = turn_ + 1;
    right_ = broadcast(*teams_[1], there, 1, kMine).ok() && right_;
    right_ = (counts ? count_broadcast_leaf(*teams_[0], here) : broadcast(*teams_[0], here, 1, kMine).ok()) &&
             right_ && there == here;
  }
  /// Progress of the second member until its call has ended.
  void finish(Event& begun) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!begun.done() && std::chrono::steady_clock::now() < until) job_.endpoint(1).progress();
    if (!begun.done()) std::_Exit(3);  // an Event in flight cannot be destroyed
    right_ = begun.status().ok() && right_;
  }

  Job& job_;
  std::array<std::optional<Team>, 2> teams_;
  std::uint64_t turn_ = 0;
  bool right_ = true;
};

}  // namespace

int main(int argc, char** argv) {
  Config config = Config::from_variables({});
  bool set = true;
  for (const auto& [name, value] : {std::pair{"near", "on"}, {"segment_bytes", "64K"}}) {
    set = config.set(name, value).ok() && set;
  }
  auto job = Job::in_process(2, config);
  if (!set || !job) return 2;
  const bool steps = argc > 1 && argv[1] == std::string_view("steps");
  bool right = false;
  {
    Calls calls(*job);
    right = calls.run();
    if (steps && !support::Stepped::possible()) {
      std::cout << "impossible\n";
    } else if (steps && right) {
      const std::optional<long> counted = calls.publish_to_look();
      right = counted.has_value();
      std::cout << counted.value_or(0) << "\n";
    }
    calls.end();
  }
  if (!steps) std::cout << kTurns << "\n";  // how often each counted function was called
  return job->finish().ok() && right ? 0 : 1;
}
