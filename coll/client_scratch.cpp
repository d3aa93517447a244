// Scratch that the program gives to a team.

#include <aqueduct/coll_scratch.hpp>

#include "coll/barriers.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/exchange.hpp"
#include "coll/one_caller.hpp"
#include "core/entry.hpp"

#include <cstring>
#include <optional>
#include <vector>

namespace aqueduct {

using coll::ScratchProposal;
using detail::EndpointState;
using detail::TeamState;

namespace {

/// Where this member's piece is. Empty: in no segment of the program's.
std::optional<ScratchProposal> place_of(const EndpointState& state, std::span<std::byte> mine) noexcept {
  ScratchProposal proposal;
  if (mine.empty()) return proposal;
  const auto begin = reinterpret_cast<std::uintptr_t>(mine.data());
  for (SegmentId id = 0; id < state.segments.size(); ++id) {
    if (id == core::kSignalSegment) continue;
    const std::span<std::byte> part = state.segments[id].mine;
    const auto first = reinterpret_cast<std::uintptr_t>(part.data());
    if (begin < first || begin - first > part.size() || mine.size() > part.size() - (begin - first)) continue;
    const std::uint64_t skipped = coll::whole_lines(begin) - begin;
    proposal.segment = id;
    proposal.offset = begin - first + skipped;
    proposal.bytes =
        mine.size() > skipped ? (mine.size() - skipped) / coll::kScratchLine * coll::kScratchLine : 0;
    proposal.given = 1;
    return proposal;
  }
  return std::nullopt;
}

/// The members' proposals, in team order. May throw std::bad_alloc.
Result<std::vector<ScratchProposal>> proposals_of(const TeamState& team, const coll::Contributions& said) {
  std::vector<ScratchProposal> all(team.size());
  for (Rank i = 0; i < team.size(); ++i) {
    // A member that exchanges something else has made another call.
    if (said[i].size() != sizeof(ScratchProposal)) return {ErrorCode::mismatch, team.members[i]};
    std::memcpy(&all[i], said[i].data(), sizeof all[i]);
    if (all[i].form != ScratchProposal::kForm) return {ErrorCode::mismatch, team.members[i]};
  }
  return all;
}

/// What this member has against the call, before it knows of the others.
Status problem_of(TeamState& team, coll::Collectives& engine, std::span<std::byte> mine,
                  bool found) noexcept {
  const coll::BarrierState& barrier = *coll::barrier_of(team);
  const char* why = nullptr;
  if (!found)
    why = "the memory that was given is in no segment";
  else if (engine.is_scratch_of_another(team, mine))
    why = "some of the memory that was given is the scratch of another team";
  else if (barrier.waiting || barrier.in_flight() != 0)
    why = "a split-phase barrier of the team is not over";
  else if (coll::Collectives::has_plans(team))
    why = "plans of the team are bound: end them, and bind them after use_scratch";
  if (why == nullptr) return engine.drain(team);
  team.endpoint.log.error("use_scratch on a team of {} ranks by member {}: {}", team.size(), team.index, why);
  return ErrorCode::invalid_argument;
}

Status use_scratch_of(TeamState& team, std::span<std::byte> mine) try {
  EndpointState& state = team.endpoint;
  coll::Collectives& engine = *state.layer<coll::Collectives>();
  coll::Exchanges& exchanges = state.barriers->exchanges();
  std::optional<ScratchProposal> proposal = place_of(state, mine);
  Status problem = problem_of(team, engine, mine, proposal.has_value());
  if (problem) {
    engine.offer_again(team, *proposal);
    problem = coll::Collectives::engine_of(team)->broken();
  } else {
    proposal.emplace();
  }
  // Behind it nothing of the team is in flight: each member has come after its own operations were over.
  const auto said =
      exchanges.exchange(team, coll::SetUp::scratch, std::as_bytes(std::span(&*proposal, 1)), problem);
  if (!said) {
    // One that has failed alone takes part in what follows all the same: the others wait for it.
    const bool ends_for_all =
        said.status().code() == ErrorCode::peer_lost && team.find(said.status().peer()) != kNoRank;
    return ends_for_all ? said.status() : exchanges.agree(team, said.status());
  }
  const auto all = proposals_of(team, *said);
  const auto sizes = all ? engine.sizes_within(team, *all) : Result<coll::ScratchSizes>(all.status());
  if (const Status agreed = exchanges.agree(team, sizes.status()); !agreed) return agreed;
  // No member calls an operation before all have the new scratch.
  const Status moved = exchanges.agree(team, engine.move_scratch(team, *sizes, *all));
  if (!moved) coll::Collectives::engine_of(team)->fail(moved);
  return moved;
} catch (const std::bad_alloc&) {
  return {ErrorCode::no_memory, team.endpoint.rank};
}

}  // namespace

std::uint64_t least_scratch(const Team& team) noexcept { return coll::least_room(team.size()).bytes; }

Status use_scratch(Team& team, std::span<std::byte> mine) noexcept {
  TeamState& state = team.state();
  if (coll::barrier_of(state) == nullptr) return ErrorCode::closed;
  const core::Entry entry(state.endpoint);
  if (state.endpoint.in_child()) return ErrorCode::invalid_argument;
  if (state.endpoint.must_not_wait()) return ErrorCode::in_handler;
  if (coll::Collectives::engine_of(state) == nullptr) return ErrorCode::closed;
  const coll::OneCaller one(state);
  return use_scratch_of(state, mine);
}

}  // namespace aqueduct
