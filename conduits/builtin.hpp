#pragma once

#include "core/network.hpp"

#include <span>

namespace aqueduct::conduits {

/// The compiled-in conduits, in the order of the list.
std::span<const core::ConduitEntry* const> builtin() noexcept;

/// Makes system calls that cost milliseconds in a process of several threads and nothing in one of a single thread.
/// To be called early: launchers' and networks' libraries start threads.
void prepare_process() noexcept;

}  // namespace aqueduct::conduits
