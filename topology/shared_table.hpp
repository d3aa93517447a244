#pragma once

#include "topology/machine.hpp"

#include <cstddef>
#include <functional>

namespace aqueduct::topology {

/// Gets the table that a host's ranks share: the first that asks reads the machine, the others copy what it has written.
///
/// `memory`: begins with zeroes, is aligned to 64 bytes, and is the same for all ranks of the host. If the table does not
/// fit, or the reader is not heard of again, each rank reads for itself: what they read is the same.
/// Throws std::bad_alloc.
///
/// Threads: any number, in any processes.
Reading read_shared(std::byte* memory, std::size_t bytes, const std::function<Reading()>& read);

}  // namespace aqueduct::topology
