// The end of a segment.

#include "am/messages.hpp"
#include "coll/barriers.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/exchange.hpp"
#include "core/wait.hpp"
#include "runtime/parts.hpp"
#include "runtime/set_up_call.hpp"
#include "team/team_state.hpp"

#include <cstring>
#include <string>

#include <sys/mman.h>

namespace aqueduct::runtime {
namespace {

using aqueduct::detail::EndpointState;
using aqueduct::detail::TeamState;

/// Waits until all members have called `release` for this segment. From then on no member begins an operation on it: also no
/// plan does, so none may be bound to it.
Status all_arrive(EndpointState& state, TeamState& team, SegmentId id) noexcept {
  Status problem;
  const auto* const collectives = state.layer<coll::Collectives>();
  if (const char* const use = collectives->use_of(state.segments[id].mine, id)) {
    state.log.error("Segment::release of segment {}: {}", id, use);
    problem = ErrorCode::invalid_argument;
  }
  const auto all = state.barriers->exchanges().exchange(team, coll::SetUp::release,
                                                        std::as_bytes(std::span(&id, 1)), problem);
  if (!all) return all.status();
  for (Rank i = 0; i < team.size(); ++i) {
    SegmentId other = 0;
    const core::Bytes said = (*all)[i];
    if (said.size() == sizeof other) std::memcpy(&other, said.data(), sizeof other);
    if (other == id) continue;
    state.log.error(
        "Segment::release of segment {}, while rank {} releases segment {}: the members of a team release "
        "their segments in the same order",
        id, team.members[i], other);
    return {ErrorCode::invalid_argument, team.members[i]};
  }
  return {};
}

/// Tells both conduits that local buffers in this memory end. The far conduit too may have registered a buffer in a
/// neighbour's part, although only the near conduit maps the part.
void end_memory(EndpointState& state, core::Bytes memory) noexcept {
  for (core::Conduit* const conduit : {state.near.get(), state.far.get()}) {
    if (conduit != nullptr && !memory.empty()) conduit->memory_ends(memory);
  }
}

/// Gives back the mapping and the keys through which this rank reached another rank's part.
void leave_part(EndpointState& state, Rank rank, const core::SegmentPart& part) noexcept {
  if (part.mapped_at != nullptr) {
    end_memory(state, {part.mapped_at, static_cast<std::size_t>(part.bytes)});
    state.conduit(rank).cross_map()->unmap(rank, part.mapped_at);
  }
  // The network may still hold operations to a lost peer, which use the keys.
  if (state.lost[rank]) return;
  for (const core::SegmentPart* one : {&part, static_cast<const core::SegmentPart*>(part.far.get())}) {
    if (one != nullptr && one->has_key) one->rma->forget_key(rank, one->key);
  }
}

/// Frees the memory but keeps the addresses and the keys, because members that do not know of the loss yet may still
/// write there. A write to an address without a key would break the connection, and two living ranks would lose each
/// other.
void give_pages_back(std::span<std::byte> memory) noexcept {
  if (memory.empty()) return;
  // MADV_REMOVE frees the pages of shared memory; MADV_DONTNEED only unmaps these, but frees private pages.
  if (::madvise(memory.data(), memory.size(), MADV_REMOVE) == 0) return;
  static_cast<void>(::madvise(memory.data(), memory.size(), MADV_DONTNEED));
}

}  // namespace

Status release_segment(EndpointParts& parts, SegmentId id) noexcept {
  EndpointState& state = parts.state;
  const SetUpCall alone(state);
  if (!alone.status()) return alone.status();
  if (id >= state.segments.size() || state.segments[id].released) return ErrorCode::closed;
  TeamState* const team = state.barriers->find(state.segments[id].team);
  if (team == nullptr) return ErrorCode::closed;
  const Status all_here = all_arrive(state, *team, id);
  // Of a mismatch: members have made different calls, as all of them know.
  if (all_here.code() == ErrorCode::invalid_argument || all_here.code() == ErrorCode::mismatch)
    return all_here;
  // Messages that came before the others' arrivals may name the segment; a thread that stands in has kept them.
  if (state.stand_in != nullptr) static_cast<void>(core::progress(state));
  // Their handlers read the payload where it is. Those outside the lock may still be queued, or run.
  const core::Bytes part = state.segments[id].mine;
  static_cast<void>(core::wait_until(
      state, [&] { return !state.messages->parallel().any_in(part); }, kNoRank,
      [] { return std::string("parallel handlers of long messages in a segment that is released"); }));

  const core::SegmentRecord ended = state.segments.release(id);
  for (Rank i = 0; i < ended.parts.size(); ++i) leave_part(state, ended.first + i, ended.parts[i]);
  const LocalPart mine{ended.mine, ended.attached};
  end_memory(state, mine.memory);
  if (all_here) {
    withdraw_part(parts, id);
    free_part(parts, mine);
  } else if (!mine.attached) {
    give_pages_back(mine.memory);
  }
  return all_here;
}

}  // namespace aqueduct::runtime
