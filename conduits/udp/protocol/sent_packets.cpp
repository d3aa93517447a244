#include "conduits/udp/protocol/sent_packets.hpp"

#include "conduits/udp/protocol/wire.hpp"

#include <algorithm>
#include <new>

namespace aqueduct::conduits::udp {
namespace {

// Chosen: less than the least reordering window, and more than the time in which the packets of one call leave, whose stamps are
// equal and whose send times differ.
constexpr std::int32_t kSameTime = 64;  // ticks of a stamp: 16 us

}  // namespace

bool SentPackets::reserve() noexcept try {
  if (next_ - oldest_ < ring_.size()) return true;
  const std::size_t old = ring_.size();
  std::vector<SentPacket> larger(old == 0 ? 64 : old * 2);
  for (std::uint64_t n = oldest_; n < next_; ++n) larger[n & (larger.size() - 1)] = at(n);
  ring_.swap(larger);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

std::uint64_t SentPackets::add(const SentPacket& packet) noexcept {
  const std::uint64_t number = next_++;
  SentPacket& place = at(number);
  place = packet;
  place.state = SentPacket::State::in_flight;
  in_flight_ += packet.wire_bytes;
  ++packets_;
  latest_sent_ = place.sent_at = std::max(packet.sent_at, latest_sent_ + 1);
  return number;
}

void SentPackets::again(std::uint64_t number, Time now, const RateSnapshot& snapshot) noexcept {
  SentPacket& packet = at(number);
  packet.state = SentPacket::State::in_flight;
  ++packet.attempt;
  latest_sent_ = packet.sent_at = std::max(now, latest_sent_ + 1);
  packet.snapshot = snapshot;
  in_flight_ += packet.wire_bytes;
  ++packets_;
  --lost_;
}

std::uint64_t SentPackets::first_lost() noexcept {
  std::uint64_t number = std::max(lost_hint_, oldest_);
  while (at(number).state != SentPacket::State::lost) ++number;
  lost_hint_ = number;
  return number;
}

void SentPackets::lose(SentPacket& packet) noexcept {
  packet.state = SentPacket::State::lost;
  in_flight_ -= packet.wire_bytes;
  --packets_;
  ++lost_;
}

// An acknowledgement may be for the first copy of a packet whose second one has only just left. If that counted as the second one's,
// packets that left between the two would count as lost (RFC 8985, 6.2 step 2). The echo tells: the peer has received a packet
// that left then.
void SentPackets::note_arrival(const SentPacket& packet, std::uint32_t echo) noexcept {
  Time left = packet.sent_at;
  if (packet.attempt != 0) [[unlikely]] {
    const auto earlier = static_cast<std::int32_t>(stamp_of(left) - echo);
    if (earlier > kSameTime) left -= Time{earlier} << kStampShift;
  }
  latest_arrived_sent_ = std::max(latest_arrived_sent_, left);
}

bool SentPackets::arrived(std::uint64_t number, std::uint32_t echo) noexcept {
  if (number < oldest_ || number >= next_) return false;
  SentPacket& packet = at(number);
  if (packet.state == SentPacket::State::acknowledged) return false;
  if (packet.state == SentPacket::State::in_flight) {
    in_flight_ -= packet.wire_bytes;
    --packets_;
  } else {
    --lost_;
  }
  packet.state = SentPacket::State::acknowledged;
  note_arrival(packet, echo);
  return true;
}

void SentPackets::trim() noexcept {
  while (oldest_ < next_ && at(oldest_).state == SentPacket::State::acknowledged) ++oldest_;
}

std::uint64_t SentPackets::find_lost(Time now, Time round_trip, Time window, Time& recheck) noexcept {
  recheck = kNever;
  std::uint64_t bytes = 0;
  for (std::uint64_t n = oldest_; n < next_; ++n) {
    SentPacket& packet = at(n);
    if (packet.state != SentPacket::State::in_flight || packet.sent_at >= latest_arrived_sent_) continue;
    if (packet.sent_at + window <= latest_arrived_sent_ || now >= packet.sent_at + round_trip + window) {
      bytes += packet.wire_bytes;
      lost_hint_ = lost_ == 0 ? n : std::min(lost_hint_, n);
      lose(packet);
    } else {
      recheck = std::min(recheck, packet.sent_at + round_trip + window);
    }
  }
  return bytes;
}

void SentPackets::lose_all() noexcept {
  for (std::uint64_t n = oldest_; n < next_; ++n) {
    if (at(n).state == SentPacket::State::in_flight) lose(at(n));
  }
  lost_hint_ = oldest_;
}

void SentPackets::lose_last() noexcept {
  for (std::uint64_t n = next_; n-- > oldest_;) {
    if (at(n).state != SentPacket::State::in_flight) continue;
    lost_hint_ = lost_ == 0 ? n : std::min(lost_hint_, n);
    lose(at(n));
    return;
  }
}

}  // namespace aqueduct::conduits::udp
