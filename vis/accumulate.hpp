#pragma once

#include <aqueduct/atomics.hpp>

#include "vis/cursor.hpp"

namespace aqueduct::vis {

std::size_t atomic_bytes(AtomicType type) noexcept;

/// Adds the elements in `from` to those at `to`, each atomically. Requires: whole elements, `to` aligned.
void add_elements(std::byte* to, const std::byte* from, std::uint64_t bytes, AtomicType type) noexcept;

/// The same between two cursors, which go on by `bytes`. Places are addresses.
void add_between(Cursor& to, Cursor& from, std::uint64_t bytes, AtomicType type) noexcept;

}  // namespace aqueduct::vis
