// The second half of making a segment: the members of a team tell each other of their parts.

#include "coll/barriers.hpp"
#include "coll/exchange.hpp"
#include "runtime/parts.hpp"
#include "runtime/set_up_call.hpp"
#include "team/team_state.hpp"

#include <algorithm>
#include <new>
#include <optional>

namespace aqueduct::runtime {
namespace {

using aqueduct::detail::EndpointState;
using aqueduct::detail::TeamState;

/// This rank's offer, or the reason why there is none. The other members wait for either.
Result<PartOffer> offer_here(EndpointParts& parts, SegmentId id, const Result<LocalPart>& mine) noexcept try {
  EndpointState& state = parts.state;
  if (!mine) return mine.status();
  if (id < state.segments.capacity()) return offer_part(parts, id, *mine);
  state.log.error(
      "no room for another segment: AQUEDUCT_SEGMENTS is {}, two of which are the job's own; raise it. "
      "Released ones count, too",
      state.segments.capacity());
  return ErrorCode::refused;
} catch (const std::bad_alloc&) {
  withdraw_part(parts, id);  // a conduit may have registered the part already
  parts.state.log.error("there is no memory to describe a segment of {} bytes", mine->memory.size());
  return ErrorCode::no_memory;
}

/// The offers of all members, by team index. If some members have none, every member gets the error of the first of
/// them in team order.
Result<coll::Contributions> exchange_offers(EndpointState& state, TeamState& team, SegmentId id,
                                            const Result<PartOffer>& mine) noexcept try {
  BlobWriter out;
  out.number(id);
  if (mine) mine->write(out, /*near=*/true, /*far=*/true);
  return state.barriers->exchanges().exchange(team, coll::SetUp::segment, out.blob(), mine.status());
} catch (const std::bad_alloc&) {
  return state.barriers->exchanges().exchange(team, coll::SetUp::segment, {}, ErrorCode::no_memory);
}

/// The highest number that a member has proposed, and whether all have proposed it.
struct Proposed {
  SegmentId highest = 0;
  bool by_all = true;
};

Status read_proposals(const TeamState& team, const coll::Contributions& all, Proposed& out) noexcept {
  for (Rank i = 0; i < team.size(); ++i) {
    BlobReader in(all[i]);
    const std::uint64_t id = in.number();
    if (!in.ok() || id > UINT32_MAX) return {ErrorCode::internal, team.members[i]};
    out.by_all = out.by_all && (i == 0 || id == out.highest);
    out.highest = std::max(out.highest, static_cast<SegmentId>(id));
  }
  return {};
}

Status add(EndpointState& state, const TeamState& team, const LocalPart& mine,
           const coll::Contributions& all) noexcept try {
  Rank lowest = team.members[0];
  Rank highest = lowest;
  for (Rank i = 1; i < team.size(); ++i) {
    lowest = std::min(lowest, team.members[i]);
    highest = std::max(highest, team.members[i]);
  }
  KnownParts known{lowest, std::vector<core::SegmentPart>(highest - lowest + std::size_t{1}), team.id};
  for (core::SegmentPart& part : known.parts) part.reach = core::SegmentPart::Reach::none;
  for (Rank i = 0; i < team.size(); ++i) {
    const Rank rank = team.members[i];
    BlobReader in(all[i]);
    static_cast<void>(in.number());
    known.parts[rank - known.first] = read_part(state, rank, in);
    if (!in.ok()) return {ErrorCode::internal, rank};
  }
  add_segment(state, mine, std::move(known));
  return {};
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

Status skip_to(EndpointState& state, SegmentId next) noexcept try {
  // A member whose capacity is reached offers nothing in the next attempt, and reports `refused` to the others.
  state.segments.skip_to(std::min(next, state.segments.capacity()));
  return {};
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

}  // namespace

// Every member proposes its own next number. If all propose the same number, the segment gets it. Members that have
// made different segments with other teams propose different numbers. Then all offer their parts again under the
// highest one, which no member has used. A last exchange tells whether all have added the segment: in the end either
// all have it or none has, and no rank writes to a part before its owner knows of the segment.
Result<SegmentId> publish_part(EndpointParts& parts, TeamState& team,
                               const Result<LocalPart>& mine) noexcept {
  EndpointState& state = parts.state;
  if (state.in_child()) return ErrorCode::invalid_argument;
  if (state.must_not_wait()) return ErrorCode::in_handler;
  const SetUpCall alone(state);
  if (!alone.status()) return alone.status();
  Result<LocalPart> local = mine;
  for (;;) {
    const SegmentId id = state.segments.size();
    const auto offer = offer_here(parts, id, local);
    auto all = exchange_offers(state, team, id, offer);
    Status status = all.status();
    Proposed wanted;
    if (status) status = read_proposals(team, *all, wanted);
    if (status && wanted.by_all) status = add(state, team, *local, *all);
    const bool added = status && wanted.by_all;
    // A lost member ends the attempt for all. Of any other failure the members that have succeeded must be told.
    const bool ends_for_all = status.code() == ErrorCode::peer_lost && team.find(status.peer()) != kNoRank;
    if (!ends_for_all) status = state.barriers->exchanges().agree(team, status);
    if (status && added) return id;
    if (added && status.code() == ErrorCode::peer_lost) {
      // A member that learns of the loss later may have the segment. So its number, keys and memory stay in use until
      // the job ends.
      static_cast<void>(state.segments.release(id));
      return status;
    }
    if (added) state.segments.take_back();
    if (offer) withdraw_part(parts, id);
    if (!status) {
      if (mine) free_part(parts, *mine);
      return status;
    }
    if (const Status skipped = skip_to(state, wanted.highest); !skipped) local = skipped;
  }
}

}  // namespace aqueduct::runtime
