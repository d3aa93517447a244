#include "coll/scratch/banks.hpp"

namespace aqueduct::coll {

ScratchBanks::ScratchBanks(const ScratchLayout& layout) noexcept : layout_(layout) { begin(0); }

const char* ScratchBanks::refusal(const Needs& needs) const noexcept {
  if (needs.scratch > layout_.sizes().bytes)
    return "it needs more scratch than a bank has: cut the operation into smaller pieces, or take an "
           "algorithm that "
           "needs less";
  if (needs.counters > layout_.sizes().counters)
    return "it needs more counters than a bank has: take fewer segments, or an algorithm that needs fewer";
  return nullptr;
}

void ScratchBanks::begin(std::uint64_t epoch) noexcept {
  next_.epoch = epoch;
  next_.offset = layout_.bank_at(epoch);
  next_.first_counter = layout_.bank_counter(epoch);
  bytes_end_ = next_.offset + layout_.sizes().bytes;
  counters_end_ = next_.first_counter + layout_.sizes().counters;
}

}  // namespace aqueduct::coll
