#pragma once

#include <aqueduct/status.hpp>

namespace aqueduct::conduits::ofi {

/// What an error of libfabric's (a positive FI_E…) means for the operation that it ended.
ErrorCode code_of(int error) noexcept;

}  // namespace aqueduct::conduits::ofi
