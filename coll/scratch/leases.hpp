#pragma once

#include "coll/scratch/banks.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace aqueduct::coll {

/// Of what is in use: no epoch is that late.
inline constexpr std::uint64_t kInUse = ~std::uint64_t{0};

/// Ranges of [0, size), handed out first fit. What is given back in an epoch is handed out again when the epoch that is
/// then asked for is late enough. Nothing is allocated.
class Ranges {
 public:
  static constexpr std::size_t kMost = 32;  ///< ranges handed out, or given back and not yet free

  explicit Ranges(std::uint64_t size) noexcept : size_(size) {}

  /// The beginning of a range. Empty if there is no room now.
  std::optional<std::uint64_t> take(std::uint64_t count, std::uint64_t epoch) noexcept;
  /// Gives back the range that begins there; it is free from epoch `free_from` on.
  void give_back(std::uint64_t begin, std::uint64_t free_from) noexcept;

 private:
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t free_from = kInUse;
  };
  std::array<Range, kMost> taken_{};  ///< the first `count_`, in order
  std::size_t count_ = 0;
  std::uint64_t size_;
};

/// Scratch that is held for longer than one operation: by a persistent plan, or as the whole scratch of a smaller team.
///
/// Taking and ending a lease sends nothing. Both count as calls in the team's order, so all members get the same place. A
/// place that was given back in epoch e is taken again in epoch e + K at the earliest, for K banks: whoever then writes to
/// a peer has waited until the peer has finished epoch e, and with it the last operation on the old lease.
class Leases {
 public:
  static constexpr std::uint32_t kMost = Ranges::kMost;

  struct Lease {
    std::uint64_t offset = 0;  ///< from the beginning of the team's scratch
    std::uint64_t bytes = 0;   ///< of a slot
    std::uint32_t first_counter = 0;
    std::uint32_t counters = 0;   ///< of a slot
    std::uint64_t starts = 0;     ///< how many operations have begun on it
    std::uint64_t free_from = 0;  ///< the epoch from which on it may be another lease
    bool running = false;         ///< an operation on it is not yet drained
  };

  explicit Leases(const ScratchLayout& layout) noexcept
      : layout_(layout), bytes_(layout.sizes().leased_bytes), counters_(layout.sizes().leased_counters) {}

  /// Takes `slots` times `needs`. Empty if there is no room: the plan's operations then get portions of the banks.
  std::optional<std::uint32_t> take(const Needs& needs, std::uint32_t slots, std::uint64_t epoch) noexcept;
  void end(std::uint32_t lease, std::uint64_t epoch) noexcept;
  Lease& operator[](std::uint32_t lease) noexcept { return leases_[lease]; }
  const Lease& operator[](std::uint32_t lease) const noexcept { return leases_[lease]; }

 private:
  const ScratchLayout& layout_;
  Ranges bytes_;
  Ranges counters_;
  std::array<Lease, kMost> leases_{};
};

}  // namespace aqueduct::coll
