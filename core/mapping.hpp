#pragma once

#include "core/endpoint_state.hpp"

#include <cstddef>
#include <cstdint>

namespace aqueduct::core {

/// Maps the part that `place` names if nothing has tried so before, and finds the address of `bytes` bytes there. Null:
/// the conduit cannot map that part, or there is no such part.
[[gnu::cold]] std::byte* map_and_find(EndpointState& state, GlobalPtr<std::byte> place,
                                      std::uint64_t bytes) noexcept;

/// What Endpoint::local is to the user, for the layers: the address of `bytes` bytes at `place` if loads and stores
/// reach them, else null. The first call for a neighbour's part maps it.
inline std::byte* find_mapped(EndpointState& state, GlobalPtr<std::byte> place,
                              std::uint64_t bytes) noexcept {
  std::byte* const found = state.segments.mapped(place, bytes);
  if (found != nullptr) [[likely]]
    return found;
  return map_and_find(state, place, bytes);
}

}  // namespace aqueduct::core
