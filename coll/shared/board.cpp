#include "coll/shared/board.hpp"

#include "core/mapping.hpp"
#include "core/signals.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <utility>

#include <sched.h>

namespace aqueduct::coll {

namespace {

/// Stands for a part that cannot be mapped: nobody has published anything there.
alignas(kBoardLine) std::byte
    nowhere[BoardRoom{.slots = kMostSlotsOfCrowded, .narrow = kMostNarrow, .bulk = kMostBulk}.bytes()];

/// Specified in issue 19: how soon the loss of a member is known.
constexpr std::chrono::seconds kLossIsKnown{2};

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
      members_[i].sleeping = &kAwake;
      members_[i].part = state.segments[core::kSignalSegment].mine.data() + offsets[i];
      continue;
    }
    core::CrossMap* const map = state.conduit(ranks[i]).cross_map();
    const core::CrossMap::Sleeper sleeper =
        map != nullptr ? map->sleeper(ranks[i]) : core::CrossMap::Sleeper{};
    if (sleeper.word != nullptr) members_[i].sleeping = sleeper.word;
    one_process_ = one_process_ && map != nullptr && map->in_this_process(ranks[i]);
    fenced_ = fenced_ && sleeper.fenced;
  }
}

std::uint64_t MappedBoards::processor() noexcept {
  const int number = ::sched_getcpu();
  return number < 0 ? 0 : static_cast<std::uint64_t>(number) + 1;
}

std::byte* MappedBoards::map(Rank member) noexcept {
  Member& one = members_[member];
  one.part = core::find_mapped(*state_, {one.rank, one.offset, core::kSignalSegment}, bytes_);
  if (one.part != nullptr) return one.part;
  // The operation waits, until the engine has seen this.
  unreachable(member);
  one.part = nowhere;
  return one.part;
}

/// Whether the bytes lie in a segment that all members can map. Keeps it.
bool MappedBoards::find_segment(const std::byte* memory, std::uint64_t bytes) noexcept {
  const auto holds = [&](std::span<std::byte> part) {
    return !part.empty() && memory >= part.data() &&
           static_cast<std::uint64_t>(memory - part.data()) <= part.size() &&
           bytes <= part.size() - static_cast<std::uint64_t>(memory - part.data());
  };
  const auto& segments = state_->segments;
  if (holds(mine_) && segment_ < segments.size() && segments[segment_].mine.data() == mine_.data())
    return true;
  for (SegmentId id = 0; id < segments.size(); ++id) {
    const core::SegmentRecord& record = segments[id];
    // Attached memory can be mapped only inside its own process.
    if (record.released || record.attached || !holds(record.mine)) continue;
    for (const Member& member : members_) {
      const core::SegmentPart* const part = record.part(member.rank);
      if (part == nullptr || part->reach == core::SegmentPart::Reach::none) return false;
    }
    segment_ = id;
    mine_ = record.mine;
    return true;
  }
  return false;
}

void MappedBoards::prepare_copies() noexcept {
  if (one_process_ || (copies_ != nullptr && copies_->over())) return;
  if (copies_ == nullptr) {
    std::vector<Rank> ranks;
    try {
      for (const Member& member : members_) ranks.push_back(member.rank);
      copies_ = std::make_unique<ProcessCopies>(*state_, std::move(ranks), me_);
    } catch (const std::bad_alloc&) {
      return;  // the next call tries again
    }
  }
  copies_->prepare([this](Rank member) -> BoardHead& { return head(member); });
}

bool MappedBoards::fetch(Rank member, std::byte* to, const std::byte* from, std::uint64_t bytes) noexcept {
  if (not_copied_ == kNoRank && copies_->read(member, to, from, bytes)) return true;
  const Rank rank = members_[member].rank;
  if (not_copied_ == kNoRank && !state_->lost[rank]) {
    state_->log.warn(
        "the system does not copy {} bytes out of the memory of rank {} any more ({}): if the rank has not "
        "ended, its memory is of a kind that cannot be copied, or the right to copy it was given up; "
        "AQUEDUCT_SMP_CMA=off does without such copies",
        bytes, rank, std::strerror(errno));
  }
  if (not_copied_ == kNoRank) not_copied_ = rank;
  unreachable(member);
  return false;
}

BufferNote MappedBoards::note(const std::byte* memory, std::uint64_t bytes, bool copies) noexcept {
  if (memory == nullptr || bytes == 0) return {};
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  if (one_process_) return {.at = address, .segment = 0, .kind = BufferNote::address};
  if (!find_segment(memory, bytes)) {
    if (!copies || copies_ == nullptr || !copies_->can_read(memory, bytes)) return {};
    return {.at = address, .segment = 0, .kind = BufferNote::of_process};
  }
  return {.at = static_cast<std::uint64_t>(memory - mine_.data()),
          .segment = segment_,
          .kind = BufferNote::in_segment};
}

std::byte* MappedBoards::reach(Rank member, const BufferNote& note, std::uint64_t bytes) noexcept {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a pointer of this process, or for `fetch`
  if (note.kind == BufferNote::address || note.kind == BufferNote::of_process)
    return reinterpret_cast<std::byte*>(note.at);
  std::byte* const found = core::find_mapped(*state_, {members_[member].rank, note.at, note.segment}, bytes);
  if (found == nullptr) unreachable(member);
  return found;
}

/// The memory of a process that has died cannot be mapped any more, and nobody may know of its death yet.
void MappedBoards::unreachable(Rank member) noexcept {
  if (!state_->lost[members_[member].rank] && !unreached_) unreached_ = state_->clock.now();
}

bool MappedBoards::waited_for_loss() const noexcept {
  return state_->clock.now() - *unreached_ >= kLossIsKnown;
}

void MappedBoards::wake_slowly(Rank member) noexcept {
  if (members_[member].sleeping == &kMayBeAsleep) state_->notifications.fetch_add(1);
  state_->wake(members_[member].rank);
}

}  // namespace aqueduct::coll
