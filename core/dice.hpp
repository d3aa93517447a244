#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace aqueduct::core {

/// A random generator that repeats: the same seed and stream give the same numbers with every compiler.
class Dice {
 public:
  /// `stream` distinguishes generators with the same seed, such as those of different ranks.
  Dice(std::uint64_t seed, std::uint64_t stream) noexcept : engine_(seed * 1000003 + stream) {}

  /// A random number below `count`. Requires: count is not 0.
  std::size_t below(std::size_t count) noexcept { return engine_() % count; }
  /// True with this probability.
  bool chance(double probability) noexcept {
    return probability > 0 && static_cast<double>(engine_() >> 11) * 0x1p-53 < probability;
  }

 private:
  std::mt19937_64 engine_;  // C++ specifies its numbers exactly, but not those of the distributions
};

}  // namespace aqueduct::core
