#pragma once

#include "kernels/processor.hpp"
#include "vis/cursor.hpp"
#include "vis/normalise.hpp"

#include <cstddef>
#include <cstdint>

namespace aqueduct::vis {

using kernels::Processor;

/// Copies the first `count` pieces of one row to another row of the same piece length. Places are addresses.
void copy_rows(const Row& to, const Row& from, std::uint64_t count,
               const Processor& has = Processor::here()) noexcept;

/// Copies `bytes` bytes from one cursor to the other, and advances both. Requires: both have as many bytes left.
void copy_between(Cursor& to, Cursor& from, std::uint64_t bytes) noexcept;

/// Copies as the nest of loops says, between these addresses.
void run_nest(const Nest& nest, std::byte* to, const std::byte* from,
              const Processor& has = Processor::here()) noexcept;

}  // namespace aqueduct::vis
