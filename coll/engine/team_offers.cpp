#include "coll/engine/team_offers.hpp"

#include "core/signals.hpp"

#include <algorithm>

namespace aqueduct::coll {

using aqueduct::detail::EndpointState;

namespace {

// Chosen: several teams in a row get the whole of what the setting says, and later ones still get something.
constexpr std::uint64_t kShareOfFree = 8;

/// The part of the team of all ranks in the engine's memory. The same on all ranks.
ScratchRoom world_room(const core::HiddenSizes& sizes, Rank ranks) noexcept {
  const ScratchRoom least = least_room(ranks);
  const auto half = [](std::uint64_t all, std::uint64_t needed) {
    return std::min(all, std::max(all / 2 / kScratchLine * kScratchLine, whole_lines(needed)));
  };
  return {half(sizes.scratch, least.bytes), half(sizes.counters, least.counters)};
}

TeamOffer world_offer(const core::HiddenLayout& part, const ScratchRoom& room) noexcept {
  if (part.counters == 0) return {};
  return {part.first_counter, part.scratch_at, room.counters, room.bytes};
}

}  // namespace

ScratchRoom least_room(Rank most_members) noexcept {
  const auto counters = [](Rank ranks) { return ScratchLayout(least_scratch(ranks), ranks).counters(); };
  // A larger team may need fewer counters, because it has none for clears.
  return {ScratchLayout(least_scratch(most_members), most_members).bytes(),
          std::max(counters(most_members), counters(std::min(most_members, kMostCleared)))};
}

std::optional<ScratchSizes> agreed_sizes(std::span<const TeamOffer> all) noexcept {
  if (all.empty()) return std::nullopt;
  ScratchRoom room{UINT64_MAX, UINT64_MAX};
  for (const TeamOffer& offer : all) {
    room.bytes = std::min(room.bytes, offer.bytes);
    room.counters = std::min(room.counters, offer.counters);
  }
  return ScratchLayout::sizes_within(room.bytes, room.counters, static_cast<Rank>(all.size()));
}

std::vector<TeamOffer> world_offers(const EndpointState& state) {
  const ScratchRoom room = world_room(state.hidden, state.ranks);
  std::vector<TeamOffer> offers(state.ranks);
  for (Rank rank = 0; rank < state.ranks; ++rank)
    offers[rank] = world_offer(core::hidden_layout_of(state, rank), room);
  return offers;
}

TeamOffers::TeamOffers(EndpointState& state)
    : TeamOffers(state, world_offer(core::my_hidden_layout(state), world_room(state.hidden, state.ranks))) {}

TeamOffers::TeamOffers(EndpointState& state, const TeamOffer& world)
    : part_(state.segments[core::kSignalSegment].mine.data()),
      most_bytes_(static_cast<std::uint64_t>(state.config.number(kSetting.name))),
      first_counter_(world.first_counter + world.counters),
      first_byte_(world.offset + world.bytes),
      memory_(counters_of({first_counter_, 0, state.hidden.counters - world.counters, 0}),
              state.hidden.scratch - world.bytes) {}

TeamOffer TeamOffers::take(Rank most_members) noexcept {
  const ScratchRoom least = least_room(most_members);
  ScratchRoom room;
  room.bytes = std::max(least.bytes, std::min(most_bytes_, memory_.free_bytes() / kShareOfFree));
  // As many counters as a team of this size and memory can use.
  room.counters = least.counters;
  if (const auto sizes = ScratchLayout::sizes_within(room.bytes, UINT64_MAX, most_members)) {
    const std::uint64_t useful = ScratchLayout(*sizes, most_members).counters();
    room.counters = std::max(least.counters, std::min(useful, memory_.free_counters() / kShareOfFree));
  }
  auto place = memory_.take(room.bytes, room.counters);
  // What is free may be in pieces.
  if (!place) place = memory_.take(least.bytes, least.counters);
  if (!place) return {};
  return {first_counter_ + place->first_counter, first_byte_ + place->offset, place->counters, place->bytes};
}

void TeamOffers::give_back(const TeamOffer& mine) noexcept {
  if (mine.bytes == 0 || mine.offset < first_byte_) return;
  memory_.give_back(
      {mine.offset - first_byte_, mine.bytes, mine.first_counter - first_counter_, mine.counters});
}

std::span<std::uint64_t> TeamOffers::counters_of(const TeamOffer& mine) const noexcept {
  return {reinterpret_cast<std::uint64_t*>(part_) + mine.first_counter,
          static_cast<std::size_t>(mine.counters)};
}

}  // namespace aqueduct::coll
