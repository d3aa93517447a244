#pragma once

#include "core/endpoint_state.hpp"

#include <cstddef>
#include <cstdint>

namespace aqueduct::core {

/// Maps the part that `place` names, unless an earlier call has tried. Returns the address of `bytes` bytes there; null
/// if the conduit cannot map the part, or if the part does not exist.
[[gnu::cold]] std::byte* map_and_find(EndpointState& state, GlobalPtr<std::byte> place,
                                      std::uint64_t bytes) noexcept;

/// The address of `bytes` bytes at `place` if loads and stores reach them, otherwise null. The first call for a
/// neighbour's part maps it. Layers call this; users call Endpoint::local.
inline std::byte* find_mapped(EndpointState& state, GlobalPtr<std::byte> place,
                              std::uint64_t bytes) noexcept {
  std::byte* const found = state.segments.mapped(place, bytes);
  if (found != nullptr) [[likely]]
    return found;
  return map_and_find(state, place, bytes);
}

}  // namespace aqueduct::core
