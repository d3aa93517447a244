#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace aqueduct::conduits::udp {

/// Packet numbers first <= n < end.
struct NumberRange {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  bool operator==(const NumberRange&) const = default;
};

/// Which packet numbers of a peer have arrived. Numbers begin at 0, and a retransmitted packet keeps its number. So
/// this record finds duplicates, is the replay window, and supplies the acknowledgements.
class ReceivedPackets {
 public:
  /// Numbers are remembered up to this many above the lowest missing one. Senders stay within it.
  static constexpr std::uint64_t kSpan = 8192;

  enum class Verdict : std::uint8_t { fresh, duplicate, beyond };
  /// Notes that `number` has arrived. beyond: number >= next() + kSpan; nothing was noted.
  Verdict note(std::uint64_t number) noexcept {
    if (number != next_ || gaps()) [[unlikely]]
      return note_out_of_order(number);
    end_ = ++next_;
    return Verdict::fresh;
  }
  /// The verdict that note() would give.
  Verdict check(std::uint64_t number) const noexcept {
    if (number < next_) return Verdict::duplicate;
    if (number - next_ >= kSpan) return Verdict::beyond;
    return (words_[word_of(number)] >> (number % kBits) & 1) != 0 ? Verdict::duplicate : Verdict::fresh;
  }

  std::uint64_t next() const noexcept { return next_; }  ///< the lowest number that has not arrived
  /// One more than the highest number that has arrived; 0 if none.
  std::uint64_t end() const noexcept { return end_; }
  bool gaps() const noexcept { return next_ < end_; }  ///< whether a number below end() is missing
  /// Writes the ranges above next() that have arrived, lowest first; returns how many. If they do not all fit, writes
  /// the highest ones (the newest matter most), still lowest first.
  std::size_t ranges(std::span<NumberRange> into) const noexcept;

 private:
  static constexpr std::uint64_t kBits = 64;
  static constexpr std::size_t kWords = kSpan / kBits;

  static std::size_t word_of(std::uint64_t number) noexcept { return number / kBits % kWords; }
  Verdict note_out_of_order(std::uint64_t number) noexcept;
  void advance() noexcept;
  std::uint64_t end_of_last(bool arrived, std::uint64_t below) const noexcept;

  std::uint64_t next_ = 0;
  std::uint64_t end_ = 0;
  // A ring of bits: number n has bit n % kSpan. Only bits of numbers in (next_, end_) can be set, so packets that
  // arrive in order never touch the ring.
  std::array<std::uint64_t, kWords> words_{};
};

}  // namespace aqueduct::conduits::udp
