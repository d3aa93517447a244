#pragma once

#include <aqueduct/config.hpp>

#include <string>

namespace aqueduct::runtime {

/// What two processes have in common exactly when they can share memory: AQUEDUCT_HOST_ID if it is set, else the
/// host's name, the kernel's boot and the namespace of process numbers, and what the launcher calls the host: one that
/// starts ranks on pretended hosts of one machine means them to be apart.
std::string host_identity(const Config& config, const std::string& launchers_name);

}  // namespace aqueduct::runtime
