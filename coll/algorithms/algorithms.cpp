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
    &kBroadcastFork,
    &kBroadcastGet,
    &kBroadcastHosts,
    &kBroadcastTeamTree,
    &kScatterKNomial,
    &kScatterDirect,
    &kScatterWindowed,
    &kScatterKAry,
    &kScatterGet,
    &kScatterHosts,
    &kScatterTeamTree,
    &kGatherKNomial,
    &kGatherDirect,
    &kGatherWindowed,
    &kGatherKAry,
    &kGatherGet,
    &kGatherHosts,
    &kGatherTeamTree,
    &kAllGatherDirect,
    &kAllGatherBruck,
    &kAllGatherRing,
    &kAllGatherCirculant,
    &kAllGatherDoubling,
    &kAllGatherNeighbours,
    &kAllGatherGet,
    &kAllGatherHosts,
    &kAllGatherBehindBarrier,
    &kAllToAllDirect,
    &kAllToAllBruck,
    &kAllToAllPairwise,
    &kAllToAllWindowed,
    &kAllToAllGet,
    &kAllToAllHosts,
    &kAllToAllBehindBarrier,
    &kReduceKNomial,
    &kReduceKAry,
    &kReduceFork,
    &kReduceChain,
    &kReduceFlat,
    &kReduceHalving,
    &kReduceHosts,
    &kReduceTeamTree,
    &kAllReduceMultiplying,
    &kAllReduceTree,
    &kAllReduceCirculant,
    &kAllReduceDirect,
    &kAllReduceParts,
    &kAllReduceHalving,
    &kAllReduceRing,
    &kAllReduceDoubleTree,
    &kAllReduceHosts,
    &kAllReduceHostsTree,
    &kAllReduceHostsDissemination,
    &kReduceScatterCirculant,
    &kReduceScatterDirect,
    &kReduceScatterHalving,
    &kReduceScatterPairwise,
    &kReduceScatterHosts,
    &kScanDoubling,
    &kScanChain,
    &kScanHosts,
    &kExscanDoubling,
    &kExscanChain,
    &kExscanHosts,
    &kPermuteSlots,
    &kScatterVSlots,
    &kGatherVSlots,
    &kAllGatherVSlots,
    &kAllGatherVCirculant,
    &kAllGatherVRing,
    &kAllToAllVSlots,
    &kAllToAllVPairwise,
};

}  // namespace

std::span<const Algorithm* const> all_algorithms() noexcept { return kAll; }

const Algorithm* find_algorithm(Operation operation, std::string_view name, AddedSpan added) noexcept {
  for (const Algorithm* const algorithm : KnownAlgorithms(added)) {
    if (algorithm->operation == operation && algorithm->name == name) return algorithm;
  }
  for (const Algorithm& algorithm : board_algorithms()) {
    if (algorithm.operation == operation && algorithm.name == name) return &algorithm;
  }
  const Algorithm* const native = native_algorithm(operation);
  return native != nullptr && native->name == name ? native : nullptr;
}

}  // namespace aqueduct::coll
