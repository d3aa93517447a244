#pragma once

#include "conduits/udp/carrier/time.hpp"
#include "conduits/udp/protocol/windowed_best.hpp"

#include <functional>

namespace aqueduct::conduits::udp {

/// Round-trip time and retransmission timeout by the rules of RFC 6298, with nanosecond samples. Each packet carries a
/// time stamp that its acknowledgement echoes, so samples of retransmitted packets count too (RFC 7323).
class RoundTrip {
 public:
  /// `least`: lower bound of the retransmission timeout (chosen by the conduit, not 1 s as on the Internet).
  /// `initial`: the round trip assumed before the first sample. The timeout is then three times this.
  explicit RoundTrip(Time least, Time initial) noexcept;

  void sample(Time rtt, Time now) noexcept;
  bool known() const noexcept { return !leasts_.empty(); }
  Time smoothed() const noexcept { return smoothed_; }  ///< `initial` before the first sample
  Time variation() const noexcept { return variation_; }
  /// The least of the last eight to ten seconds; `initial` before the first sample.
  Time least() const noexcept { return known() ? leasts_.best() : smoothed_; }
  /// Without an acknowledgement for this long, everything unacknowledged is retransmitted. Doubles with `back_off`;
  /// before the first sample, not with the first three: at first contact silence more likely means loss than congestion.
  Time timeout() const noexcept { return timeout_; }
  void back_off() noexcept;   ///< the timeout has expired
  void recovered() noexcept;  ///< an acknowledgement has arrived

 private:
  void settle() noexcept;

  Time least_timeout_;
  Time smoothed_;
  Time variation_;
  Time timeout_ = 0;
  int doublings_ = 0;
  int constant_retries_ = 0;
  WindowedBest<Time, std::less<>> leasts_;
};

}  // namespace aqueduct::conduits::udp
