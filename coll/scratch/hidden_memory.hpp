#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace aqueduct::coll {

/// The ranges of [0, size) that are in use, handed out first fit.
///
/// Cost: one pass over the ranges in use; 16 bytes for each of them.
class UsedRanges {
 public:
  explicit UsedRanges(std::uint64_t size) noexcept : size_(size) {}

  /// The beginning of a range. Empty if there is no room, also for want of memory for the list. Requires: count > 0.
  std::optional<std::uint64_t> take(std::uint64_t count) noexcept;
  /// Gives back the range that begins there. Ignores a number at which none begins. Never fails.
  void give_back(std::uint64_t begin) noexcept;

  std::uint64_t free() const noexcept { return free_; }
  /// The longest range that take() would find.
  std::uint64_t longest() const noexcept;
  /// The number of ranges in use.
  std::size_t used() const noexcept { return ranges_.size(); }

 private:
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
  };
  std::vector<Range> ranges_;  ///< by position; they do not overlap
  std::uint64_t size_;
  std::uint64_t free_ = size_;
};

/// This rank's memory for collectives, of which each team has a place: bytes and counters. A team's places on its members
/// differ.
///
/// Threads: one at a time. Peers raise counters of the places meanwhile, and write to their bytes.
class HiddenMemory {
 public:
  static constexpr std::uint64_t kLine = 64;  ///< places begin at multiples of this many bytes

  struct Place {
    std::uint64_t offset = 0;  ///< in bytes
    std::uint64_t bytes = 0;
    std::uint64_t first_counter = 0;
    std::uint64_t counters = 0;

    friend bool operator==(const Place&, const Place&) = default;
  };

  /// `bytes` is the number of bytes; this class does not touch them. Requires: a multiple of kLine.
  HiddenMemory(std::span<std::uint64_t> counters, std::uint64_t bytes) noexcept
      : words_(counters), counters_(counters.size()), bytes_(bytes), size_(bytes) {}

  /// Takes a place of at least `bytes` bytes, and of `counters` counters, which hold 0. Empty if there is no room.
  /// Requires: counters > 0; after the last use of what was given back, no peer raises its counters any more.
  std::optional<Place> take(std::uint64_t bytes, std::uint64_t counters) noexcept;
  /// Gives a place back. Requires: take() has returned it, and all that peers send to it has arrived.
  void give_back(const Place& place) noexcept;

  /// The counters of a place.
  std::span<std::uint64_t> counters_of(const Place& place) const noexcept {
    return words_.subspan(static_cast<std::size_t>(place.first_counter),
                          static_cast<std::size_t>(place.counters));
  }
  std::uint64_t free_bytes() const noexcept { return bytes_.free(); }
  std::uint64_t free_counters() const noexcept { return counters_.free(); }
  /// The most bytes, and the most counters, that one place can have now.
  std::uint64_t most_bytes() const noexcept { return bytes_.longest(); }
  std::uint64_t most_counters() const noexcept { return counters_.longest(); }
  std::size_t places() const noexcept { return bytes_.used(); }
  /// The most bytes that places have had at one time. For statistics.
  const std::uint64_t& high_water() const noexcept { return high_water_; }

 private:
  std::span<std::uint64_t> words_;
  UsedRanges counters_;
  UsedRanges bytes_;
  const std::uint64_t size_;
  std::uint64_t high_water_ = 0;
};

}  // namespace aqueduct::coll
