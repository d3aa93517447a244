// What a program may ask about segments: how much memory there is for more, what is mapped, and where parts lie.

#include <aqueduct/mapped.hpp>
#include <aqueduct/segment.hpp>

#include "core/entry.hpp"
#include "core/mapping.hpp"
#include "runtime/memory_room.hpp"
#include "runtime/segment_parts.hpp"

#include <algorithm>
#include <new>

namespace aqueduct {
namespace {

/// What segments of this host were promised and have not touched. The memory counts as available until then.
std::uint64_t promised(const detail::EndpointState& state) {
  std::uint64_t bytes = 0;
  for (SegmentId id = 0; id < state.segments.size(); ++id) {
    for (const Rank rank : state.neighbours) {
      const std::uint64_t part = state.segments.bytes_of(id, rank);
      const std::byte* const at = state.face.mapped(rank, id, 0, 0);
      bytes += at != nullptr ? runtime::untouched({at, static_cast<std::size_t>(part)}) : part;
    }
  }
  return bytes;
}

}  // namespace

SegmentRoom Segment::most_bytes(Endpoint& ep) noexcept try {
  detail::EndpointState& state = ep.state();
  const core::Entry entry(state);
  if (state.in_child()) return {};
  const core::CrossMap* const map = runtime::mapper_of(state);
  const core::CrossMap::Room room = map != nullptr ? map->room() : core::CrossMap::Room{};
  std::uint64_t memory = std::min(runtime::machine_room(), runtime::cgroup_room());
  memory -= std::min(memory, promised(state));
  memory = std::min({memory, room.all, runtime::address_room(), std::uint64_t{PTRDIFF_MAX}});
  memory -= memory / 16;  // chosen: for the program itself
  return {std::min(memory / state.neighbours.size(), room.one), memory};
} catch (const std::bad_alloc&) {
  return {};
}

std::uint64_t Segment::base_of(Rank rank) const noexcept {
  detail::EndpointState* const state = endpoint();
  if (state == nullptr) return 0;
  const core::Entry entry(*state);
  return state->segments.base_of(id_, rank);
}

bool Segment::is_mapped(Rank rank) const noexcept {
  detail::EndpointState* const state = endpoint();
  return state != nullptr && aqueduct::is_mapped(state->face, rank, id_);
}

std::uint64_t base_of(Endpoint& ep, Rank rank, SegmentId segment) noexcept {
  const core::Entry entry(ep.state());
  return ep.state().segments.base_of(segment, rank);
}

Rank map_all(Endpoint& ep, SegmentId segment) noexcept {
  detail::EndpointState& state = ep.state();
  const core::Entry entry(state);
  Rank mapped = 0;
  for (Rank rank = 0; rank < ep.ranks(); ++rank)
    mapped += core::find_mapped(state, {rank, 0, segment}, 0) != nullptr ? 1 : 0;
  return mapped;
}

std::vector<Rank> mapped_ranks(Endpoint& ep, SegmentId segment) noexcept try {
  const core::Entry entry(ep.state());
  std::vector<Rank> ranks;
  for (Rank rank = 0; rank < ep.ranks(); ++rank) {
    if (is_mapped(ep, rank, segment)) ranks.push_back(rank);
  }
  return ranks;
} catch (const std::bad_alloc&) {
  return {};
}

}  // namespace aqueduct
