#pragma once

#include "conduits/udp/carrier/time.hpp"
#include "conduits/udp/protocol/congestion.hpp"
#include "conduits/udp/protocol/received_packets.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace aqueduct::conduits::udp {

struct Bundle;
struct LongMessage;
struct BulkTransfer;

/// A packet that was sent and is not yet acknowledged. Remembers what it carried, so that it can be built again.
struct SentPacket {
  enum class State : std::uint8_t { acknowledged, in_flight, lost };
  enum class Kind : std::uint8_t { bundle, long_message, fragment, bulk };

  State state = State::acknowledged;
  Kind kind = Kind::bundle;
  std::uint16_t attempt = 0;
  bool immediate_ack = false;
  std::uint32_t wire_bytes = 0;  ///< length of the datagram
  std::uint32_t offset = 0;      ///< of the fragment or the bulk transfer's piece
  std::uint32_t bytes = 0;       ///< of the fragment or the bulk transfer's piece
  union {
    Bundle* bundle;
    LongMessage* long_message;
    BulkTransfer* bulk;
  };
  Time sent_at = 0;
  RateSnapshot snapshot;

  SentPacket() noexcept : bundle(nullptr) {}
};

/// Approximate bytes that the system's receive buffer charges per packet beyond its length (an sk_buff and rounding).
inline constexpr std::uint64_t kPacketCharge = 768;

/// The unacknowledged packets to one peer. Detects loss by time, as RFC 8985 (RACK) does: a packet is lost when a
/// packet that was sent later has arrived, and a quarter of a round trip more has passed.
class SentPackets {
 public:
  /// Packets that may be unacknowledged at once; below ReceivedPackets::kSpan.
  static constexpr std::size_t kMost = 2048;
  static_assert(kMost < ReceivedPackets::kSpan);

  bool full() const noexcept { return next_ - oldest_ >= kMost; }
  bool empty() const noexcept { return oldest_ == next_; }
  std::uint64_t next() const noexcept { return next_; }
  std::uint64_t oldest() const noexcept { return oldest_; }
  SentPacket& at(std::uint64_t number) noexcept { return ring_[number & (ring_.size() - 1)]; }
  const SentPacket& at(std::uint64_t number) const noexcept { return ring_[number & (ring_.size() - 1)]; }

  /// Makes room for one more packet. False: no memory. Requires: not full().
  bool reserve() noexcept;
  /// Remembers a packet that leaves now; returns its number. Packets that leave at the same time get send times that
  /// differ by a nanosecond each, in the order of sending.
  std::uint64_t add(const SentPacket& packet) noexcept;
  /// A lost packet is retransmitted.
  void again(std::uint64_t number, Time now, const RateSnapshot& snapshot) noexcept;

  std::uint64_t bytes_in_flight() const noexcept { return in_flight_; }
  std::uint64_t charged() const noexcept { return in_flight_ + kPacketCharge * packets_; }
  std::uint32_t packets_in_flight() const noexcept { return packets_; }
  std::uint32_t lost() const noexcept { return lost_; }  ///< packets that wait for retransmission
  /// The lowest lost number. Requires: lost() > 0.
  std::uint64_t first_lost() noexcept;

  /// The packet was acknowledged. False: it already was, or was never sent. `at(number)` stays valid until `trim`.
  /// `echo`: the stamp (PacketHeader::stamp) of the packet that the peer received before it sent the acknowledgement. It tells which
  /// copy of a retransmitted packet has arrived.
  bool arrived(std::uint64_t number, std::uint32_t echo) noexcept;
  /// Drops the oldest packets up to the first that is not acknowledged. Call after each acknowledgement.
  void trim() noexcept;
  /// Marks packets as lost that left before the most recently sent packet that has arrived: those that left at least
  /// `window` before it, and those that have had a round trip and `window` to arrive. Returns the bytes found lost.
  /// `recheck`: when to call again (kNever: nothing is pending).
  std::uint64_t find_lost(Time now, Time round_trip, Time window, Time& recheck) noexcept;
  /// Marks everything in flight as lost.
  void lose_all() noexcept;
  /// Marks the highest number in flight as lost. Its retransmission is a tail-loss probe.
  void lose_last() noexcept;
  Time latest_sent() const noexcept { return latest_sent_; }

 private:
  void lose(SentPacket& packet) noexcept;
  void note_arrival(const SentPacket& packet, std::uint32_t echo) noexcept;

  std::vector<SentPacket> ring_;
  std::uint64_t oldest_ = 0;
  std::uint64_t next_ = 0;
  std::uint64_t in_flight_ = 0;
  std::uint32_t packets_ = 0;
  std::uint32_t lost_ = 0;
  std::uint64_t lost_hint_ = 0;   ///< no lost number is lower
  Time latest_sent_ = 0;          ///< send time of the most recently sent packet
  Time latest_arrived_sent_ = 0;  ///< latest send time among packets that have arrived
};

}  // namespace aqueduct::conduits::udp
