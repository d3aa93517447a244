#pragma once

#include "tools/aqcheck/check.hpp"

#include <cstdint>
#include <memory>

namespace aqueduct::aqcheck {

/// Whether members may have blocks of different lengths, or a destination of their own.
bool has_blocks(coll::Operation operation) noexcept;

/// Blocks by chance, with empty ones among them, and with gaps between them, of at most `most` bytes; those of a permute
/// have `most`. `begin`: of the run, in each block.
std::shared_ptr<const CaseBlocks> chance_blocks(const coll::Shape& shape, std::uint64_t most,
                                                std::uint64_t begin, std::uint32_t seed);

}  // namespace aqueduct::aqcheck
