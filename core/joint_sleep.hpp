#pragma once

#include "core/conduit.hpp"

#include <array>
#include <chrono>

namespace aqueduct::core {

/// One sleep that an arrival at any of an endpoint's conduits ends: arm, poll once more, sleep.
///
/// A conduit that is alone sleeps in its own way; two sleep on their descriptors, if both have one.
class JointSleep {
 public:
  /// Either may be null: not slept on.
  JointSleep(Conduit* near, Conduit* far) noexcept;
  ~JointSleep();  ///< disarms
  JointSleep(const JointSleep&) = delete;
  JointSleep& operator=(const JointSleep&) = delete;

  /// False: nothing here can be slept on, or not together; then only `nap` is left.
  bool arm() noexcept;
  /// Until an arrival, for `limit`, or until a conduit needs a poll, whichever is first.
  void sleep(std::chrono::nanoseconds limit) noexcept;
  /// For `limit`, or until a conduit needs a poll, whatever arrives.
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
