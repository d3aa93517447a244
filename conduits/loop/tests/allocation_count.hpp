#pragma once

#include <cstdint>

namespace aqueduct::conduits::loop {

/// How often this thread has called operator new.
std::uint64_t allocations() noexcept;

}  // namespace aqueduct::conduits::loop
