#pragma once

#include "core/network.hpp"

namespace aqueduct::conduits::ibv {

extern const core::ConduitEntry ibv_entry;

}  // namespace aqueduct::conduits::ibv
