#pragma once

#include <string>

namespace aqueduct::conformance {

/// Why a fabric over InfiniBand or RoCE cannot be had on this host; empty: there is a device. Asked of the system and not of
/// a network's library, which would open the device here: processes that a case forks off are refused it then.
std::string why_no_rdma_device();

}  // namespace aqueduct::conformance
