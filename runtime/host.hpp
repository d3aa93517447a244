#pragma once

#include <aqueduct/config.hpp>

#include <cstddef>
#include <string>

namespace aqueduct::runtime {

/// A text that is equal for two processes exactly if they can share memory. It is
/// AQUEDUCT_HOST_ID if that is set. Otherwise it consists of the host's name, the kernel's
/// boot id, the namespace of process ids, and the launcher's name for the host: a launcher may
/// start ranks on several pretended hosts of one machine, and then they must not share memory.
std::string host_identity(const Config& config, const std::string& launchers_name);

/// How many processors this host has. The same for all ranks of the host, unlike how many of them each may use.
std::size_t processors_of_host() noexcept;

}  // namespace aqueduct::runtime
