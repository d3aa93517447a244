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
  /// Either may be null: its arrivals then end no sleep.
  JointSleep(Conduit* near, Conduit* far) noexcept;
  ~JointSleep();  ///< disarms
  JointSleep(const JointSleep&) = delete;
  JointSleep& operator=(const JointSleep&) = delete;

  /// False: a conduit cannot be slept on, or the two cannot be slept on together. Only `nap` is possible then.
  bool arm() noexcept;
  /// Sleeps until an arrival, until `limit` has passed, or until a conduit needs a poll.
  void sleep(std::chrono::nanoseconds limit) noexcept;
  /// Sleeps until `limit` has passed or a conduit needs a poll. Arrivals do not end it.
  void nap(std::chrono::nanoseconds limit) const noexcept;

 private:
  std::chrono::nanoseconds cut(std::chrono::nanoseconds limit) const noexcept;
  void disarm() noexcept;

  static constexpr std::size_t kMost = 2;
  std::array<Waitable*, kMost> on_{};
  std::array<int, kMost> descriptors_{};
  std::size_t conduits_ = 0;
  std::size_t armed_ = 0;
  bool can_sleep_ = true;  ///< no conduit lacks a Waitable
};

}  // namespace aqueduct::core
