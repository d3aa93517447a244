#include <aqueduct/endpoint.hpp>
#include <aqueduct/team.hpp>

#include "core/entry.hpp"
#include "core/mapping.hpp"
#include "core/refuse.hpp"
#include "core/wait.hpp"

namespace aqueduct {

std::uint64_t Endpoint::segment_bytes(Rank rank, SegmentId id) const noexcept {
  core::Entry entry(*state_);
  return state_->segments.bytes_of(id, rank);
}

std::span<const Rank> Endpoint::neighbours() const noexcept { return state_->neighbours; }

bool Endpoint::is_neighbour(Rank rank) const noexcept {
  return rank < ranks_ && state_->host_of[rank] == state_->host_of[rank_];
}

std::uint32_t Endpoint::host_of(Rank rank) const noexcept {
  return rank < ranks_ ? state_->host_of[rank] : kNoRank;
}

bool Endpoint::is_lost(Rank rank) const noexcept {
  core::Entry entry(*state_);
  return rank < ranks_ && state_->lost[rank];
}

std::string Endpoint::conduit_of(Rank rank) const {
  return rank < ranks_ ? state_->conduit_of[rank]->properties().name : std::string();
}

// Without an Entry, which would wait for another thread's handler to end.
bool Endpoint::in_handler() const noexcept {
  if (state_->guard.runs_handler_outside()) return true;
  return state_->guard.is_mine() && (state_->in_handler || state_->in_continuation);
}

Threads Endpoint::threads() const noexcept { return state_->guard.threads(); }

Statistics Endpoint::statistics() const noexcept {
  core::Entry entry(*state_);
  return state_->statistics;
}

std::span<const StatisticsRow> Endpoint::statistics_rows() const noexcept { return state_->statistics_rows; }

Team& Endpoint::world() noexcept { return *state_->world; }

Status Endpoint::wait_for(Event& event, std::chrono::nanoseconds limit) noexcept {
  core::Entry entry(*state_);
  return core::wait_for(*state_, event, limit);
}

Status Endpoint::wait_slowly(Event& event) noexcept {
  core::Entry entry(*state_);
  return core::wait_for(*state_, event, std::chrono::nanoseconds::max());
}

Status Endpoint::wait_to_the_end(Event& event) noexcept {
  core::Entry entry(*state_);
  return core::wait_to_the_end(*state_, event);
}

std::byte* Endpoint::map_and_find(GlobalPtr<std::byte> place, std::size_t bytes) noexcept {
  core::Entry entry(*state_);
  return core::map_and_find(*state_, place, bytes);
}

Status Endpoint::wait_implicit() noexcept {
  core::Entry entry(*state_);
  return state_->implicit.wait(std::chrono::nanoseconds::max());
}

bool Endpoint::test_implicit() noexcept {
  core::Entry entry(*state_);
  progress();
  return state_->implicit.in_flight() == 0;
}

Status Endpoint::begin_region() noexcept {
  core::Entry entry(*state_);
  if (state_->must_not_wait()) return ErrorCode::in_handler;
  if (state_->region != nullptr)
    return core::refuse_order(*state_,
                              "begin_region: an access region is open, and regions do not nest. Call "
                              "end_region first, or name a Group in the options");
  core::Op* op = state_->ops.acquire(core::kGroup, kNoRank, true);
  if (op == nullptr) return ErrorCode::refused;
  state_->region = op;
  return {};
}

Event Endpoint::end_region() noexcept {
  core::Entry entry(*state_);
  if (state_->must_not_wait())
    return Event(Status(ErrorCode::invalid_argument));  // the region is not its own
  core::Op* op = std::exchange(state_->region, nullptr);
  if (op == nullptr) return Event(core::refuse_order(*state_, "end_region: no access region is open"));
  state_->ops.part_ended(*op, {});
  return Event(op);
}

}  // namespace aqueduct
