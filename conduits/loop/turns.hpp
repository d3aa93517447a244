#pragma once

#include <aqueduct/rank.hpp>

#include "conduits/loop/dice.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>

namespace aqueduct::conduits::loop {

/// Lets the ranks of a process run one after the other, in an order that a seed decides.
///
/// The rank that holds the turn runs until it polls; it then passes the turn to one of the open ranks,
/// perhaps itself. A rank without the turn may compute, but waits as soon as it touches the network.
///
/// What repeats: with the same seed and the same number of ranks, the order in which ranks send, post and
/// poll, and with it every delivery, as long as all ranks were opened before the first one communicates (an
/// exchange of addresses sees to that), each is used by one thread, what they do depends on nothing else
/// (clocks, memory that they share), and `passed_over()` is 0.
///
/// What ends it: a rank that has the turn and does not come back within kPatience (it waits for something
/// else, computes, or is over) is passed over until it comes back, so that nothing can hang. From then on
/// the order depends on time.
///
/// Threads: a rank's thread is the one that used it last. Ranks of one thread share its turn, so a program
///          with one thread never waits.
class Turns {
 public:
  static constexpr std::chrono::milliseconds kPatience{50};  // chosen

  Turns(Rank ranks, std::uint64_t seed) : dice_(seed, ~std::uint64_t{0}), players_(ranks) {}

  void join(Rank rank) noexcept;
  void leave(Rank rank) noexcept;
  /// Returns when it is this rank's turn.
  void take(Rank rank) noexcept;
  /// Passes the turn on, and returns when it has come back.
  void pass(Rank rank) noexcept;
  /// How often a rank lost its turn by staying away.
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

  mutable std::mutex mutex_;
  Dice dice_;
  std::deque<Player> players_;
  Rank holder_ = kNoRank;
  std::chrono::steady_clock::time_point since_;
  std::uint64_t passed_over_ = 0;
};

}  // namespace aqueduct::conduits::loop
