#pragma once

#include <aqueduct/byte_count.hpp>
#include <aqueduct/rank.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace aqueduct {

/// Identifies a segment: 0 is the primary one; Segment::create and attach number the others in order.
using SegmentId = std::uint32_t;

/// A pointer to a `T` in some rank's segment: 16 trivially copyable bytes.
///
/// Units:  `offset` is in bytes from the start of the segment on that rank; arithmetic is in elements.
/// Errors: an offset outside the segment is reported by the operation that uses the pointer (out_of_range). A step below
///         the segment, or too far for 64 bits, leads outside; a step back from below leads to the same place again.
template <class T>
class GlobalPtr {
 public:
  constexpr GlobalPtr() noexcept = default;
  constexpr GlobalPtr(Rank rank, std::uint64_t offset, SegmentId segment = 0) noexcept
      : rank_(rank), segment_(segment), offset_(offset) {}
  /// Converts a pointer to T to a pointer to const T.
  template <class U>
    requires(std::is_same_v<const U, T> && !std::is_same_v<U, T>)
  constexpr GlobalPtr(GlobalPtr<U> other) noexcept
      : GlobalPtr(other.rank(), other.offset(), other.segment()) {}

  constexpr Rank rank() const noexcept { return rank_; }
  constexpr SegmentId segment() const noexcept { return segment_; }
  constexpr std::uint64_t offset() const noexcept { return offset_; }
  constexpr explicit operator bool() const noexcept { return rank_ != kNoRank; }

  /// The same place, `bytes` bytes further, as a pointer to another type.
  template <class U>
  constexpr GlobalPtr<U> as(std::int64_t bytes = 0) const noexcept {
    return {rank_, offset_ + static_cast<std::uint64_t>(bytes), segment_};
  }
  /// The same place in another rank's part of the segment.
  constexpr GlobalPtr on(Rank rank) const noexcept { return {rank, offset_, segment_}; }

  // The offset counts as signed here: below 0 is outside too, and a program that counts its elements from 1 comes back.
  constexpr GlobalPtr& operator+=(std::int64_t elements) noexcept {
    std::int64_t bytes = 0;
    std::int64_t to = 0;
    if (__builtin_mul_overflow(elements, element(), &bytes) ||
        __builtin_add_overflow(static_cast<std::int64_t>(offset_), bytes, &to)) [[unlikely]]
      to = static_cast<std::int64_t>(detail::kOffsetNowhere);
    offset_ = static_cast<std::uint64_t>(to);
    return *this;
  }
  constexpr GlobalPtr& operator-=(std::int64_t elements) noexcept {
    std::int64_t bytes = 0;
    std::int64_t to = 0;
    if (__builtin_mul_overflow(elements, element(), &bytes) ||
        __builtin_sub_overflow(static_cast<std::int64_t>(offset_), bytes, &to)) [[unlikely]]
      to = static_cast<std::int64_t>(detail::kOffsetNowhere);
    offset_ = static_cast<std::uint64_t>(to);
    return *this;
  }
  constexpr GlobalPtr& operator++() noexcept { return *this += 1; }
  constexpr GlobalPtr& operator--() noexcept { return *this -= 1; }
  friend constexpr GlobalPtr operator+(GlobalPtr p, std::int64_t n) noexcept { return p += n; }
  friend constexpr GlobalPtr operator+(std::int64_t n, GlobalPtr p) noexcept { return p += n; }
  friend constexpr GlobalPtr operator-(GlobalPtr p, std::int64_t n) noexcept { return p -= n; }
  /// The distance in elements. Requires: both point into one rank's part of one segment.
  friend constexpr std::int64_t operator-(GlobalPtr a, GlobalPtr b) noexcept {
    return static_cast<std::int64_t>(a.offset_ - b.offset_) / element();
  }
  friend constexpr bool operator==(GlobalPtr, GlobalPtr) noexcept = default;
  friend constexpr auto operator<=>(GlobalPtr, GlobalPtr) noexcept = default;

 private:
  // A function, because T may be incomplete where the pointer is declared.
  static constexpr std::int64_t element() noexcept { return static_cast<std::int64_t>(sizeof(T)); }

  Rank rank_ = kNoRank;
  SegmentId segment_ = 0;
  std::uint64_t offset_ = 0;
};
static_assert(sizeof(GlobalPtr<int>) == 16 && std::is_trivially_copyable_v<GlobalPtr<int>>);

}  // namespace aqueduct
