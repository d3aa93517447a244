#pragma once

#include <aqueduct/rank.hpp>

#include <cstdint>
#include <optional>

namespace aqueduct::coll {

/// How much scratch a team has on each member; the same on all members.
struct ScratchSizes {
  std::uint32_t banks = 3;          ///< 2 to kMostBanks
  std::uint32_t counters = 256;     ///< of a bank
  std::uint64_t bytes = 256 << 10;  ///< of a bank; a multiple of kScratchLine

  friend bool operator==(const ScratchSizes&, const ScratchSizes&) = default;
};

struct Needs;

inline constexpr std::uint32_t kMostBanks = 4;
/// Portions begin at multiples of this, so that two operations never share a cache line.
inline constexpr std::uint64_t kScratchLine = 64;
/// Teams of more members use barriers instead of clears: the tables of peers are never longer than this.
inline constexpr Rank kMostCleared = 64;

constexpr std::uint64_t whole_lines(std::uint64_t bytes) noexcept {
  return (bytes + kScratchLine - 1) / kScratchLine * kScratchLine;
}

/// The smallest scratch with which every operation has an algorithm, if it is cut into pieces of one element of 16 bytes,
/// or of fewer bytes where nothing is combined. It grows with P: 16 P bytes, and 3 ceil(log2 P) counters.
ScratchSizes least_scratch(Rank ranks) noexcept;

/// Where things are in a team's scratch: the same on all members.
///
/// Bytes:     the banks.
/// Counters:  not among the bytes. Numbered from 0: those of the banks, a clear counter for each peer, and one for each
///            round of the barrier that ends an epoch. A put or signal names a counter by this number.
class ScratchLayout {
 public:
  /// Requires: sizes as their comments say.
  ScratchLayout(const ScratchSizes& sizes, Rank ranks) noexcept;

  /// The largest sizes that fit into `bytes` bytes and `counters` counters. Empty if there are fewer bytes or counters than the
  /// layout of least_scratch(ranks) has.
  static std::optional<ScratchSizes> sizes_within(std::uint64_t bytes, std::uint64_t counters,
                                                  Rank ranks) noexcept;

  /// Null if an operation with these needs can have a portion; otherwise the reason why not, for `explain`.
  const char* refusal(const Needs& needs) const noexcept;
  const ScratchSizes& sizes() const noexcept { return sizes_; }
  std::uint64_t bytes() const noexcept { return sizes_.banks * sizes_.bytes; }
  std::uint64_t bank_at(std::uint64_t epoch) const noexcept { return epoch % sizes_.banks * sizes_.bytes; }

  std::uint32_t counters() const noexcept { return first_round() + rounds_; }
  std::uint32_t bank_counter(std::uint64_t epoch) const noexcept {
    return static_cast<std::uint32_t>(epoch % sizes_.banks) * sizes_.counters;
  }
  /// How many of the counters belong to operations: the first ones.
  std::uint32_t operation_counters() const noexcept { return sizes_.banks * sizes_.counters; }
  /// The counter that `peer` raises on this member. Requires: clears().
  std::uint32_t clear_counter(Rank peer) const noexcept { return operation_counters() + peer; }
  std::uint32_t round_counter(std::uint32_t round) const noexcept { return first_round() + round; }
  std::uint32_t rounds() const noexcept { return rounds_; }
  /// Whether there are clear counters.
  bool clears() const noexcept { return ranks_ <= kMostCleared; }

 private:
  std::uint32_t first_round() const noexcept { return operation_counters() + (clears() ? ranks_ : 0); }

  ScratchSizes sizes_;
  Rank ranks_;
  std::uint32_t rounds_;
};

}  // namespace aqueduct::coll
