#pragma once

#include <chrono>

namespace aqueduct::core {

/// How an endpoint sleeps until something arrives. The order of calls is: `arm` or `arm_descriptor`; one more poll; a
/// sleep, unless the poll found something; `disarm`.
class Waitable {
 public:
  virtual ~Waitable() = default;
  /// An arrival after this call ends a sleep, even a sleep that begins later than the arrival.
  virtual void arm() noexcept = 0;
  /// Arrivals need not end sleeps any more.
  virtual void disarm() noexcept = 0;
  /// Sleeps until an arrival, but not longer than `limit`, which is real time. May return early.
  virtual void sleep(std::chrono::nanoseconds limit) noexcept = 0;

  /// A descriptor that becomes readable at an arrival, so that an endpoint can sleep on two conduits at once. -1 if the
  /// conduit has none, or has none before the first `arm_descriptor`.
  virtual int descriptor() const noexcept { return -1; }
  /// As `arm`, for a sleep on the descriptor, which it returns. -1: there is none, and nothing is armed.
  ///
  /// While one thread sleeps on the descriptor, other threads of an endpoint with Threads::multiple may post and poll, one
  /// at a time. Their polls may take what made the descriptor readable: they wake the sleeper by other means.
  ///
  /// The descriptor may be readable without an arrival, but the next poll must end that: for a socket, the poll takes
  /// pending errors too. Otherwise no sleep would last.
  virtual int arm_descriptor() noexcept {
    const int fd = descriptor();
    if (fd >= 0) arm();
    return fd;
  }

  /// The time from now to the conduit's next timer, by Process::clock: for so long it needs no poll if nothing arrives.
  /// No sleep lasts longer. Zero or less asks for a poll at once: packets that were accepted wait for room, say. Called
  /// after the poll that follows arming, and without arming by a thread that polls while the program computes.
  virtual std::chrono::nanoseconds within() const noexcept { return std::chrono::nanoseconds::max(); }
};

}  // namespace aqueduct::core
