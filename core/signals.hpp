#pragma once

#include "core/endpoint_state.hpp"
#include "core/hidden_layout.hpp"

#include <atomic>
#include <cstdint>

namespace aqueduct::core {

/// The signal counters are a segment of their own, so that a neighbour can map them and add to them in place. The memory
/// of the collectives engine is in it too, behind the program's counters: hidden_layout.hpp.
inline constexpr SegmentId kSignalSegment = 1;

/// The layout of this rank's part.
inline HiddenLayout my_hidden_layout(const EndpointState& state) noexcept {
  return HiddenLayout::of(state.segments[kSignalSegment].mine.size(), state.hidden);
}
/// The layout of a peer's part; all 0 if there is none.
inline HiddenLayout hidden_layout_of(const EndpointState& state, Rank peer) noexcept {
  return HiddenLayout::of(state.segments.bytes_of(kSignalSegment, peer), state.hidden);
}

/// The number of the program's signal counters. Public calls refuse slots from there on.
inline std::uint64_t signal_slots(const EndpointState& state) noexcept {
  return my_hidden_layout(state).user_slots;
}

/// Whether a public call may raise a peer's counter: one of the program's, not one of the engine's.
inline Status check_user_slot(EndpointState& state, Rank peer, SignalSlot slot) noexcept {
  // All that is not for the program's counters has the same size on all ranks. So the slot is one of the program's if
  // that many bytes follow it.
  const GlobalPtr<std::byte> counter{peer, std::uint64_t{slot} * sizeof(std::uint64_t), kSignalSegment};
  return state.segments.check(counter, sizeof(std::uint64_t) + HiddenLayout::beside_user(state.hidden))
      .status();
}

/// A counter in mapped memory. It is raised with release after the bytes that it announces, and read with acquire.
inline std::atomic_ref<std::uint64_t> counter_at(std::byte* counters, SignalSlot slot) noexcept {
  return std::atomic_ref<std::uint64_t>(reinterpret_cast<std::uint64_t*>(counters)[slot]);
}

inline std::atomic_ref<std::uint64_t> my_counter(EndpointState& state, SignalSlot slot) noexcept {
  return counter_at(state.segments[kSignalSegment].mine.data(), slot);
}

/// Whether this endpoint has a counter of that number, the program's or the engine's: peers may raise both.
inline bool has_counter(const EndpointState& state, SignalSlot slot) noexcept {
  return slot < my_hidden_layout(state).slots();
}

/// Adds to a counter of this endpoint. Ignores a slot that does not exist: the number comes from a peer.
inline void raise(EndpointState& state, Signal signal) noexcept {
  if (has_counter(state, signal.slot)) {
    my_counter(state, signal.slot).fetch_add(signal.add, std::memory_order_release);
  }
}

}  // namespace aqueduct::core
