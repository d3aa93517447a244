#pragma once

#include <cstdint>

namespace aqueduct::conduits::udp {

/// Chance that repeats: the same seed and stream give the same throws on every machine.
/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): one addition and a mix.
class FaultDice {
 public:
  /// `stream` makes the dice of one seed differ: one for each rank, say.
  FaultDice(std::uint64_t seed, std::uint64_t stream) noexcept : state_(seed) {
    state_ = next() ^ mix(stream);
  }

  /// A number below `count`, which is not 0.
  std::uint64_t below(std::uint64_t count) noexcept { return next() % count; }
  /// From 0 up to, but not, 1.
  double fraction() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// True with this probability. Throws nothing for 0, so that a plan's other faults do not shift.
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
