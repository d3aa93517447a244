#pragma once

#include <aqueduct/copy_bytes.hpp>

#include "core/prefetch.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>

namespace aqueduct::conduits::smp {

/// A slot of a ring. A ring carries packets from one rank to another, in memory that both map: one producer, one
/// consumer.
///
/// A slot is one cache line. Its first word tells, by the slot's turn, that a packet is there, and its length. A
/// packet of up to 56 bytes follows in the same line, so a short message moves a single line. Of a longer packet the head
/// is in the slot, if it has at most 56 bytes, and the payload in the ring's data area, after a line for the head if
/// somebody wants the two together. So who only needs the head fetches one line too. Both sides compute the place in the
/// data area in the same way. A longer head is there with its payload. The consumer reports its progress in a line of
/// its own (`Consumed`), which the producer reads only when the ring seems full. docs/threading.md explains why this
/// is correct.
struct alignas(64) Slot {
  /// turn << 32 | words << 28 | bytes; the turn of packet number n is n / slots + 1, in 32 bits. The words are those of a head whose
  /// payload lies apart, otherwise 0.
  std::atomic<std::uint64_t> word;
  std::byte packet[56];
};
static_assert(sizeof(Slot) == 64);

inline constexpr unsigned kHeadShift = 28;
inline constexpr std::uint64_t kBytesMask = (std::uint64_t{1} << kHeadShift) - 1;
/// Before a payload that lies apart from its head.
inline constexpr std::size_t kRoomForHead = 64;

/// The turn that follows: 32 bits, as in a slot's word.
constexpr std::uint64_t turn_after(std::uint64_t turn) noexcept { return (turn + 1) & 0xffff'ffff; }

struct alignas(64) Consumed {
  std::atomic<std::uint64_t> packets;
  std::atomic<std::uint64_t> data;
};

/// The sizes of all rings of a job: powers of two.
struct RingShape {
  std::uint32_t slots;
  std::uint32_t data_bytes;

  std::size_t bytes() const noexcept { return 2 * sizeof(Consumed) + slots * sizeof(Slot) + data_bytes; }
  /// The largest packet: a quarter of the data area, so that several can be in flight, and its length fits a slot's word.
  std::size_t max_packet() const noexcept { return std::min<std::size_t>(data_bytes / 4, kBytesMask & ~63); }
};

/// The place in the data area of a packet that begins at or after `cursor`. A packet never wraps around the end.
inline std::uint64_t place_in_data(std::uint64_t cursor, std::size_t bytes,
                                   std::uint32_t data_bytes) noexcept {
  const std::uint64_t at = cursor & (data_bytes - 1);
  return at + bytes > data_bytes ? cursor + (data_bytes - at) : cursor;
}
inline std::uint64_t after_in_data(std::uint64_t place, std::size_t bytes) noexcept {
  return place + ((bytes + 63) & ~std::uint64_t{63});
}

struct RingView {
  Consumed* consumed = nullptr;
  Slot* slots = nullptr;
  std::byte* data = nullptr;

  RingView() = default;
  RingView(std::byte* memory, const RingShape& shape) noexcept
      : consumed(reinterpret_cast<Consumed*>(memory)),
        slots(reinterpret_cast<Slot*>(memory + 2 * sizeof(Consumed))),
        data(memory + 2 * sizeof(Consumed) + shape.slots * sizeof(Slot)) {}
};

/// A store whose memory order is chosen at run time. Passing a variable order to std::atomic would make every store
/// sequentially consistent.
template <class T>
void publish(std::atomic<T>& word, T value, std::memory_order order) noexcept {
  if (order == std::memory_order_seq_cst) [[unlikely]] {
    word.store(value, std::memory_order_seq_cst);
  } else {
    word.store(value, std::memory_order_release);
  }
}

/// How many bytes the producer prefetches for its next packet. The consumer prefetches nothing: there are handlers that do not
/// read their payload, and those that do lose nothing that could be measured. Chosen: copying a longer packet hides the
/// latency by itself.
inline constexpr std::size_t kFetched = 1024;

class Producer {
 public:
  Producer() = default;
  Producer(std::byte* memory, const RingShape& shape) noexcept
      : ring_(memory, shape),
        at_(ring_.slots),
        end_(ring_.slots + shape.slots),
        data_bytes_(shape.data_bytes) {}

  bool attached() const noexcept { return ring_.slots != nullptr; }

  /// Copies a packet into the ring and publishes it. The head consists of whole words of 8 bytes. False: no room.
  /// `order` is release, or seq_cst if the caller then checks, without membarrier, whether the consumer sleeps.
  [[gnu::always_inline]] bool push(std::span<const std::byte> head, std::span<const std::byte> payload,
                                   std::memory_order order) noexcept {
    const std::size_t bytes = head.size() + payload.size();
    if (next_ == no_further_) [[unlikely]] {
      no_further_ = ring_.consumed->packets.load(std::memory_order_acquire) + slots();
      if (next_ == no_further_) return false;
    }
    if (bytes > sizeof at_->packet) [[unlikely]]
      return push_long(head, payload, order);
    std::byte* const behind = copy_words(at_->packet, head);
    if (!payload.empty()) aqueduct::detail::write_bytes(behind, payload.data(), payload.size());
    publish_slot(bytes, order);
    return true;
  }
  /// The number of packets that the consumer has not yet reported as taken.
  std::uint64_t on_their_way() const noexcept {
    return next_ - ring_.consumed->packets.load(std::memory_order_relaxed);
  }

 private:
  std::uint64_t slots() const noexcept { return static_cast<std::uint64_t>(end_ - ring_.slots); }

  /// The end of `push` for a packet that does not fit its slot. Out of line: with it, `push` would keep more values than
  /// there are registers, which cost short packets 35 instructions.
  [[gnu::noinline]] bool push_long(std::span<const std::byte> head, std::span<const std::byte> payload,
                                   std::memory_order order) noexcept {
    if (head.empty() || head.size() > sizeof at_->packet) [[unlikely]]
      return push_together(head, payload, order);
    const std::size_t bytes = head.size() + payload.size();
    std::byte* const place = place_of(kRoomForHead + payload.size());
    if (place == nullptr) [[unlikely]]
      return false;
    copy_words(at_->packet, head);
    aqueduct::detail::write_bytes(place + kRoomForHead, payload.data(), payload.size());
    publish_slot(std::uint64_t{head.size()} << (kHeadShift - 3) | bytes, order);  // in words of 8 bytes
    fetch_data_ahead(bytes);
    return true;
  }
  /// The same for a packet whose head does not fit the slot, or that has none: all of it is in the data area.
  [[gnu::noinline]] bool push_together(std::span<const std::byte> head, std::span<const std::byte> payload,
                                       std::memory_order order) noexcept {
    const std::size_t bytes = head.size() + payload.size();
    std::byte* const place = place_of(bytes);
    if (place == nullptr) return false;
    std::byte* const behind = copy_words(place, head);
    if (!payload.empty()) aqueduct::detail::write_bytes(behind, payload.data(), payload.size());
    publish_slot(bytes, order);
    fetch_data_ahead(bytes);
    return true;
  }
  /// Copies a head, and returns the place behind it. In words, as the header was written: a wider load would have to wait
  /// for those stores to complete.
  static std::byte* copy_words(std::byte* to, std::span<const std::byte> head) noexcept {
    const std::byte* from = head.data();
    const std::byte* const end = from + head.size();
    for (; from != end; from += sizeof(std::uint64_t), to += sizeof(std::uint64_t)) {
      std::uint64_t part;
      std::memcpy(&part, from, sizeof part);
      std::memcpy(to, &part, sizeof part);
    }
    return to;
  }
  /// Publishes the packet of this slot, and goes to the next one.
  void publish_slot(std::uint64_t lengths, std::memory_order order) noexcept {
    Slot* const slot = at_;
    publish(slot->word, turn_ << 32 | lengths, order);
    ++next_;
    // Prefetches the lines of the next packets, which are in the consumer's cache because it read them last: now, when
    // nobody waits, rather than when the next packet is written. Not the next slot, which the consumer is polling. At the
    // end of the ring this prefetches something else, which does no harm.
    core::prefetch_for_write(slot + 3);
    at_ = slot + 1;
    if (at_ == end_) [[unlikely]] {
      at_ = ring_.slots;
      turn_ = turn_after(turn_);
    }
  }
  /// Takes room in the data area for a packet that does not fit its slot. Null: there is none.
  std::byte* place_of(std::size_t bytes) noexcept {
    const std::uint64_t place = place_in_data(data_next_, bytes, data_bytes_);
    const std::uint64_t end = after_in_data(place, bytes);
    if (end - consumed_data_ > data_bytes_) {
      consumed_data_ = ring_.consumed->data.load(std::memory_order_acquire);
      if (end - consumed_data_ > data_bytes_) return nullptr;
    }
    data_next_ = end;
    return ring_.data + (place & (data_bytes_ - 1));
  }
  /// Up to the end of the data area: a packet never wraps around it.
  void fetch_data_ahead(std::size_t bytes) const noexcept {
    const std::uint64_t at = data_next_ & (data_bytes_ - 1);
    const std::byte* line = ring_.data + at;
    const std::byte* const end =
        line + std::min({std::uint64_t{bytes}, std::uint64_t{kFetched}, data_bytes_ - at});
    for (; line < end; line += 64) core::prefetch_for_write(line);
  }

  RingView ring_;
  Slot* at_ = nullptr;      ///< the slot of packet number next_
  std::uint64_t turn_ = 1;  ///< its turn
  Slot* end_ = nullptr;
  std::uint64_t next_ = 0;
  std::uint64_t no_further_ = 0;  ///< the packet for which there is no room, as far as this side has looked
  std::uint64_t data_next_ = 0;
  std::uint64_t consumed_data_ = 0;
  std::uint32_t data_bytes_ = 0;
};

class Consumer {
 public:
  Consumer() = default;
  Consumer(std::byte* memory, const RingShape& shape) noexcept
      : ring_(memory, shape),
        at_(ring_.slots),
        end_(ring_.slots + shape.slots),
        data_bytes_(shape.data_bytes) {}

  /// Whether a packet has arrived.
  bool has_packet() const noexcept {
    return static_cast<std::uint32_t>(at_->word.load(std::memory_order_acquire) >> 32) == turn_;
  }
  /// Calls `take(packet)` for up to `most` packets, or `take(head, payload)`, if it can be called so, for those whose payload
  /// lies apart. Returns their number.
  template <class Take>
  int drain(int most, Take&& take) noexcept {
    int taken = 0;
    while (taken < most) {
      Slot& slot = *at_;
      const std::uint64_t word = slot.word.load(std::memory_order_acquire);
      if (word >> 32 != turn_) [[likely]]
        break;
      if (++at_ == end_) [[unlikely]] {
        at_ = ring_.slots;
        turn_ = static_cast<std::uint32_t>(turn_after(turn_));
      }
      ++next_;
      ++taken;
      if (const std::size_t bytes = word & kBytesMask; bytes <= sizeof slot.packet) [[likely]] {
        take(std::span<const std::byte>(slot.packet, bytes));
      } else {
        take_long(slot, word, take);
      }
    }
    if (taken != 0) {
      ring_.consumed->data.store(data_next_, std::memory_order_release);
      ring_.consumed->packets.store(next_, std::memory_order_release);
    }
    return taken;
  }

 private:
  /// Gives `take` a packet that does not fit its slot, whose word is `word`.
  template <class Take>
  void take_long(const Slot& slot, std::uint64_t word, Take& take) noexcept {
    const std::size_t bytes = word & kBytesMask;
    const std::size_t head = (word >> kHeadShift & 0xf) * sizeof(std::uint64_t);
    const std::size_t taken_bytes = head != 0 ? kRoomForHead + bytes - head : bytes;
    const std::uint64_t place = place_in_data(data_next_, taken_bytes, data_bytes_);
    std::byte* const from = ring_.data + (place & (data_bytes_ - 1));
    if (head == 0) {
      take(std::span<const std::byte>(from, bytes));
    } else {
      const std::span<std::byte> payload(from + kRoomForHead, bytes - head);
      if constexpr (std::is_invocable_v<Take&, std::span<const std::byte>, std::span<std::byte>>) {
        take(std::span<const std::byte>(slot.packet, head), payload);
      } else {
        std::memcpy(payload.data() - head, slot.packet, head);
        take(std::span<const std::byte>(payload.data() - head, bytes));
      }
    }
    data_next_ = after_in_data(place, taken_bytes);
  }

  RingView ring_;
  Slot* at_ = nullptr;  ///< the slot of packet number next_
  Slot* end_ = nullptr;
  std::uint32_t turn_ = 1;  ///< that slot's turn
  std::uint32_t data_bytes_ = 0;
  std::uint64_t next_ = 0;
  std::uint64_t data_next_ = 0;
};

}  // namespace aqueduct::conduits::smp
