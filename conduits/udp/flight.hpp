#pragma once

#include "conduits/udp/congestion.hpp"
#include "conduits/udp/received.hpp"
#include "conduits/udp/time.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace aqueduct::conduits::udp {

struct Bundle;
struct Parcel;
struct Stream;

/// A packet that was sent and is not yet acknowledged: what it carried, so that it can be built again.
struct Sent {
  enum class State : std::uint8_t { acknowledged, in_flight, lost };
  enum class Kind : std::uint8_t { bundle, parcel, fragment, stream };

  State state = State::acknowledged;
  Kind kind = Kind::bundle;
  std::uint16_t attempt = 0;
  bool wants_answer = false;
  std::uint32_t wire_bytes = 0;  ///< of the datagram
  std::uint32_t offset = 0;      ///< of a fragment or a stream's piece
  std::uint32_t bytes = 0;       ///< of it
  union {
    Bundle* bundle;
    Parcel* parcel;
    Stream* stream;
  };
  Time sent_at = 0;
  RateMark mark;

  Sent() noexcept : bundle(nullptr) {}
};

/// What the system's receive buffer charges for a packet besides its bytes (an sk_buff and its rounding), about.
inline constexpr std::uint64_t kPacketCharge = 768;

/// The packets in flight to one peer. Finds the lost ones by time, as RFC 8985 (RACK) does: a packet is lost when one that
/// was sent later has arrived and it has not for a quarter of a round trip more.
class Flight {
 public:
  /// Packets that may be unacknowledged at once; below Received::kSpan.
  static constexpr std::size_t kMost = 2048;
  static_assert(kMost < Received::kSpan);

  bool full() const noexcept { return next_ - oldest_ >= kMost; }
  bool empty() const noexcept { return oldest_ == next_; }
  std::uint64_t next() const noexcept { return next_; }
  std::uint64_t oldest() const noexcept { return oldest_; }
  Sent& at(std::uint64_t number) noexcept { return ring_[number & (ring_.size() - 1)]; }
  const Sent& at(std::uint64_t number) const noexcept { return ring_[number & (ring_.size() - 1)]; }

  /// The next number, for a new packet. False: no memory to remember it. Requires: not full().
  bool reserve() noexcept;
  /// Packets of one moment are told apart by a nanosecond each, in the order of sending.
  std::uint64_t add(const Sent& packet) noexcept;
  /// A lost packet leaves again.
  void again(std::uint64_t number, Time now, const RateMark& mark) noexcept;

  std::uint64_t in_flight() const noexcept { return in_flight_; }  ///< bytes
  std::uint64_t charged() const noexcept { return in_flight_ + kPacketCharge * packets_; }
  std::uint32_t packets() const noexcept { return packets_; }
  std::uint32_t lost() const noexcept { return lost_; }  ///< packets waiting to leave again
  /// The lowest lost number. Requires: lost() > 0.
  std::uint64_t first_lost() noexcept;

  /// One packet has arrived. False: it was known, or never sent. `at(number)` still says what it was.
  bool arrived(std::uint64_t number) noexcept;
  /// After the packets of an acknowledgement: forgets the oldest that have all arrived.
  void trim() noexcept;
  /// Marks as lost what left before the latest packet that has arrived and has had a round trip and `window` more to
  /// arrive. Returns the bytes found lost; `recheck` is when to look again (kNever if nothing is pending).
  std::uint64_t find_lost(Time now, Time round_trip, Time window, Time& recheck) noexcept;
  /// Everything in flight counts as lost.
  void lose_all() noexcept;
  /// The highest number in flight counts as lost: sending it again probes for the rest (tail-loss probe).
  void lose_last() noexcept;
  Time oldest_sent() const noexcept;  ///< when the oldest packet in flight left; kNever if none is
  Time latest_sent() const noexcept { return latest_sent_; }

 private:
  void lose(Sent& packet) noexcept;

  std::vector<Sent> ring_;
  std::uint64_t oldest_ = 0;
  std::uint64_t next_ = 0;
  std::uint64_t in_flight_ = 0;
  std::uint32_t packets_ = 0;
  std::uint32_t lost_ = 0;
  std::uint64_t lost_hint_ = 0;   ///< no lost number is lower
  Time latest_sent_ = 0;          ///< when the packet left that left last
  Time latest_arrived_sent_ = 0;  ///< when the packet left that left last of those that have arrived
};

}  // namespace aqueduct::conduits::udp
