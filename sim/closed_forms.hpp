#pragma once

#include <cstdint>

namespace aqueduct::sim {

/// The models of the source in closed form, in microseconds: F-01 to F-07. They rank radices; the replay says what a schedule takes.
///
/// `nodes` with `threads` each; `bytes` of each thread; radix 2 or more. Rounds are counted in whole numbers, ceil(log_k N).
/// Source: Nishtala, Automatically Tuning Collective Communication for One-Sided Programming Models, 2009, sections
///         5.3, 6.1.1 and 6.2.1, with the corrections of our requirements F-01 to F-08.
struct ClosedForms {
  double latency = 2;
  double overhead = 0.5;
  double gap = 2;
  double per_byte = 1e-3;
  std::uint32_t nodes = 256;
  std::uint32_t threads = 4;

  /// F-01, F-02: scatter and gather, k-ary tree.
  double scatter(std::uint32_t radix, double bytes) const noexcept;
  /// F-03, F-04: broadcast and reduce, k-ary tree. `bytes`: of the array.
  double broadcast(std::uint32_t radix, double bytes) const noexcept;
  /// F-05: all-to-all of radix k; flat for k = nodes. `bytes`: of a pair of threads.
  double exchange(std::uint32_t radix, double bytes) const noexcept;
  /// F-06: all-gather by dissemination.
  double gather_to_all(double bytes) const noexcept;
  /// F-07: all-gather, everyone to everyone.
  double gather_to_all_flat(double bytes) const noexcept;

 private:
  std::uint32_t rounds(std::uint32_t radix) const noexcept;
};

}  // namespace aqueduct::sim
