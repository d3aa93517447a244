// Where peers put what is for a member's output, if members announce that (coll/schedule/announced.hpp).

#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"

#include <cstring>

namespace aqueduct::coll {

namespace {

/// An address as it travels: the rank is the sender's.
struct Announcement {
  std::uint64_t offset = 0;
  SegmentId segment = 0;
  std::uint32_t unused = 0;
};
static_assert(sizeof(Announcement) == kAnnouncementBytes);

}  // namespace

/// The place of this member's memory if all members of the team can name it: in a segment of which they all have a part.
/// Cost: a look at each segment, unless it is the one that was found last.
std::optional<GlobalPtr<std::byte>> TeamEngine::find_for_all(const std::byte* memory,
                                                             std::uint64_t bytes) noexcept {
  const auto offset_in = [&](SegmentId id) -> std::optional<std::uint64_t> {
    const std::span<const std::byte> mine = state_.segments[id].mine;
    const auto begin = reinterpret_cast<std::uintptr_t>(mine.data());
    const auto at = reinterpret_cast<std::uintptr_t>(memory);
    if (at < begin || at - begin > mine.size() || bytes > mine.size() - (at - begin)) return std::nullopt;
    for (Rank peer = 0; peer < ranks_; ++peer) {
      const core::SegmentPart* const part = state_.segments[id].part(team_.members[peer]);
      if (part == nullptr || part->reach == core::SegmentPart::Reach::none) return std::nullopt;
    }
    return at - begin;
  };
  const SegmentId count = state_.segments.size();
  for (SegmentId i = 0; i <= count; ++i) {
    const SegmentId id = i == 0 ? found_last_ : count - i;
    if (id >= count) continue;
    if (const auto offset = offset_in(id)) {
      found_last_ = id;
      return GlobalPtr<std::byte>{state_.rank, *offset, id};
    }
  }
  return std::nullopt;
}

/// Whether peers put right into the output of the run. Found out once, before anything is announced.
bool TeamEngine::is_reached(Run& run) noexcept {
  if (run.output != Run::Output::unasked) return run.output == Run::Output::reached;
  const Shape& shape = run.operation->call->run;
  const Rank blocks = blocks_out(run.operation->call->request.shape, position_);
  const std::uint64_t bytes = blocks == 0 ? 0 : (blocks - 1) * shape.pitch + run.bytes;
  const auto found = bytes != 0 ? find_for_all(run.out, bytes) : std::nullopt;
  if (found) run.output_at = *found;
  run.output = found ? Run::Output::reached : Run::Output::not_reached;
  return found.has_value();
}

/// Writes down the address that a step announces.
const std::byte* TeamEngine::write_down(Run& run, const Step& step) noexcept {
  Announcement announcement;
  if (is_reached(run)) {
    announcement = {run.output_at.offset() + step.with.offset, run.output_at.segment()};
  } else {
    const MemberPlace& mine = places_[position_];
    announcement = {mine.offset + run.portion.offset + step.from.offset, mine.segment};
  }
  std::byte* const at = here(run, {Space::temp, step.slot, 0});
  std::memcpy(at, &announcement, sizeof announcement);
  return at;
}

/// The place to which the peer of a step lets it put.
GlobalPtr<std::byte> TeamEngine::announced(const Run& run, const Step& step) const noexcept {
  Announcement announcement;
  std::memcpy(&announcement, here(run, {Space::scratch, step.slot, 0}), sizeof announcement);
  return {team_.members[step.peer], announcement.offset + step.to.offset, announcement.segment};
}

}  // namespace aqueduct::coll
