#include "coll/engine/team_offers.hpp"

#include "core/signals.hpp"

#include <algorithm>
#include <cstring>

namespace aqueduct::coll {

using aqueduct::detail::EndpointState;

namespace {

// Chosen: with the default settings the first dozen of teams get the whole of what the setting says, and a thousand teams of
// 16 members have scratch. Teams with the least room need more of the counters than of the bytes.
constexpr std::uint64_t kShareOfLoose = 4;
constexpr std::uint64_t kLooseBytes = 2;     ///< half of them
constexpr std::uint64_t kLooseCounters = 8;  ///< an eighth

/// As many counters as a team with so much memory can use. Requires: at least the least room.
std::uint64_t useful_counters(std::uint64_t bytes, Rank ranks) noexcept {
  const auto sizes = ScratchLayout::sizes_within(bytes, UINT64_MAX, ranks);
  return sizes ? ScratchLayout(*sizes, ranks).counters() : 0;
}

/// What a team may have of `free`. Of `all`, which were free before there was a team, one part in `loose` is for teams to
/// have more than they need; the rest is kept.
std::uint64_t share(std::uint64_t all, std::uint64_t loose, std::uint64_t free) noexcept {
  const std::uint64_t kept = all - all / loose;
  return free > kept ? (free - kept) / kShareOfLoose : 0;
}

TeamOffer world_offer(const core::HiddenLayout& part, const ScratchRoom& room) noexcept {
  if (part.counters == 0) return {};
  return {part.first_counter, part.scratch_at, room.counters, room.bytes};
}

}  // namespace

ScratchRoom least_room(Rank members) noexcept {
  const ScratchLayout layout(least_scratch(members), members);
  return {layout.bytes(), layout.counters()};
}

ScratchRoom world_room(const core::HiddenSizes& sizes, Rank ranks) noexcept {
  const ScratchRoom least = least_room(ranks);
  const std::uint64_t half = (sizes.scratch - sizes.board) / 2 / kScratchLine * kScratchLine + sizes.board;
  const std::uint64_t bytes = std::min(sizes.scratch, std::max(half, least.bytes));
  const std::uint64_t counters = std::min(sizes.counters / 2, useful_counters(bytes, ranks));
  return {bytes, std::min(sizes.counters, std::max(counters, least.counters))};
}

std::optional<ScratchSizes> agreed_sizes(std::span<const TeamOffer> all) noexcept {
  return agreed_sizes(all, BoardRoom{});
}

BoardRoom agreed_board(std::span<const TeamOffer> all, bool crowded) noexcept {
  std::uint64_t least = UINT64_MAX;
  for (const TeamOffer& offer : all) least = std::min(least, offer.bytes);
  if (all.size() <= 1) return {};
  return board_within(least, least_room(static_cast<Rank>(all.size())).bytes, crowded);
}

std::optional<ScratchSizes> agreed_sizes(std::span<const TeamOffer> all, const BoardRoom& board) noexcept {
  if (all.empty()) return std::nullopt;
  ScratchRoom room{UINT64_MAX, UINT64_MAX};
  for (const TeamOffer& offer : all) {
    room.bytes = std::min(room.bytes, offer.bytes);
    room.counters = std::min(room.counters, offer.counters);
  }
  if (room.bytes < taken_by(board)) return std::nullopt;
  return ScratchLayout::sizes_within(room.bytes - taken_by(board), room.counters,
                                     static_cast<Rank>(all.size()));
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
              state.hidden.scratch - world.bytes),
      all_{memory_.free_bytes(), memory_.free_counters()} {}

TeamOffer TeamOffers::take(Rank members) noexcept {
  if (members == 1) return {};
  const ScratchRoom least = least_room(members);
  const std::uint64_t loose_bytes = share(all_.bytes, kLooseBytes, memory_.free_bytes());
  const std::uint64_t loose_counters = share(all_.counters, kLooseCounters, memory_.free_counters());
  ScratchRoom room;
  room.bytes = std::max(least.bytes, std::min(most_bytes_, loose_bytes));
  // A board for short payloads is worth more than a share of what is loose.
  if (room.bytes < least.bytes + taken_by(kLeanBoard) &&
      loose_bytes * kShareOfLoose >= least.bytes + taken_by(kLeanBoard))
    room.bytes = least.bytes + taken_by(kLeanBoard);
  room.counters = std::max(least.counters, std::min(useful_counters(room.bytes, members), loose_counters));
  auto place = memory_.take(room.bytes, room.counters);
  // What is free may be in pieces.
  if (!place) place = memory_.take(least.bytes, least.counters);
  if (!place) return {};
  // The numbers of a board rise from 0. Those of the team of all ranks are in memory that nobody has used.
  const BoardRoom most{.slots = kMostSlotsOfCrowded, .narrow = kMostNarrow, .bulk = 0};
  const std::uint64_t lines = std::min(taken_by(most), most_of_board(place->bytes));
  std::memset(part_ + first_byte_ + place->offset, 0, std::min(place->bytes, lines));
  return {first_counter_ + place->first_counter, first_byte_ + place->offset, place->counters, place->bytes};
}

TeamOffer TeamOffers::take_counters(Rank members) noexcept {
  if (members == 1) return {};
  const auto place = memory_.take(0, least_room(members).counters);
  if (!place) return {};
  return {first_counter_ + place->first_counter, first_byte_, place->counters, 0};
}

void TeamOffers::give_back(const TeamOffer& mine) noexcept {
  if (mine.counters == 0 || mine.offset < first_byte_) return;
  memory_.give_back(
      {mine.offset - first_byte_, mine.bytes, mine.first_counter - first_counter_, mine.counters});
}

std::span<std::uint64_t> TeamOffers::counters_of(const TeamOffer& mine) const noexcept {
  return {reinterpret_cast<std::uint64_t*>(part_) + mine.first_counter,
          static_cast<std::size_t>(mine.counters)};
}

}  // namespace aqueduct::coll
