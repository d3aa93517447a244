// A team gets scratch in other memory: the program's own, or the library's again.

#include "coll/engine/blocks_methods.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

namespace aqueduct::coll {

void Collectives::offer_again(const TeamState& team, ScratchProposal& proposal) noexcept {
  TeamOffer& mine = teams_.find(team.id)->second.mine;
  // A team that found no memory has no counters either.
  if (mine.counters == 0) mine = offers_.take_counters(team.size());
  proposal.offer = mine;
}

Result<ScratchSizes> Collectives::sizes_within(TeamState& team,
                                               std::span<const ScratchProposal> all) noexcept {
  const Rank members = team.size();
  if (members == 1) return ScratchSizes{};
  const TeamEngine& engine = *engine_of(team);
  const bool given = std::any_of(all.begin(), all.end(), [](const auto& one) { return one.given != 0; });
  std::uint64_t counters = UINT64_MAX;
  Rank least = 0;
  for (Rank i = 0; i < members; ++i) {
    counters = std::min(counters, all[i].offer.counters);
    if (bytes_of(all[i], given, engine.board()) < bytes_of(all[least], given, engine.board())) least = i;
    if (all[i].given == 0) continue;
    const GlobalPtr<std::byte> piece(team.members[i], all[i].offset, all[i].segment);
    if (all[i].segment != core::kSignalSegment && state_.segments.check(piece, all[i].bytes)) continue;
    state_.log.error(
        "use_scratch on a team of {} ranks: rank {} gives memory in segment {}, which rank {} does not know",
        members, team.members[i], all[i].segment, state_.rank);
    return {ErrorCode::invalid_argument, team.members[i]};
  }
  const std::uint64_t bytes = bytes_of(all[least], given, engine.board());
  const ScratchRoom least_of_all = least_room(members);
  if (const auto sizes = ScratchLayout::sizes_within(bytes, counters, members)) return *sizes;
  if (bytes < least_of_all.bytes && given) {
    state_.log.error(
        "use_scratch on a team of {} ranks: each member must give at least {} bytes, in whole lines of {} "
        "bytes; rank {} "
        "gives {} of these",
        members, least_of_all.bytes, kScratchLine, team.members[least], bytes);
    return {ErrorCode::invalid_argument, team.members[least]};
  }
  state_.log.error(
      "use_scratch on a team of {} ranks: a member has too little of the library's own memory, of which each "
      "team needs "
      "{} counters: end teams that are not used any more (Team::end), or raise AQUEDUCT_COLL_COUNTERS and "
      "AQUEDUCT_COLL_SCRATCH on all ranks",
      members, least_of_all.counters);
  return {ErrorCode::invalid_argument, team.members[least]};
}

std::uint64_t Collectives::bytes_of(const ScratchProposal& one, bool given, const BoardRoom& board) noexcept {
  if (given) return one.bytes;
  return one.offer.bytes > taken_by(board) ? one.offer.bytes - taken_by(board) : 0;
}

Status Collectives::move_scratch(TeamState& team, const ScratchSizes& sizes,
                                 std::span<const ScratchProposal> all) noexcept try {
  if (team.size() == 1) return {};
  TeamEngine& engine = *engine_of(team);
  const std::uint64_t board = taken_by(engine.board());
  std::vector<MemberPlace> places;
  places.reserve(all.size());
  for (const ScratchProposal& one : all) {
    if (all[team.index].given != 0)
      places.push_back({one.offer.first_counter, one.offset, one.segment});
    else
      places.push_back({one.offer.first_counter, one.offer.offset + board});
  }
  const MemberPlace mine = places[team.index];
  std::byte* const bytes = state_.segments[mine.segment].mine.data() + mine.offset;
  engine.move_scratch(sizes, bytes, offers_.counters_of(all[team.index].offer),
                      TeamPlaces(std::move(places)));
  return {};
} catch (const std::bad_alloc&) {
  return {ErrorCode::no_memory, state_.rank};
}

/// All that was chosen was chosen for the former scratch, or for the former tree. Requires: nothing of the team is in flight here,
/// and it has no plans.
void TeamEngine::forget_choices() noexcept {
  chooser_.forget();
  forget_calls();
  for (const auto& one : barriers_) {
    drop_prepared(one->call);
    agreement_.forget(one->call.request.description);
  }
  barrier_ = nullptr;
  barriers_.clear();
  blocks_.reset();
}

/// Requires: nothing of the team is in flight on any member, and it has no plans. May throw std::bad_alloc: then the team is
/// to be broken.
void TeamEngine::move_scratch(const ScratchSizes& sizes, std::byte* bytes, std::span<std::uint64_t> words,
                              TeamPlaces places) {
  forget_choices();
  base_ = bytes;
  places_ = std::move(places);
  scratch_missed_ = false;
  // Counted from now on: the last raise of the former scratch has arrived, and none of the new one can have.
  layout_.emplace(sizes, ranks_);
  words_ = words.first(layout_->counters());
  have_counters(CounterWords(words_));
  prepare_barriers();
}

}  // namespace aqueduct::coll
