#include <aqueduct/segment.hpp>

#include "coll/barriers.hpp"
#include "core/entry.hpp"
#include "runtime/parts.hpp"
#include "team/team_state.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>

namespace aqueduct {
namespace {

using detail::EndpointState;
using detail::TeamState;

using Ranks = std::shared_ptr<const std::vector<Rank>>;

/// The members' ranks; null where member i is rank i.
Result<Ranks> ranks_of(const TeamState& team) noexcept try {
  if (team.members.is_identity()) return Ranks();
  std::vector<Rank> ranks(team.size());
  for (Rank i = 0; i < team.size(); ++i) ranks[i] = team.members[i];
  return Ranks(std::make_shared<const std::vector<Rank>>(std::move(ranks)));
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

Status may_begin(const EndpointState& state) noexcept {
  if (state.in_child()) return ErrorCode::invalid_argument;
  return state.must_not_wait() ? ErrorCode::in_handler : ErrorCode::ok;
}

Result<runtime::LocalPart> allocate_here(EndpointState& state, std::size_t bytes) noexcept try {
  return runtime::allocate_part(*state.owner, bytes);
} catch (const std::bad_alloc&) {
  state.log.error("there is no memory to describe a segment of {} bytes", bytes);
  return ErrorCode::no_memory;
}

/// The caller's memory. Refuses null and what goes past the end of all addresses: a peer's transfer there would end this process.
Result<runtime::LocalPart> attach_here(EndpointState& state, std::span<std::byte> memory) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(memory.data());
  const bool wraps = memory.size() > std::numeric_limits<std::uintptr_t>::max() - at;
  if (!memory.empty() && (at == 0 || wraps || memory.size() > std::numeric_limits<std::ptrdiff_t>::max())) {
    state.log.error("there is no memory of {} bytes at address {:#x}: a segment cannot be attached to it",
                    memory.size(), at);
    return {ErrorCode::invalid_argument, state.rank};
  }
  return runtime::LocalPart{memory, true};
}

}  // namespace

Segment::Segment(SegmentId id, std::span<std::byte> mine, Team& team, Members ranks)
    : link_(team.state().endpoint.link),
      id_(id),
      members_(team.size()),
      mine_(mine),
      ranks_(std::move(ranks)) {}

// The members' ranks are listed first, because that may fail. Once the other members know of this part, nothing may
// fail on this rank alone.
Result<Segment> Segment::create(Team& team, std::size_t bytes) {
  if (coll::barrier_of(team.state()) == nullptr) return ErrorCode::closed;  // its endpoint may be gone
  core::Entry entry(team.state().endpoint);
  EndpointState& state = team.state().endpoint;
  if (const Status status = may_begin(state); !status) return status;
  auto ranks = ranks_of(team.state());
  const auto part = ranks ? allocate_here(state, bytes) : ranks.status();
  const auto id = runtime::publish_part(*state.owner, team.state(), part);
  if (!id) return id.status();
  return Segment(*id, part->memory, team, *std::move(ranks));
}

Result<Segment> Segment::attach(Team& team, std::span<std::byte> memory) {
  if (coll::barrier_of(team.state()) == nullptr) return ErrorCode::closed;
  core::Entry entry(team.state().endpoint);
  EndpointState& state = team.state().endpoint;
  if (const Status status = may_begin(state); !status) return status;
  auto ranks = ranks_of(team.state());
  const auto part = ranks ? attach_here(state, memory) : ranks.status();
  const auto id = runtime::publish_part(*state.owner, team.state(), part);
  if (!id) return id.status();
  return Segment(*id, memory, team, *std::move(ranks));
}

SegmentMemory::~SegmentMemory() {
  EndpointState* const state = link_ != nullptr ? *link_ : nullptr;
  if (state == nullptr || state->in_child()) return;
  const core::Entry entry(*state);
  runtime::free_part(*state->owner, {bytes_});
}

Result<SegmentMemory> Segment::allocate(Endpoint& ep, std::size_t bytes) {
  EndpointState& state = ep.state();
  const core::Entry entry(state);
  if (const Status status = may_begin(state); !status) return status;
  const auto part = allocate_here(state, bytes);
  if (!part) return part.status();
  return SegmentMemory(state.link, part->memory);
}

// A member without memory takes part all the same, because the others wait for it.
Result<Segment> Segment::publish(Team& team, Result<SegmentMemory> memory) {
  if (coll::barrier_of(team.state()) == nullptr) return ErrorCode::closed;
  EndpointState& state = team.state().endpoint;
  const core::Entry entry(state);
  if (const Status status = may_begin(state); !status) return status;
  auto ranks = ranks_of(team.state());
  Result<runtime::LocalPart> part = memory.status();
  if (memory) {
    const bool fits = memory->link_ == state.link;
    if (!fits)
      state.log.error(
          "the memory given to Segment::publish is another endpoint's, or was published before: give it what "
          "Segment::allocate of the team's endpoint returns, once");
    part = !fits   ? Result<runtime::LocalPart>(Status(ErrorCode::invalid_argument, state.rank))
           : ranks ? Result<runtime::LocalPart>(runtime::LocalPart{memory->bytes_})
                   : ranks.status();
    if (part) memory->link_ = nullptr;  // publish_part has it now, and frees it if it fails
  }
  const auto id = runtime::publish_part(*state.owner, team.state(), part);
  if (!id) return id.status();
  return Segment(*id, part->memory, team, *std::move(ranks));
}

Status Segment::release() noexcept {
  EndpointState* const state = endpoint();
  if (state == nullptr) return ErrorCode::closed;
  core::Entry entry(*state);
  if (const Status status = may_begin(*state); !status) return status;
  return runtime::release_segment(*state->owner, id_);
}

}  // namespace aqueduct
