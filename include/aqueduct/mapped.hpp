#pragma once

#include <aqueduct/endpoint.hpp>

#include <cstdint>
#include <vector>

namespace aqueduct {

namespace detail {

/// As is_mapped, for a part whose window is closed: it may be mapped all the same (order.hpp).
[[gnu::cold]] bool is_mapped_without_window(const Endpoint& ep, Rank rank, SegmentId segment) noexcept;

}  // namespace detail

/// Whether a rank's part of a segment is mapped here, so that plain loads and stores reach it. Maps nothing.
///
/// Neighbours share a host (Endpoint::neighbours); their parts may still be out of reach, for instance memory that a
/// program attached, or with AQUEDUCT_NEAR=off. A part is mapped by the first call that needs it, or by `map_all`. False
/// for parts that are empty or do not exist, and for the parts of lost ranks. A fence that holds back operations changes
/// nothing in the answer.
///
/// Cost: a few loads if the answer is yes and no fence holds back anything, otherwise a call.
inline bool is_mapped(const Endpoint& ep, Rank rank, SegmentId segment = 0) noexcept {
  return ep.mapped(rank, segment, 0, 0) != nullptr || detail::is_mapped_without_window(ep, rank, segment);
}

/// Maps every part of a segment that can be mapped here, and returns how many are mapped now, with this rank's own.
///
/// Completion: when it returns. Parts that cannot be mapped are reached over the wire, and no later call tries them again.
/// Errors:     none; 0 if there is no such segment, and in a forked child.
/// Cost:       a system call for each part that was not mapped.
Rank map_all(Endpoint& ep, SegmentId segment = 0) noexcept;

/// The ranks whose parts of a segment are mapped here, in rising order. Maps nothing: call `map_all` first for all that
/// can be. Empty if there is no memory for the list.
std::vector<Rank> mapped_ranks(Endpoint& ep, SegmentId segment = 0) noexcept;

/// The address of a rank's part of a segment in the rank's own process; 0 if the part is empty or does not exist. Sends
/// nothing.
std::uint64_t base_of(Endpoint& ep, Rank rank, SegmentId segment = 0) noexcept;

}  // namespace aqueduct
