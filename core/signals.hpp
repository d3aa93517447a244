#pragma once

#include "core/endpoint_state.hpp"

#include <atomic>
#include <cstdint>

namespace aqueduct::core {

/// The signal counters are a segment of their own, so that a neighbour can map them and add to them in place.
inline constexpr SegmentId kSignalSegment = 1;

inline std::uint64_t signal_slots(const EndpointState& state) noexcept {
  return state.segments[kSignalSegment].mine.size() / sizeof(std::uint64_t);
}

/// A counter in mapped memory. It is raised with release after the bytes that it announces, and read with acquire.
inline std::atomic_ref<std::uint64_t> counter_at(std::byte* counters, SignalSlot slot) noexcept {
  return std::atomic_ref<std::uint64_t>(reinterpret_cast<std::uint64_t*>(counters)[slot]);
}

inline std::atomic_ref<std::uint64_t> my_counter(EndpointState& state, SignalSlot slot) noexcept {
  return counter_at(state.segments[kSignalSegment].mine.data(), slot);
}

/// Adds to a counter of this endpoint. Ignores a slot that does not exist: the number comes from a peer.
inline void raise(EndpointState& state, Signal signal) noexcept {
  if (signal.slot < signal_slots(state)) {
    my_counter(state, signal.slot).fetch_add(signal.add, std::memory_order_release);
  }
}

}  // namespace aqueduct::core
