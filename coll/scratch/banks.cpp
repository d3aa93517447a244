#include "coll/scratch/banks.hpp"

namespace aqueduct::coll {

const char* ScratchBanks::refusal(const Needs& needs) const noexcept {
  if (needs.scratch > layout_.sizes().bytes)
    return "it needs more scratch than a bank has: cut the operation into smaller pieces, or take an "
           "algorithm that "
           "needs less";
  if (needs.counters > layout_.sizes().counters)
    return "it needs more counters than a bank has: take fewer segments, or an algorithm that needs fewer";
  return nullptr;
}

Portion ScratchBanks::open(const Needs& needs) noexcept {
  const std::uint64_t bytes = whole_lines(needs.scratch);
  const ScratchSizes& sizes = layout_.sizes();
  if (bytes > sizes.bytes - next_byte_ || needs.counters > sizes.counters - next_counter_) {
    ++epoch_;
    next_byte_ = 0;
    next_counter_ = 0;
  }
  Portion portion{.epoch = epoch_,
                  .offset = layout_.bank_at(epoch_) + next_byte_,
                  .bytes = bytes,
                  .first_counter = layout_.bank_counter(epoch_) + next_counter_,
                  .counters = needs.counters};
  next_byte_ += bytes;
  next_counter_ += needs.counters;
  return portion;
}

}  // namespace aqueduct::coll
