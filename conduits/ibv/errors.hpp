#pragma once

#include <aqueduct/status.hpp>

#include <infiniband/verbs.h>

#include <string_view>

namespace aqueduct::conduits::ibv {

/// What the end of a work request means for the operation.
ErrorCode code_of(ibv_wc_status status) noexcept;
/// What an errno of the library means.
ErrorCode code_of_errno(int error) noexcept;
/// What to try when the library refuses something. For people; may be empty.
std::string_view advice_for_errno(int error) noexcept;
/// What probably is the matter, and what to try. For people; empty: the status says it all.
std::string_view advice_for(ibv_wc_status status) noexcept;

}  // namespace aqueduct::conduits::ibv
