#include "coll/model/processors.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace aqueduct::coll {

Processors::Processors(const Machine& machine, Rank ranks) : machine_(machine) {
  if (!machine.shares_cores()) return;
  std::vector<std::vector<Rank>> of_host(machine.hosts(ranks));
  std::vector<Rank> in_order(ranks);
  std::iota(in_order.begin(), in_order.end(), Rank{0});
  std::ranges::sort(in_order, {}, [&](Rank rank) { return machine.slot_of(rank); });
  for (const Rank rank : in_order) of_host[machine.host_of(rank)].push_back(rank);
  cores_.resize(of_host.size() * machine.cores);
  seats_.resize(ranks);
  for (std::size_t host = 0; host < of_host.size(); ++host) {
    const std::vector<Rank>& members = of_host[host];
    for (std::size_t i = 0; i < members.size(); ++i) {
      // As many ranks on each processor as on any other, or one less.
      const std::size_t core =
          host * machine.cores + i * machine.cores / std::max(members.size(), std::size_t{machine.cores});
      seats_[members[i]].core = static_cast<std::uint32_t>(core);
      seats_[members[i]].number = static_cast<std::uint32_t>(cores_[core].ranks.size());
      cores_[core].ranks.push_back(members[i]);
    }
  }
}

void Processors::ask(Rank rank, Picoseconds now) noexcept {
  seats_[rank].asked = now;
  seats_[rank].asks = true;
}

void Processors::give_back(Rank rank, Picoseconds now) noexcept {
  Core& core = cores_[seats_[rank].core];
  core.taken = false;
  core.free_since = now;
}

/// When a processor that goes round comes to a rank that has asked.
Picoseconds Processors::comes_to(const Core& core, const Seat& seat) const noexcept {
  const Picoseconds from = std::max(seat.asked, core.free_since);
  if (core.last == kNoRank || machine_.turn == 0) return from;
  const Picoseconds count = core.ranks.size();
  // How many it has gone on by when the rank asks, and how many more there are up to that rank.
  const Picoseconds gone = (from - core.free_since) / machine_.turn;
  const Picoseconds at = (seats_[core.last].number + gone) % count;
  const Picoseconds more = (seat.number + count - at) % count;
  return more == 0 ? from : core.free_since + (gone + more) * machine_.turn;
}

/// The first rank to which the processor comes of those that have asked; of several at one time the first that asked.
Processors::Coming Processors::next_of(const Core& core) const noexcept {
  Coming next;
  for (const Rank rank : core.ranks) {
    if (!seats_[rank].asks) continue;
    const Picoseconds when = comes_to(core, seats_[rank]);
    const bool asked_before = next.to != kNoRank && seats_[rank].asked < seats_[next.to].asked;
    if (next.to == kNoRank || when < next.when || (when == next.when && asked_before)) next = {when, rank};
  }
  return next;
}

void Processors::take(Core& core, Rank rank) noexcept {
  core.last = rank;
  core.taken = true;
  seats_[rank].asks = false;
}

}  // namespace aqueduct::coll
