#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace aqueduct::perf {

/// A ratio at a size.
struct RatioAt {
  std::size_t bytes = 0;
  double ratio = 0;
};

/// What a row of sizes says as a whole: a single best size says nothing of the others (requirement HT-18).
struct FairMeans {
  std::size_t sizes = 0;
  double arithmetic = 0;
  double geometric = 0;  ///< of a ratio and its reciprocal this is 1, whichever side one looks from
  RatioAt least;         ///< the first of several
  RatioAt most;
};

/// Of ratios above 0; others, which are of figures that could not be measured, do not count.
FairMeans fair_means(std::span<const RatioAt> ratios);

/// The line that is printed below a table; empty if there are fewer than two sizes. `what` names the ratio, such as "median / raw".
std::string words_for(const FairMeans& means, const std::string& what);

}  // namespace aqueduct::perf
