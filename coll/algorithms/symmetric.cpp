#include "coll/algorithms/symmetric.hpp"

#include "coll/algorithms/algorithms.hpp"

#include <algorithm>
#include <array>

namespace aqueduct::coll {

namespace {

constexpr std::array kSymmetric{
    &kBarrierDissemination, &kAllGatherDirect,        &kAllGatherBruck,      &kAllGatherRing,
    &kAllGatherCirculant,   &kAllGatherDoubling,      &kAllToAllDirect,      &kAllToAllBruck,
    &kAllToAllPairwise,     &kAllReduceDirect,        &kAllReduceCirculant,  &kAllReduceHalving,
    &kAllReduceRing,        &kReduceScatterCirculant, &kReduceScatterDirect, &kReduceScatterHalving,
    &kPermuteSlots,         &kAllGatherVSlots,        &kAllToAllVSlots,
};

}  // namespace

bool is_symmetric(const Algorithm& algorithm) noexcept {
  return std::find(kSymmetric.begin(), kSymmetric.end(), &algorithm) != kSymmetric.end();
}

}  // namespace aqueduct::coll
