#pragma once

#include "core/network.hpp"

#include <span>

namespace aqueduct::conduits {

/// The conduits that were compiled in, in the order in which they are listed.
std::span<const core::ConduitEntry* const> builtin() noexcept;

}  // namespace aqueduct::conduits
