#pragma once

#include <aqueduct/config.hpp>

#include <string>

namespace aqueduct::runtime {

/// What two processes have in common exactly when they can share memory: AQUEDUCT_HOST_ID if it is set, else the
/// host's name, the kernel's boot and the namespace of process numbers.
std::string host_identity(const Config& config);

}  // namespace aqueduct::runtime
