#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace aqueduct::perf {

/// A rate (more is better) at a size.
struct RateAt {
  std::size_t bytes = 0;
  double rate = 0;
};

/// For people: whether rates over rising sizes are smooth, so that no size is more than 10 % slower than the next larger
/// one, or at which they are not. Empty for fewer than two.
std::string smoothness_of(std::span<const RateAt> rates);

}  // namespace aqueduct::perf
