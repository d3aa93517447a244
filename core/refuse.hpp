#pragma once

#include <aqueduct/global_ptr.hpp>
#include <aqueduct/status.hpp>

#include "core/endpoint_state.hpp"

#include <cstdint>

namespace aqueduct::core {

// A Status has no room for which argument of a call is wrong, and what its limit is. These say it in the log, and return
// the Status of the call.

/// Whether one more refused call is named: a program that tries again and again would fill the log, so the first 64 are.
[[gnu::cold, gnu::noinline]] bool names_refusal(EndpointState& state) noexcept;

/// `bytes` bytes at `at` were refused with `why` by SegmentTable::check. Only out_of_range has more to say.
[[gnu::cold, gnu::noinline]] Status refuse_place(EndpointState& state, GlobalPtr<std::byte> at,
                                                 std::uint64_t bytes, Status why) noexcept;
/// The address of an atomic on `bytes` bytes is no multiple of them.
[[gnu::cold, gnu::noinline]] Status refuse_alignment(EndpointState& state, GlobalPtr<std::byte> at,
                                                     std::uint64_t bytes) noexcept;
/// There is no rank `to`.
[[gnu::cold, gnu::noinline]] Status refuse_rank(EndpointState& state, Rank to) noexcept;

/// The call is not legal at this point, as `why` says.
/// The system gives no memory for the first internal operation (OpPool::has_internal): no_memory.
[[gnu::cold, gnu::noinline]] Status refuse_without_records(EndpointState& state, Rank peer) noexcept;
[[gnu::cold, gnu::noinline]] Status refuse_order(EndpointState& state, const char* why) noexcept;

}  // namespace aqueduct::core
