#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace aqueduct::conduits::loop {

/// Chance that repeats: the same seed and stream give the same throws, with every compiler.
class Dice {
 public:
  /// `stream` makes the generators of one seed differ (one per rank, say).
  Dice(std::uint64_t seed, std::uint64_t stream) noexcept : engine_(seed * 1000003 + stream) {}

  /// A number below `count`, which is not 0.
  std::size_t below(std::size_t count) noexcept { return engine_() % count; }
  /// True with this probability.
  bool chance(double probability) noexcept {
    return probability > 0 && static_cast<double>(engine_() >> 11) * 0x1p-53 < probability;
  }

 private:
  std::mt19937_64 engine_;  // the standard fixes its numbers; those of the distributions it leaves open
};

}  // namespace aqueduct::conduits::loop
