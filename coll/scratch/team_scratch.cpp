#include "coll/scratch/team_scratch.hpp"

#include <bit>
#include <utility>

namespace aqueduct::coll {

namespace {

constexpr std::uint32_t kPlanSlots = 2;

}  // namespace

bool hears_of_all(const Shape& shape) noexcept {
  switch (shape.operation) {
    case Operation::barrier: return true;
    case Operation::all_gather:
    case Operation::all_to_all:
    case Operation::all_reduce:
    case Operation::reduce_scatter: return shape.bytes > 0 || shape.in == Sync::all || shape.out == Sync::all;
    // The pass at their end begins at the root, which has then heard of all that send something.
    case Operation::gather:
    case Operation::reduce: return shape.in == Sync::all || (shape.out == Sync::all && shape.bytes > 0);
    // The pass at their beginning ends at the root.
    case Operation::broadcast:
    case Operation::scatter: return shape.out == Sync::all;
    default: return shape.in == Sync::all || shape.out == Sync::all;
  }
}

TeamScratch::TeamScratch(const ScratchSizes& sizes, Rank ranks, Rank position, CounterWords counters,
                         std::uint32_t reuse)
    : layout_(sizes, ranks),
      ranks_(ranks),
      position_(position),
      counters_(std::move(counters)),
      banks_(layout_),
      epochs_(layout_, ranks, position, counters_, reuse == 0 ? sizes.banks : reuse),
      leases_(layout_),
      senders_(layout_.clears() ? ranks : 0),
      pairs_(layout_.clears() ? ranks : 0) {}

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

Portion TeamScratch::open_leased(std::uint32_t lease, const Algorithm& algorithm, const Shape& shape,
                                 Senders::Ticket& ticket) noexcept {
  Leases::Lease& taken = leases_[lease];
  const std::uint64_t slot = taken.starts++ % kPlanSlots;
  Portion portion{.epoch = banks_.epoch(),
                  .offset = taken.offset + slot * taken.bytes,
                  .bytes = taken.bytes,
                  .first_counter = taken.first_counter + static_cast<std::uint32_t>(slot) * taken.counters,
                  .counters = taken.counters,
                  .lease = lease};
  enter(portion, algorithm, shape, ticket);
  return portion;
}

/// Adds an operation's pairs to those of the present epoch.
void TeamScratch::note(Senders::Entry& known, Rank root) noexcept {
  if (known.noted_in != banks_.epoch()) known.noted_roots = 0;
  known.noted_in = banks_.epoch();
  known.noted_roots |= Members{1} << root;
  for (Rank receiver = 0; receiver < ranks_; ++receiver)
    pairs_[absolute(receiver, root, ranks_)] |= senders_.from_root(known.rows[receiver], root);
}

void TeamScratch::drained(const Portion& portion) noexcept {
  counters_.begin_again(portion.first_counter, portion.counters);
  if (portion.lease != Portion::kNoLease) leases_[portion.lease].running = false;
  epochs_.drained(portion.epoch);
}

std::optional<std::uint32_t> TeamScratch::lease(const Shape& shape, const Needs& needs) noexcept {
  if (!hears_of_all(shape)) return std::nullopt;
  return leases_.take(needs, kPlanSlots, banks_.epoch());
}

}  // namespace aqueduct::coll
