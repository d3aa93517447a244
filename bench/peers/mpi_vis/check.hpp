#pragma once

#include "bench/peers/mpi_vis/library.hpp"

#include <cstdint>

namespace peers {

/// To be called before an operation: fills the source with a pattern made from
/// `seed`, and the target with something else.
void prepare(Library& library, Operation operation, const Layout& layout, int rank, std::uint64_t seed);

/// To be called after it. True if everything has arrived on this rank and nothing else was
/// touched; else prints the first wrong byte.
bool arrived(Library& library, Operation operation, const Layout& layout, int rank, std::uint64_t seed);

}  // namespace peers
