#pragma once

#include <aqueduct/rank.hpp>

#include "core/clock.hpp"
#include "core/dice.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>

namespace aqueduct::conduits::loop {

/// Lets the ranks of a process communicate one at a time, in an order that a seed determines.
///
/// The rank that has the turn runs until it polls. Then it passes the turn to one of the open ranks, perhaps to
/// itself. A rank without the turn may compute, but waits as soon as it uses the network.
///
/// With the same seed and number of ranks, the ranks send, post and poll in the same order in each run, and every
/// delivery repeats. This requires that all ranks are opened before the first one communicates (an exchange of
/// addresses ensures it), that each rank is used by one thread, that the program depends on nothing else (clocks,
/// shared memory), and that `passed_over()` is 0.
///
/// A rank that has the turn and does not poll within kPatience is passed over until it does, so that nothing hangs:
/// it may compute, wait for something else, or have ended. From then on the order depends on time. The
/// process's clock counts kPatience.
///
/// Threads: a rank belongs to the thread that used it last. Ranks of the same thread share its turn, so a program
///          with one thread never waits.
class Turns {
 public:
  static constexpr std::chrono::milliseconds kPatience{50};  // chosen

  Turns(Rank ranks, std::uint64_t seed, core::EndpointClock clock)
      : clock_(clock), dice_(seed, ~std::uint64_t{0}), players_(ranks) {}

  void join(Rank rank) noexcept;
  void leave(Rank rank) noexcept;
  /// Waits for the turn of this rank.
  void take(Rank rank) noexcept;
  /// Passes the turn on, and waits for the next turn of this rank.
  void pass(Rank rank) noexcept;
  /// How often a rank was passed over.
  std::uint64_t passed_over() const noexcept;

 private:
  struct Player {
    bool open = false;
    bool away = false;  // was passed over
    std::thread::id thread;
    std::condition_variable its_turn;
  };
  using Lock = std::unique_lock<std::mutex>;

  void wait_for_turn(Lock& lock, Rank rank);
  void give_to_next();

  const core::EndpointClock clock_;
  mutable std::mutex mutex_;
  core::Dice dice_;
  std::deque<Player> players_;
  Rank holder_ = kNoRank;
  core::Clock::time_point since_;
  std::uint64_t passed_over_ = 0;
};

}  // namespace aqueduct::conduits::loop
