#pragma once

#include "conduits/udp/time.hpp"
#include "conduits/udp/windowed_best.hpp"

#include <functional>

namespace aqueduct::conduits::udp {

/// Round-trip time and retransmission timer by the rules of RFC 6298, with nanosecond samples. Each packet carries a
/// time stamp that its acknowledgement echoes, so that samples of retransmitted packets count as well (RFC 7323).
class RoundTrip {
 public:
  /// `least`: the retransmission timer never goes below it (chosen by the conduit, not 1 s as on the Internet).
  /// `initial`: what the round trip is taken for before the first sample; the timer is then three times that.
  explicit RoundTrip(Time least, Time initial) noexcept;

  void sample(Time rtt, Time now) noexcept;
  bool known() const noexcept { return !leasts_.empty(); }
  Time smoothed() const noexcept { return smoothed_; }  ///< initial before the first sample
  Time variation() const noexcept { return variation_; }
  /// The least of the last ten seconds (eight at least); initial before the first sample.
  Time least() const noexcept { return known() ? leasts_.best() : smoothed_; }
  /// After how long without an acknowledgement everything unacknowledged is sent again; doubles with `back_off`.
  Time timeout() const noexcept { return timeout_; }
  void back_off() noexcept;   ///< a timeout has passed
  void recovered() noexcept;  ///< an acknowledgement has come

 private:
  void settle() noexcept;

  Time least_timeout_;
  Time smoothed_;
  Time variation_;
  Time timeout_ = 0;
  int doublings_ = 0;
  WindowedBest<Time, std::less<>> leasts_;
};

}  // namespace aqueduct::conduits::udp
