#include "coll/shared/board.hpp"

#include "core/mapping.hpp"
#include "core/signals.hpp"

namespace aqueduct::coll {

namespace {

/// Stands for a part that cannot be mapped: nobody has published anything there.
alignas(kBoardLine) std::byte nowhere[BoardRoom{.slots = kMostSlots, .bulk = kMostBulk}.bytes()];

}  // namespace

template class BoardOf<MappedBoards>;

MappedBoards::MappedBoards(aqueduct::detail::EndpointState& state, std::span<const std::uint64_t> offsets,
                           std::span<const Rank> ranks, Rank me, std::uint64_t bytes)
    : state_(&state), members_(ranks.size()), me_(me), bytes_(bytes) {
  fenced_ = true;
  for (Rank i = 0; i < members_.size(); ++i) {
    members_[i].offset = offsets[i];
    members_[i].rank = ranks[i];
    if (i == me) {
      members_[i].part = state.segments[core::kSignalSegment].mine.data() + offsets[i];
      continue;
    }
    core::CrossMap* const map = state.conduit(ranks[i]).cross_map();
    const core::CrossMap::Sleeper sleeper =
        map != nullptr ? map->sleeper(ranks[i]) : core::CrossMap::Sleeper{};
    members_[i].sleeping = sleeper.word;
    fenced_ = fenced_ && sleeper.fenced;
  }
}

std::byte* MappedBoards::map(Rank member) noexcept {
  Member& one = members_[member];
  one.part = core::find_mapped(*state_, {one.rank, one.offset, core::kSignalSegment}, bytes_);
  if (one.part != nullptr) return one.part;
  // The operation waits, until the engine has seen this.
  failed_ = true;
  one.part = nowhere;
  return one.part;
}

void MappedBoards::wake_slowly(Rank member) noexcept {
  if (members_[member].sleeping == nullptr) state_->notifications.fetch_add(1);
  state_->wake(members_[member].rank);
}

}  // namespace aqueduct::coll
