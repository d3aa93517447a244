#pragma once

#include "core/network.hpp"

#include <span>

namespace aqueduct::conduits {

/// The conduits that were compiled in, in the order in which they are listed.
std::span<const core::ConduitEntry* const> builtin() noexcept;

/// Asks the system for what costs milliseconds once the process has several threads and nothing before. To be called
/// early: libraries of launchers and of networks have threads.
void prepare_process() noexcept;

}  // namespace aqueduct::conduits
