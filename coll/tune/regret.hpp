#pragma once

#include "coll/tune/search.hpp"

#include <cstddef>
#include <span>

namespace aqueduct::coll {

/// What a choice costs beside the best of all that could have been chosen, as measured.
struct Regret {
  std::size_t best = 0;  ///< of the others; their number: none was faster than the choice
  double regret = 0;     ///< how much longer the choice takes than that one: 0.05 is 5 %
  double noise = 0;      ///< how much longer the choice takes than itself, measured twice in the same turns
};

/// Of samples that were measured in turns: two series of the choice, then one of each other candidate.
///
/// The other one is found by the even repetitions, and compared by the odd ones: of many that are equally fast the one that
/// looks fastest had luck, and would have it twice. Requires: equally many samples of all, two at least; two series at least.
Regret regret_of(std::span<const Samples> series);

}  // namespace aqueduct::coll
