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

/// Carries out a signal on a word that is mapped here. Requires: the address is a multiple of 8.
///
/// Sequentially consistent, as atomics are: the caller may wake the word's owner after it (conduits/smp/sleep.hpp).
inline void update_word(std::byte* at, SignalOp op, std::uint64_t value) noexcept {
  std::atomic_ref<std::uint64_t> word(*reinterpret_cast<std::uint64_t*>(at));
  if (op == SignalOp::add) {
    word.fetch_add(value);
  } else {
    word.store(value);
  }
}

/// Carries out a peer's signal on a word of this endpoint. Errors: those of a place that the peer may have made up, which
/// changes nothing: out_of_range, closed, misaligned, invalid_argument.
inline Status signal_word(EndpointState& state, const WordSignal& word) noexcept {
  if (word.op > SignalOp::set) return ErrorCode::invalid_argument;
  const GlobalPtr<std::byte> at{state.rank, word.offset, word.segment};
  if (const auto part = state.segments.check(at, sizeof(std::uint64_t)); !part) return part.status();
  std::byte* const place = state.segments[word.segment].mine.data() + word.offset;
  if (reinterpret_cast<std::uintptr_t>(place) % sizeof(std::uint64_t) != 0) return ErrorCode::misaligned;
  update_word(place, word.op, word.value);
  return {};
}

}  // namespace aqueduct::core
