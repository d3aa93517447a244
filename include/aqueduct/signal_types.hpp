#pragma once

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

}  // namespace aqueduct
