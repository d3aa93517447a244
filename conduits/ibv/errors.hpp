#pragma once

#include <aqueduct/status.hpp>

#include <infiniband/verbs.h>

#include <string_view>

namespace aqueduct::conduits::ibv {

/// The error of an operation whose work request completed with this status.
ErrorCode code_of(ibv_wc_status status) noexcept;
/// The error for an errno of the library.
ErrorCode code_of_errno(int error) noexcept;
/// What to try when the library refuses something. For log messages; may be empty.
std::string_view advice_for_errno(int error) noexcept;
/// The probable cause, and what to try. For log messages; empty: the status is clear by itself.
std::string_view advice_for(ibv_wc_status status) noexcept;

}  // namespace aqueduct::conduits::ibv
