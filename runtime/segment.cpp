#include <aqueduct/segment.hpp>
#include <aqueduct/team.hpp>

#include "runtime/parts.hpp"

namespace aqueduct {
namespace {

using detail::EndpointState;

// Both forms: every rank tells every other of its part, or that it has none.
Result<std::pair<SegmentId, std::span<std::byte>>> make(Endpoint& ep, std::size_t bytes,
                                                        std::byte* own_memory) {
  EndpointState& state = ep.state();
  if (state.in_child()) return ErrorCode::invalid_argument;
  if (state.polling) return ErrorCode::in_handler;
  if (state.segments.size() >= state.segments.capacity()) {
    state.log.error(
        "no room for another segment: AQUEDUCT_SEGMENTS is {}, two of which are the job's own; raise it",
        state.segments.capacity());
    return ErrorCode::refused;
  }
  auto& parts = *state.owner;
  auto offer = runtime::offer_part(parts, state.segments.size(), bytes, own_memory);
  runtime::BlobWriter out;
  out.number(static_cast<std::uint64_t>(offer.status().code()));
  if (offer) offer->write(out, /*near=*/true, /*far=*/true);
  auto all = state.barriers->exchanges().exchange(ep.world().state(), out.blob());
  if (!all) {
    if (offer) runtime::withdraw_part(parts, state.segments.size(), *offer, own_memory != nullptr);
    return all.status();
  }
  std::vector<core::Part> known(state.ranks);
  Status first = offer.status();
  for (Rank rank = 0; rank < state.ranks; ++rank) {
    runtime::BlobReader in((*all)[rank]);
    const auto code = static_cast<ErrorCode>(in.number());
    if (code != ErrorCode::ok) {
      if (first.ok()) first = {code, rank};
      continue;
    }
    known[rank] = runtime::read_part(state, rank, in);
    if (!in.ok()) return {ErrorCode::internal, rank};
  }
  if (!first) {
    if (offer) runtime::withdraw_part(parts, state.segments.size(), *offer, own_memory != nullptr);
    return first;
  }
  const std::span<std::byte> mine = offer->memory;
  const SegmentId id = runtime::add_segment(state, mine, std::move(known));
  // Nobody writes to a part before its owner knows of it.
  if (auto known_to_all = state.barriers->exchanges().exchange(ep.world().state(), {}); !known_to_all) {
    return known_to_all.status();
  }
  return std::pair{id, mine};
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
