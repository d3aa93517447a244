#pragma once

#include <cstdint>

namespace aqueduct::conduits::udp {

/// A reproducible random generator: the same seed and stream give the same numbers on every machine.
/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): one addition and a mix.
class FaultDice {
 public:
  /// `stream` selects one of several generators with the same seed, such as one per rank.
  FaultDice(std::uint64_t seed, std::uint64_t stream) noexcept : state_(seed) {
    state_ = next() ^ mix(stream);
  }

  /// A number below `count`. Requires: count > 0.
  std::uint64_t below(std::uint64_t count) noexcept { return next() % count; }
  /// In [0, 1).
  double fraction() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// True with this probability. Probability 0 draws no number, so the plan's other faults stay the same.
  bool chance(double probability) noexcept { return probability > 0 && fraction() < probability; }

 private:
  static constexpr std::uint64_t mix(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  std::uint64_t next() noexcept { return mix(state_ += 0x9e3779b97f4a7c15); }

  std::uint64_t state_;
};

}  // namespace aqueduct::conduits::udp
