#pragma once

#include "vis/cursor.hpp"
#include "vis/normalise.hpp"
#include "vis/processor.hpp"

#include <cstddef>
#include <cstdint>

namespace aqueduct::vis {

/// Copies the first `count` pieces of a row to those of another of the same piece length. Places are addresses.
void copy_rows(const Row& to, const Row& from, std::uint64_t count,
               const Processor& has = Processor::here()) noexcept;

/// Copies `bytes` bytes, no more than either has left, from where one cursor is to where the other is, and moves both.
void copy_between(Cursor& to, Cursor& from, std::uint64_t bytes) noexcept;

/// Runs the loops, from and to these addresses.
void run_nest(const Nest& nest, std::byte* to, const std::byte* from,
              const Processor& has = Processor::here()) noexcept;

}  // namespace aqueduct::vis
