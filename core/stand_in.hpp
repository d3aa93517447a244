#pragma once

#include "core/arrivals.hpp"
#include "core/conduit.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace aqueduct::detail {
struct EndpointState;
}

namespace aqueduct::core {

/// A thread that goes on with an endpoint's collective operations while the program computes (AQUEDUCT_COLL_PROGRESS).
///
/// It acts if no thread of the program has made progress or waited since it last looked, `patience` ago, and some layer
/// watches memory (EndpointState::watching), an operation is in flight or waits for room, or a conduit asks for polls
/// (Waitable::within), such as to send what it has accepted. Then it takes the endpoint's lock and the turn to poll, as a
/// thread of the program with Threads::multiple does, and makes rounds of progress until the program is back. Between them it sleeps on the conduits, so it takes no processor time while nothing arrives. A
/// call of the program ends that sleep.
///
/// A round is as one of core::progress without what runs code of the program: messages for the program's handlers are
/// kept for the program's next round, continuations too. Operators of reductions do run here, under the lock.
///
/// Threads: its own; the other functions belong to the threads of the endpoint.
class StandIn {
 public:
  /// Whether a packet is one that a handler of the program takes.
  using IsForProgram = bool (*)(Bytes packet) noexcept;

  /// Starts the thread. `state` has its conduits and layers. Throws std::system_error and std::bad_alloc.
  StandIn(aqueduct::detail::EndpointState& state, std::chrono::nanoseconds patience,
          IsForProgram is_for_program);
  ~StandIn();
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

  /// Ends the thread. What it has kept stays for `deliver`. Requires: this thread is not in a call on the endpoint.
  void stop() noexcept;
  /// The thread begins no further round, and ends soon. Does not wait: for the end of the process.
  void cease() noexcept { stop_.store(true, std::memory_order_relaxed); }
  /// Gives the endpoint's inbox what the thread has kept, and returns how many calls that made. Called inside a round of
  /// progress, under the lock.
  int deliver() noexcept { return kept_.empty() && lost_.empty() ? 0 : deliver_all(); }

 private:
  class Filter;

  void run() noexcept;
  bool nap(std::chrono::nanoseconds time) noexcept;
  bool stand_in(std::uint32_t seen) noexcept;
  void make_rounds(std::uint32_t seen) noexcept;
  bool is_needed(std::uint32_t seen) const noexcept;
  bool lacks_room() const noexcept;
  bool owes_polls() const noexcept;
  bool sleep(std::uint32_t seen) noexcept;
  int round() noexcept;
  int deliver_all() noexcept;
  void take_packet(Rank from, Bytes packet) noexcept;
  void take_loss(Rank peer) noexcept;

  aqueduct::detail::EndpointState& state_;
  const std::chrono::nanoseconds patience_;
  const IsForProgram is_for_program_;

  // Under the endpoint's lock.
  Arrivals kept_;           ///< messages for the program's handlers, in the order of their arrival
  std::vector<Rank> lost_;  ///< whose last messages are kept

  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
};

}  // namespace aqueduct::core
