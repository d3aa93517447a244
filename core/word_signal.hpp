#pragma once

#include <aqueduct/signal_types.hpp>
#include <aqueduct/status.hpp>

#include "core/conduit.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace aqueduct::core {

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

/// Carries out a peer's signal on a word of `memory`, this rank's part of a segment. The place comes from the peer.
///
/// Errors: out_of_range, misaligned, invalid_argument (no such operation); then nothing has changed.
/// Threads: any.
inline ErrorCode apply_signal(MutableBytes memory, std::uint64_t offset, SignalOp op,
                              std::uint64_t value) noexcept {
  constexpr std::size_t kBytes = sizeof(std::uint64_t);
  if (op > SignalOp::set) return ErrorCode::invalid_argument;
  if (memory.size() < kBytes || offset > memory.size() - kBytes) return ErrorCode::out_of_range;
  std::byte* const at = memory.data() + offset;
  if (reinterpret_cast<std::uintptr_t>(at) % kBytes != 0) return ErrorCode::misaligned;
  update_word(at, op, value);
  return ErrorCode::ok;
}

}  // namespace aqueduct::core
