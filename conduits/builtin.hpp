#pragma once

#include "core/network.hpp"

#include <span>

namespace aqueduct::conduits {

/// The conduits that were compiled in, in order of preference.
std::span<const core::ConduitEntry* const> builtin() noexcept;

}  // namespace aqueduct::conduits
