#include "coll/scratch/team_scratch.hpp"

#include <bit>
#include <utility>

namespace aqueduct::coll {

TeamScratch::TeamScratch(const ScratchSizes& sizes, Rank ranks, Rank position, CounterWords counters,
                         std::shared_ptr<Senders> senders, std::uint32_t reuse)
    : layout_(sizes, ranks),
      ranks_(ranks),
      position_(position),
      counters_(std::move(counters)),
      banks_(layout_),
      epochs_(layout_, ranks, position, counters_, reuse == 0 ? sizes.banks : reuse),
      pairs_(layout_.clears() ? ranks : 0) {
  if (layout_.clears()) senders_ = senders != nullptr ? std::move(senders) : std::make_shared<Senders>(ranks);
}

// Clears are one message for each pair of which one writes to the other; a barrier is ceil(log2 P) from each member. All
// members know the pairs, so they choose alike.
bool TeamScratch::ends_by_barrier() const noexcept {
  if (!layout_.clears()) return true;
  std::uint64_t pairs = 0;
  for (const Members senders : pairs_) pairs += static_cast<std::uint64_t>(std::popcount(senders));
  return pairs > std::uint64_t{ranks_} * layout_.rounds();
}

void TeamScratch::begin_epoch(std::uint64_t epoch) noexcept {
  epochs_.begin(epoch, ends_by_barrier());
  for (Members& senders : pairs_) senders = 0;
}

/// Adds an operation's pairs to those of the present epoch.
void TeamScratch::note(const Senders::Entry& known, Rank root, Senders::Ticket& ticket) noexcept {
  if (ticket.noted_in != banks_.epoch()) ticket.noted_roots = 0;
  ticket.noted_in = banks_.epoch();
  ticket.noted_roots |= Members{1} << root;
  for (Rank receiver = 0; receiver < ranks_; ++receiver)
    pairs_[absolute(receiver, root, ranks_)] |= senders_->from_root(known.rows[receiver], root);
}

void TeamScratch::drained(const Portion& portion) noexcept {
  counters_.begin_again(portion.first_counter, portion.counters);
  epochs_.drained(portion.epoch);
}

}  // namespace aqueduct::coll
