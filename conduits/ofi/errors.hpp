#pragma once

#include <aqueduct/status.hpp>

#include <rdma/fi_errno.h>

#include <cstdint>

namespace aqueduct::conduits::ofi {

/// The status of an operation that ended with an error of libfabric's (a positive FI_E…).
ErrorCode code_of(int error) noexcept;

/// Whether a post that the provider refused with this (negative) answer may be tried again.
inline bool may_retry(std::int64_t answer) noexcept { return answer == -FI_EAGAIN || answer == -FI_ENOMEM; }

}  // namespace aqueduct::conduits::ofi
