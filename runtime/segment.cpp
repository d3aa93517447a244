#include <aqueduct/segment.hpp>
#include <aqueduct/team.hpp>

#include "coll/exchange.hpp"
#include "runtime/parts.hpp"

#include <new>

namespace aqueduct {
namespace {

using detail::EndpointState;

/// This rank's part, or why there is none: which the others wait to be told.
Result<runtime::PartOffer> offer_here(EndpointState& state, std::size_t bytes, std::byte* own_memory) noexcept
    try {
  if (state.segments.size() >= state.segments.capacity()) {
    state.log.error(
        "no room for another segment: AQUEDUCT_SEGMENTS is {}, two of which are the job's own; raise it",
        state.segments.capacity());
    return ErrorCode::refused;
  }
  return runtime::offer_part(*state.owner, state.segments.size(), bytes, own_memory);
} catch (const std::bad_alloc&) {
  state.log.error("there is no memory to describe a segment of {} bytes", bytes);
  return ErrorCode::no_memory;
}

/// What all ranks offer, by rank; the first in rank order that has none takes the others' along.
Result<std::vector<bootstrap::Blob>> exchange_offers(EndpointState& state,
                                                     const Result<runtime::PartOffer>& mine) noexcept try {
  runtime::BlobWriter out;
  if (mine) mine->write(out, /*near=*/true, /*far=*/true);
  return state.barriers->exchanges().exchange(state.world->state(), out.blob(), mine.status());
} catch (const std::bad_alloc&) {
  return state.barriers->exchanges().exchange(state.world->state(), {}, ErrorCode::no_memory);
}

Status add(EndpointState& state, std::span<std::byte> mine, bool attached,
           std::span<const bootstrap::Blob> all) noexcept try {
  std::vector<core::Part> known(state.ranks);
  for (Rank rank = 0; rank < state.ranks; ++rank) {
    runtime::BlobReader in(all[rank]);
    known[rank] = runtime::read_part(state, rank, in);
    if (!in.ok()) return {ErrorCode::internal, rank};
  }
  runtime::add_segment(state, mine, std::move(known), attached);
  return {};
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

// Both forms: every rank tells every other of its part, or that it has none; then whether it has added the segment. So
// either all have it in the end, or none has, and nobody writes to a part before its owner knows of it.
Result<std::pair<SegmentId, std::span<std::byte>>> make(Endpoint& ep, std::size_t bytes,
                                                        std::byte* own_memory) noexcept {
  EndpointState& state = ep.state();
  if (state.in_child()) return ErrorCode::invalid_argument;
  if (state.polling) return ErrorCode::in_handler;
  const SegmentId id = state.segments.size();
  const auto offer = offer_here(state, bytes, own_memory);
  auto all = exchange_offers(state, offer);
  Status status = all.status();
  if (status) status = add(state, offer->memory, own_memory != nullptr, *all);
  const bool added = status.ok();
  // A rank that is lost has ended it for all; any other failure is told to those that may have had none.
  if (status.code() != ErrorCode::peer_lost)
    status = state.barriers->exchanges().agree(ep.world().state(), status);
  if (status) return std::pair{id, offer->memory};
  if (added) {
    state.segments.take_back();
    state.publish_segments();
  }
  if (offer) runtime::withdraw_part(*state.owner, id, *offer, own_memory != nullptr);
  return status;
}

}  // namespace

Result<Segment> Segment::create(Endpoint& ep, std::size_t bytes) {
  auto made = make(ep, bytes, nullptr);
  if (!made) return made.status();
  return Segment(made->first, made->second);
}

Result<Segment> Segment::attach(Endpoint& ep, std::span<std::byte> memory) {
  std::byte none;  // an empty span has no address, and yet is the caller's own
  auto made = make(ep, memory.size(), memory.empty() ? &none : memory.data());
  if (!made) return made.status();
  return Segment(made->first, memory);
}

}  // namespace aqueduct
