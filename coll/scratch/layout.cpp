#include "coll/scratch/layout.hpp"

#include "coll/schedule/passes.hpp"

#include <algorithm>

namespace aqueduct::coll {

namespace {

constexpr std::uint64_t kLongestElement = 16;
// Chosen: three passes of ceil(log2 P) rounds and a few more, for any number of ranks.
constexpr std::uint32_t kLeastCounters = 112;
// Chosen: with larger banks, more counters than this are of no use.
constexpr std::uint32_t kMostCounters = 1024;
constexpr std::uint64_t kBytesForACounter = 1024;

}  // namespace

ScratchSizes least_scratch(Rank ranks) noexcept {
  // Of what members can do that know only their own buffers, an all-to-all by Bruck's algorithm needs most: in each round
  // at most a block of each member.
  const std::uint64_t blocks = std::uint64_t{std::max(rounds_of(ranks, 2), 1u)} * ranks;
  return {.banks = 2,
          .counters = kLeastCounters,
          .bytes = std::max<std::uint64_t>(whole_lines(blocks * kLongestElement), 1024)};
}

ScratchLayout::ScratchLayout(const ScratchSizes& sizes, Rank ranks) noexcept
    : sizes_(sizes), ranks_(ranks), rounds_(rounds_of(ranks, 2)) {}

std::optional<ScratchSizes> ScratchLayout::sizes_within(std::uint64_t bytes, std::uint64_t counters,
                                                        Rank ranks) noexcept {
  ScratchSizes sizes = least_scratch(ranks);
  const auto fits = [&] {
    const ScratchLayout layout(sizes, ranks);
    return layout.bytes() <= bytes && layout.counters() <= counters;
  };
  if (!fits()) return std::nullopt;
  // A third bank lets members drift further apart than twice the room does.
  sizes.banks = 3;
  if (!fits()) sizes.banks = 2;
  const std::uint64_t more_counters = (counters - ScratchLayout(sizes, ranks).counters()) / sizes.banks;
  sizes.bytes = bytes / sizes.banks / kScratchLine * kScratchLine;
  sizes.counters += static_cast<std::uint32_t>(std::min(
      {more_counters, sizes.bytes / kBytesForACounter, std::uint64_t{kMostCounters - kLeastCounters}}));
  return sizes;
}

}  // namespace aqueduct::coll
