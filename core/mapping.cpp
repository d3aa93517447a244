#include "core/mapping.hpp"

#include <aqueduct/mapped.hpp>

#include "core/entry.hpp"

#include <new>

namespace aqueduct {

namespace core {
namespace {

Result<std::byte*> mapped_without_throw(CrossMap& map, Rank rank, const SegmentPart& part) noexcept try {
  return map.map(rank, part.map_key, part.bytes);
} catch (const std::bad_alloc&) {
  return {ErrorCode::no_memory, rank};
}

}  // namespace

std::byte* map_and_find(EndpointState& state, GlobalPtr<std::byte> place, std::uint64_t bytes) noexcept {
  auto checked = state.segments.check(place, bytes);
  if (!checked) return nullptr;
  SegmentPart& part = **checked;
  const Rank rank = place.rank();
  if (part.reach == SegmentPart::Reach::mapped && part.mapped_at != nullptr)
    return part.mapped_at + place.offset();  // its window is veiled: see core/peer_order.hpp
  if (part.reach != SegmentPart::Reach::unknown || part.map_key.empty() || state.lost[rank]) return nullptr;
  CrossMap* map = state.conduit_of[rank]->cross_map();
  if (map == nullptr) return nullptr;
  const auto base = mapped_without_throw(*map, rank, part);
  part.map_key.clear();  // one attempt: a part that cannot be mapped is reached over the wire from now on
  if (!base) return nullptr;
  part.mapped_at = *base;
  // The window serves atomics too: if a conduit maps memory, processors do all atomics (atomics_of in runtime/describe.cpp).
  state.segments.set_window(place.segment(), rank, *base, part.bytes);
  if (state.order.veiled(rank)) state.segments.veil(rank, true);
  return *base + place.offset();
}

}  // namespace core

namespace detail {

bool is_mapped_without_window(const Endpoint& ep, Rank rank, SegmentId segment) noexcept {
  EndpointState& state = const_cast<Endpoint&>(ep).state();
  const core::Entry entry(state);
  return state.segments.is_mapped(segment, rank);
}

}  // namespace detail

}  // namespace aqueduct
