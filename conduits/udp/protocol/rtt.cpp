#include "conduits/udp/protocol/rtt.hpp"

#include <algorithm>

namespace aqueduct::conduits::udp {
namespace {

constexpr Time kMostTimeout = 60 * kSecond;  // specified: RFC 6298 (2.5)
// Chosen: with the packet itself, its probe and these, a first packet leaves six times at a constant interval. That
// bounds what a peer that does not run yet receives.
constexpr int kConstantRetries = 3;
constexpr Time kLeastOver = 10 * kSecond;  // chosen as in BBR: paths change more slowly than this

// A round trip takes at least one tick of the clock, and one longer than the longest timer carries no more information.
Time sensible(Time rtt) noexcept { return std::clamp(rtt, Time{1}, kMostTimeout); }

}  // namespace

RoundTrip::RoundTrip(Time least, Time initial) noexcept
    : least_timeout_(std::clamp(least, Time{1}, kMostTimeout)),
      smoothed_(sensible(initial)),
      variation_(smoothed_ / 2),
      leasts_(kLeastOver, kNever) {
  settle();
}

void RoundTrip::sample(Time rtt, Time now) noexcept {
  rtt = sensible(rtt);
  if (!known()) {
    smoothed_ = rtt;
    variation_ = rtt / 2;
  } else {
    const Time error = rtt - smoothed_;
    variation_ += ((error < 0 ? -error : error) - variation_) / 4;
    smoothed_ += error / 8;
  }
  leasts_.add(rtt, now);
  settle();
}

void RoundTrip::back_off() noexcept {
  // `recovered` does not give these back, so a connection has them once.
  if (!known() && constant_retries_ < kConstantRetries) {
    ++constant_retries_;
    return;
  }
  if (timeout_ < kMostTimeout) ++doublings_;
  settle();
}

void RoundTrip::recovered() noexcept {
  if (doublings_ == 0) return;
  doublings_ = 0;
  settle();
}

void RoundTrip::settle() noexcept {
  const Time once = std::clamp(smoothed_ + 4 * variation_, least_timeout_, kMostTimeout);
  timeout_ = once > kMostTimeout >> doublings_ ? kMostTimeout : once << doublings_;
}

}  // namespace aqueduct::conduits::udp
