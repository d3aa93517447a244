#pragma once

#include "core/conduit.hpp"

#include <array>
#include <chrono>

namespace aqueduct::core {

/// A sleep that an arrival at either conduit of an endpoint ends. Order of calls: arm, one more poll, sleep.
///
/// With one conduit it is that conduit's own sleep. With two, it waits for the descriptors of both, if both have one.
class JointSleep {
 public:
  /// Either may be null: its arrivals then end no sleep. A `bell` that is not negative is a descriptor that ends the
  /// sleep too, so that other threads of this process can; the conduits' descriptors are then used even for one conduit.
  JointSleep(Conduit* near, Conduit* far, int bell = -1) noexcept;
  ~JointSleep();  ///< disarms
  JointSleep(const JointSleep&) = delete;
  JointSleep& operator=(const JointSleep&) = delete;

  /// False: a conduit cannot be slept on, or the two cannot be slept on together. Only `nap` is possible then.
  bool arm() noexcept;
  /// `limit`, or the shorter time after which a conduit needs a poll. Asked after the poll that follows `arm`.
  std::chrono::nanoseconds cut(std::chrono::nanoseconds limit) const noexcept;
  /// Sleeps until an arrival, or until `limit` has passed. With a bell it uses nothing but descriptors, so other threads
  /// may call the conduits meanwhile. Requires: `limit` is from `cut`.
  void sleep(std::chrono::nanoseconds limit) noexcept;
  /// Sleeps until `limit` has passed. Arrivals do not end it. Requires: `limit` is from `cut`.
  static void nap(std::chrono::nanoseconds limit) noexcept;

 private:
  void disarm() noexcept;

  static constexpr std::size_t kMost = 2;
  std::array<Waitable*, kMost> on_{};
  std::array<int, kMost> descriptors_{};
  int bell_;
  std::size_t conduits_ = 0;
  std::size_t armed_ = 0;
  bool can_sleep_ = true;  ///< no conduit lacks a Waitable
};

}  // namespace aqueduct::core
