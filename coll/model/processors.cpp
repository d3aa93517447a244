#include "coll/model/processors.hpp"

namespace aqueduct::coll {

Processors::Processors(const Machine& machine, Rank ranks) : machine_(machine) {
  if (!machine.shares_cores()) return;
  const Rank hosts = machine.hosts(ranks);
  cores_.resize(std::size_t{hosts} * machine.cores);
  seats_.resize(ranks);
  waiting_.resize(hosts);
}

void Processors::ask(Rank rank, Picoseconds now) {
  seats_[rank].asked = now;
  seats_[rank].asks = true;
  waiting_[machine_.host_of(rank)].emplace(now, rank);
}

void Processors::give_back(Rank rank, Picoseconds now) noexcept {
  Core& core = cores_[seats_[rank].core];
  core.taken = false;
  core.free_since = now;
}

/// Who has waited longest for a processor; null: nobody waits.
const Processors::Asked* Processors::first_of(Waiting& waiting) const {
  while (!waiting.empty()) {
    const auto& [asked, rank] = waiting.top();
    if (seats_[rank].asks && seats_[rank].asked == asked) return &waiting.top();
    waiting.pop();
  }
  return nullptr;
}

/// The one that has been free longest, of several the first; null: each is taken, or is still with the rank that had it last.
Processors::Core* Processors::longest_free(Rank host, Picoseconds now) noexcept {
  Core* best = nullptr;
  Core* const first = &cores_[std::size_t{host} * machine_.cores];
  for (Core* core = first; core != first + machine_.cores; ++core) {
    if (core->taken || (core->last != kNoRank && core->free_since + machine_.turn > now)) continue;
    if (best == nullptr || core->free_since < best->free_since) best = core;
  }
  return best;
}

void Processors::take(Core& core, Rank rank) noexcept {
  core.last = rank;
  core.taken = true;
  seats_[rank].asks = false;
  seats_[rank].core = static_cast<std::uint32_t>(&core - cores_.data());
}

}  // namespace aqueduct::coll
