#include "sim/closed_forms.hpp"

#include <algorithm>
#include <cmath>

namespace aqueduct::sim {

std::uint32_t ClosedForms::rounds(std::uint32_t radix) const noexcept {
  std::uint32_t rounds = 0;
  for (std::uint64_t reached = 1; reached < nodes; reached *= radix) ++rounds;
  return rounds;
}

double ClosedForms::scatter(std::uint32_t radix, double bytes) const noexcept {
  return rounds(radix) * (latency + overhead + radix * gap) +
         radix * per_byte * bytes * threads * (nodes - 1) / (radix - 1);
}

double ClosedForms::broadcast(std::uint32_t radix, double bytes) const noexcept {
  return rounds(radix) * (latency + overhead + radix * gap + radix * per_byte * bytes);
}

double ClosedForms::exchange(std::uint32_t radix, double bytes) const noexcept {
  double sum = 0;
  double reached = 1;
  for (std::uint32_t i = 0; i < rounds(radix); ++i, reached *= radix) {
    const double peers = std::min<double>(radix, std::ceil(nodes / reached)) - 1;
    sum += latency + peers * (overhead + gap + per_byte * bytes * nodes * threads * threads / radix);
  }
  return sum;
}

double ClosedForms::gather_to_all(double bytes) const noexcept {
  return rounds(2) * (latency + overhead + gap) + per_byte * bytes * nodes * threads;
}

double ClosedForms::gather_to_all_flat(double bytes) const noexcept {
  return latency + (nodes - 1) * (overhead + gap + per_byte * bytes * threads);
}

}  // namespace aqueduct::sim
