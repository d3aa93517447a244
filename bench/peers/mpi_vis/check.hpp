#pragma once

#include "bench/peers/mpi_vis/library.hpp"

#include <cstdint>

namespace peers {

/// Before an operation: what is to travel has a pattern made from `seed`, what is to arrive has none of it.
void prepare(Library& library, Operation operation, const Layout& layout, int rank, std::uint64_t seed);

/// After it: everything has arrived on this rank and nothing else was touched, or stderr says the first wrong byte.
bool arrived(Library& library, Operation operation, const Layout& layout, int rank, std::uint64_t seed);

}  // namespace peers
