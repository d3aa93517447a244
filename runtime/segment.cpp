#include <aqueduct/segment.hpp>

#include "runtime/parts.hpp"
#include "team/team_state.hpp"

#include <new>

namespace aqueduct {
namespace {

using detail::EndpointState;
using detail::TeamState;

/// The members' ranks; null where member i is rank i.
std::shared_ptr<const std::vector<Rank>> ranks_of(const TeamState& team) {
  if (team.members.is_identity()) return nullptr;
  std::vector<Rank> ranks(team.size());
  for (Rank i = 0; i < team.size(); ++i) ranks[i] = team.members[i];
  return std::make_shared<const std::vector<Rank>>(std::move(ranks));
}

Status may_begin(const EndpointState& state) noexcept {
  if (state.in_child()) return ErrorCode::invalid_argument;
  return state.polling ? ErrorCode::in_handler : ErrorCode::ok;
}

Result<runtime::LocalPart> allocate(EndpointState& state, std::size_t bytes) noexcept try {
  return runtime::allocate_part(*state.owner, bytes);
} catch (const std::bad_alloc&) {
  state.log.error("there is no memory to describe a segment of {} bytes", bytes);
  return ErrorCode::no_memory;
}

}  // namespace

Segment::Segment(SegmentId id, std::span<std::byte> mine, Team& team)
    : state_(&team.state().endpoint),
      id_(id),
      members_(team.size()),
      mine_(mine),
      ranks_(ranks_of(team.state())) {}

Result<Segment> Segment::create(Team& team, std::size_t bytes) {
  EndpointState& state = team.state().endpoint;
  if (const Status status = may_begin(state); !status) return status;
  const auto part = allocate(state, bytes);
  const auto id = runtime::publish_part(*state.owner, team.state(), part);
  if (id) return Segment(*id, part->memory, team);
  return id.status();
}

Result<Segment> Segment::attach(Team& team, std::span<std::byte> memory) {
  EndpointState& state = team.state().endpoint;
  if (const Status status = may_begin(state); !status) return status;
  const auto id = runtime::publish_part(*state.owner, team.state(), runtime::LocalPart{memory, true});
  if (!id) return id.status();
  return Segment(*id, memory, team);
}

Status Segment::release() noexcept {
  if (const Status status = may_begin(*state_); !status) return status;
  return runtime::release_segment(*state_->owner, id_);
}

}  // namespace aqueduct
