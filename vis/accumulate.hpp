#pragma once

#include <aqueduct/atomics.hpp>

#include "vis/cursor.hpp"

namespace aqueduct::vis {

/// The size of an element of that type, in bytes.
std::size_t atomic_bytes(AtomicType type) noexcept;

/// Adds `bytes` bytes of elements at `from` to those at `to`, each atomically.
/// Requires: `bytes` is a multiple of the element size, and `to` is aligned to it.
void add_elements(std::byte* to, const std::byte* from, std::uint64_t bytes, AtomicType type) noexcept;

/// As add_elements, between two cursors, whose places are addresses. Advances both by `bytes`.
void add_between(Cursor& to, Cursor& from, std::uint64_t bytes, AtomicType type) noexcept;

}  // namespace aqueduct::vis
