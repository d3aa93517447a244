#include "coll/algorithms/algorithms.hpp"

#include <array>

namespace aqueduct::coll {

namespace {

constexpr std::array kAll{
    &kBarrierDissemination,
    &kBarrierTree,
    &kBarrierHosts,
    &kBroadcastFlat,
    &kBroadcastChain,
    &kBroadcastKAry,
    &kBroadcastKNomial,
    &kBroadcastDirect,
    &kBroadcastCirculant,
    &kBroadcastScatter,
    &kBroadcastDoubleTree,
    &kBroadcastHosts,
    &kScatterKNomial,
    &kScatterDirect,
    &kGatherKNomial,
    &kGatherDirect,
    &kAllGatherDirect,
    &kAllGatherBruck,
    &kAllGatherRing,
    &kAllGatherCirculant,
    &kAllGatherDoubling,
    &kAllGatherNeighbours,
    &kAllGatherHosts,
    &kAllToAllDirect,
    &kAllToAllBruck,
    &kAllToAllPairwise,
    &kReduceKNomial,
    &kReduceChain,
    &kReduceFlat,
    &kReduceHosts,
    &kAllReduceMultiplying,
    &kAllReduceTree,
    &kAllReduceCirculant,
    &kAllReduceDirect,
    &kAllReduceParts,
    &kAllReduceHalving,
    &kAllReduceRing,
    &kAllReduceHosts,
    &kAllReduceHostsTree,
    &kReduceScatterCirculant,
    &kReduceScatterDirect,
    &kReduceScatterHalving,
    &kScanDoubling,
    &kScanChain,
    &kExscanDoubling,
    &kExscanChain,
    &kPermuteSlots,
    &kScatterVSlots,
    &kGatherVSlots,
    &kAllGatherVSlots,
    &kAllToAllVSlots,
};

}  // namespace

std::span<const Algorithm* const> all_algorithms() noexcept { return kAll; }

const Algorithm* find_algorithm(Operation operation, std::string_view name) noexcept {
  for (const Algorithm* const algorithm : kAll) {
    if (algorithm->operation == operation && algorithm->name == name) return algorithm;
  }
  for (const Algorithm& algorithm : board_algorithms()) {
    if (algorithm.operation == operation && algorithm.name == name) return &algorithm;
  }
  const Algorithm* const native = native_algorithm(operation);
  return native != nullptr && native->name == name ? native : nullptr;
}

}  // namespace aqueduct::coll
