#include "coll/scratch/layout.hpp"

#include "coll/schedule/algorithm.hpp"
#include "coll/schedule/passes.hpp"

#include <algorithm>

namespace aqueduct::coll {

namespace {

constexpr std::uint64_t kLongestElement = 16;
// What is rounded up to whole lines: the scratch and the temporary bytes of two portions, or of one portion with the
// buffers of converted elements.
constexpr std::uint64_t kRounding = 4 * kScratchLine;
// Chosen: small teams get a little more than they need. Their elements may be longer then, and an algorithm that a setting
// asks for may take two counters for each member, as a ring of 8 does.
constexpr std::uint64_t kLeastBytes = 512;
constexpr std::uint32_t kLeastCounters = 18;
// Chosen: with larger banks, more counters than this are of no use.
constexpr std::uint32_t kMostCounters = 1024;
constexpr std::uint64_t kBytesForACounter = 256;

}  // namespace

ScratchSizes least_scratch(Rank ranks) noexcept {
  // A reduction in team order (all_reduce, reduce_scatter) needs most: an element of each member, and a sum. Gathers need
  // the former, trees and chains far less. An all-to-all between members that know only their own buffers needs more; but it
  // combines nothing, so its elements may be cut: with radix 64 it takes portions of 2 to 8 bytes.
  //
  // Counters: a pass before the operation and one after it, two that tie lanes together, and for the algorithm itself one
  // for each round and a few. For those that need more there are others: fewer segments, a larger radix, a tree.
  return {.banks = 2,
          .counters = std::max(3 * rounds_of(ranks, 2) + 6, kLeastCounters),
          .bytes = std::max(whole_lines(ranks * kLongestElement) + kRounding, kLeastBytes)};
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
      {more_counters, sizes.bytes / kBytesForACounter, std::uint64_t{kMostCounters - sizes.counters}}));
  return sizes;
}

const char* ScratchLayout::refusal(const Needs& needs) const noexcept {
  if (needs.scratch > sizes_.bytes)
    return "it needs more scratch than a bank has: cut the operation into smaller pieces, or take an "
           "algorithm that "
           "needs less";
  if (needs.counters > sizes_.counters)
    return "it needs more counters than a bank has: take fewer segments, or an algorithm that needs fewer";
  return nullptr;
}

}  // namespace aqueduct::coll
