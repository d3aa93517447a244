#pragma once

#include <aqueduct/global_ptr.hpp>

#include <cstdint>

namespace aqueduct {

/// The number of a signal: a 64-bit counter of a rank. Other ranks add to it; its owner waits until it reaches a value.
///
/// Each endpoint has AQUEDUCT_SIGNALS of them (slots 0, 1, …). They begin at 0 and decrease only when their owner
/// resets them.
using SignalSlot = std::uint32_t;

/// An addition to a counter of the target, alone or after the bytes of a put.
struct Signal {
  SignalSlot slot = 0;
  std::uint64_t add = 1;
};

/// What a signal does to its word.
enum class SignalOp : std::uint8_t {
  add,  ///< adds `value`, modulo 2^64
  set,  ///< stores `value`
};

/// A signal to any 64-bit word of a segment, after the bytes of a put to the same rank. The word may be in another
/// segment than the bytes. Its address on its owner is a multiple of 8.
struct SignalWord {
  GlobalPtr<std::uint64_t> at{};
  std::uint64_t value = 1;
  SignalOp op = SignalOp::add;
};

}  // namespace aqueduct
