#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace aqueduct::perf {

/// A rate (higher is better) at a size.
struct RateAt {
  std::size_t bytes = 0;
  double rate = 0;
};

/// In words: whether rates over rising sizes are smooth, or at which sizes they are not. Smooth: no size is more
/// than 10 % slower than the next larger one. Empty for fewer than two rates.
std::string smoothness_of(std::span<const RateAt> rates);

}  // namespace aqueduct::perf
