#include "conduits/udp/carrier/path_mtu.hpp"

#include <algorithm>
#include <array>

namespace aqueduct::conduits::udp {
namespace {

constexpr std::size_t kStep = 8;             // chosen: payloads stay aligned
constexpr std::size_t kCloseEnough = 16;     // chosen: one per cent of the smallest packet
constexpr int kMaxProbes = 3;                // specified: MAX_PROBES, RFC 8899 5.1.2
constexpr Time kRaiseAfter = 600 * kSecond;  // specified: PMTU_RAISE_TIMER, RFC 8899 5.1.1

constexpr std::size_t down(std::size_t bytes) noexcept { return bytes / kStep * kStep; }
constexpr std::size_t up(std::size_t bytes) noexcept { return down(bytes + kStep - 1); }

// Sizes that paths commonly carry, largest first: any datagram (loopback), tunnels of hosts, jumbo frames, pages,
// Ethernet with IPv4 and IPv6, Ethernet through PPPoE, through common tunnels, the minimum of IPv6.
constexpr std::array<std::size_t, 9> kWellKnown = {down(65507), 16384,      down(8972), 4096,      1472,
                                                   down(1452),  down(1444), 1400,       down(1232)};

}  // namespace

PathMtu::PathMtu(std::size_t base, std::size_t limit, std::size_t hint) noexcept
    : base_(down(std::min(base, limit))),
      limit_(std::max(down(limit), base_)),
      hint_(std::min(down(hint), limit_)),
      good_(base_) {
  begin(hint_ >= base_ ? hint_ : limit_);
}

// Starts a search among the sizes up to `most`.
void PathMtu::begin(std::size_t most) noexcept {
  bad_ = most + kStep;
  tries_ = 0;
  probed_ = 0;
  in_flight_ = false;
  raise_at_ = kNever;
}

std::size_t PathMtu::candidate() const noexcept {
  const auto open = [this](std::size_t bytes) { return bytes > good_ && bytes < bad_; };
  if (open(hint_)) return hint_;
  if (bad_ == limit_ + kStep && open(limit_)) return limit_;
  for (const std::size_t bytes : kWellKnown) {
    if (open(bytes)) return bytes;
  }
  return bad_ > good_ + kCloseEnough ? down(good_ + (bad_ - good_) / 2) : 0;
}

std::size_t PathMtu::probe_due(Time now) noexcept {
  if (in_flight_ || good_ >= limit_) return 0;
  if (raise_at_ != kNever) {
    if (now < raise_at_) return 0;
    begin(limit_);
  }
  const std::size_t bytes = candidate();
  if (bytes == 0) raise_at_ = now + kRaiseAfter;
  return bytes;
}

void PathMtu::probe_sent(Time now, std::size_t bytes) noexcept {
  if (bytes != probed_) tries_ = 0;
  probed_ = bytes;
  sent_at_ = now;
  in_flight_ = true;
}

void PathMtu::probe_arrived(Time, std::size_t bytes) noexcept {
  if (bytes == 0 || bytes != probed_ || bytes > limit_) return;
  in_flight_ = false;
  tries_ = 0;
  probed_ = 0;
  if (bytes <= good_) return;
  good_ = bytes;
  if (bad_ <= good_) {  // this size was given up too early, so larger sizes are open again
    bad_ = limit_ + kStep;
    raise_at_ = kNever;
  }
}

void PathMtu::expire(Time now, Time timeout) noexcept {
  patience_ = std::clamp(timeout, Time{1}, kRaiseAfter);
  if (!in_flight_ || now - sent_at_ < patience_) return;
  in_flight_ = false;
  if (++tries_ < kMaxProbes) return;
  tries_ = 0;
  if (probed_ > good_) bad_ = std::min(bad_, probed_);
}

void PathMtu::black_hole(Time, std::size_t bytes) noexcept {
  if (bytes <= base_)
    return;             // the length is not to blame: the system reported an earlier packet's error late
  if (bytes > good_) {  // the path's MTU is unchanged; there is one size less to probe
    if (bytes >= bad_) return;
    bad_ = up(bytes);
    if (probed_ >= bad_) {
      in_flight_ = false;
      probed_ = 0;
      tries_ = 0;
    }
    return;
  }
  good_ = base_;
  begin(std::max(up(bytes), base_ + kStep) - kStep);
}

}  // namespace aqueduct::conduits::udp
