#pragma once

#include <string>

namespace aqueduct::conformance {

/// Why this host cannot have a fabric over InfiniBand or RoCE; empty: there is a device. Asks the
/// system rather than a network's library, which would open the device in this process: the
/// library would then refuse it to forked children.
std::string why_no_rdma_device();

}  // namespace aqueduct::conformance
