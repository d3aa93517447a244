#include "coll/scratch/banks.hpp"

namespace aqueduct::coll {

ScratchBanks::ScratchBanks(const ScratchLayout& layout) noexcept : layout_(layout) { begin(0); }

void ScratchBanks::begin(std::uint64_t epoch) noexcept {
  next_.epoch = epoch;
  if (again_in_ != kNoEpoch) again_in_ = epoch;
  next_.offset = layout_.bank_at(epoch);
  next_.first_counter = layout_.bank_counter(epoch);
  bytes_end_ = next_.offset + layout_.sizes().bytes;
  counters_end_ = next_.first_counter + layout_.sizes().counters;
}

}  // namespace aqueduct::coll
