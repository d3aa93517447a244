#include "coll/tune/rules.hpp"

#include "coll/algorithms/algorithms.hpp"
#include "coll/schedule/groups.hpp"

#include <array>

namespace aqueduct::coll {

// Where the limits come from. A message costs a latency L of about 2 µs and occupies its sender for about 0.5 µs; a byte
// costs 0.1 ns on the way and 0.1 ns to combine. These are round numbers of networks of today; shared memory has smaller
// ones in about the same proportion. Measured costs may move the limits; they never make a choice illegal.
//
// - Up to about L / gap = 16 KiB, the number of rounds decides. Beyond, the bytes that a member sends.
// - The last line of an operation has no condition: it serves shapes for which the lines above do not apply or do not fit
//   into scratch. Algorithms that are in no line are tried after it (candidates.hpp).

// - Where several members share a host and others do not, the network between hosts decides: few messages, and every
//   byte once to a host. So `hosts` comes first; other teams refuse it. Its leaders send and combine everything, so of long
//   blocks the copies on a host decide. If the members of each host are consecutive, chains and rings cross to a host once
//   or little more often, and keep all members at work; in other orders they cross with every hop, and `hosts` stays. The
//   limits are from `aqsim`, with a fast network and one of sockets whose links the members of a host share
//   (docs/decisions/0111-long-blocks-between-hosts.md).

namespace {

constexpr std::uint64_t kKiB = 1024;

/// Members that do not know where outputs are announce them up to this number of members, where each tells all others. It bounds
/// what the rules choose and nothing that is kept: in larger teams they take an algorithm that goes through scratch, and where a
/// setting asks for `direct` all the same, each pair has a slot for its announcement (coll/schedule/announced.hpp). So none is lost.
constexpr Rank kMostAnnounced = 8;

/// Where processors move the bytes, through sockets, a copy out of the cache costs less than an answer, which wakes another
/// process. Blocks below this number of bytes are then not put into outputs whose owner must first say that it has called.
/// With 2 and 4 ranks over loopback, udp, tcp;ofi_rxm and UCX's tcp: of 32 to 128 KiB the way through scratch takes 0.55 to
/// 0.95 of the time of `direct`, of 1 MiB 1.0 to 1.3. Outputs whose place the owner must tell too: 0.75 to 1.0 from 32 KiB
/// to 4 MiB, so `direct` is never chosen for these.
constexpr std::uint64_t kLeastAsked = 256 * kKiB;

/// Operations in which every member has a block of its own pass through one member of each host up to this number of members
/// there, if members of a host are consecutive. By `aqsim`, with both networks, they take less time so: docs/decisions/0123-blocks-of-each-member-by-hosts.md.
constexpr Rank kMostThroughOne = 16;

// Few members signal to all others at once. On a host with more members than cores, each signal costs more than a round.
constexpr std::array kBarrierRules{
    Rule{.algorithm = &kBarrierHosts},
    Rule{.algorithm = &kBarrierDissemination, .radix = kRadixOfAll, .most_ranks = 4},
    Rule{.algorithm = &kBarrierTree, .radix = 4, .least_ranks = 17, .one_host = true},
    Rule{.algorithm = &kBarrierDissemination, .radix = 2, .mapped = true},
    Rule{.algorithm = &kBarrierDissemination, .radix = 4, .most_ranks = 4096},
    Rule{.algorithm = &kBarrierTree, .radix = 4},
};

// In shared memory copies are what counts, and `direct` makes the fewest. In a network a long block is cut into segments,
// and the circulant graph keeps all members sending. A child that must first say that it has called costs a short block
// more than a copy does. Where members share processors, what these do is what counts: few messages. Measured over udp, two
// processors, 4 and 8 members, 64 KiB and 1 MiB: the k-nomial tree takes 0.7 to 1.0 of the time of `direct`.
constexpr std::array kBroadcastRules{
    Rule{.algorithm = &kBroadcastHosts, .radix = 4, .most_bytes = 32 * kKiB},
    Rule{.algorithm = &kBroadcastChain,
         .most_ranks = 32,
         .least_bytes = 32 * kKiB,
         .least_bytes_each = 4 * kKiB,
         .consecutive = true},
    Rule{.algorithm = &kBroadcastDoubleTree, .least_bytes = 32 * kKiB, .consecutive = true},
    Rule{.algorithm = &kBroadcastHosts, .radix = 4},
    Rule{.algorithm = &kBroadcastDirect, .radix = 4, .most_bytes = 16 * kKiB, .unasked = true},
    Rule{.algorithm = &kBroadcastKNomial, .radix = 4, .most_bytes = 4 * kKiB},
    Rule{.algorithm = &kBroadcastDirect, .radix = 4, .mapped = true},
    Rule{.algorithm = &kBroadcastDirect, .radix = 2, .most_ranks = 2, .least_announced = 32 * kKiB},
    Rule{.algorithm = &kBroadcastKNomial, .radix = 4, .most_bytes = 16 * kKiB},
    Rule{.algorithm = &kBroadcastKNomial, .radix = 2, .most_ranks = 4, .crowded = true},
    Rule{.algorithm = &kBroadcastKNomial, .radix = 4, .crowded = true},
    Rule{.algorithm = &kBroadcastCirculant},
    Rule{.algorithm = &kBroadcastKNomial, .radix = 4},
};

// A tree saves messages at the root; but a block travels over several edges. That pays for blocks of less than about
// 0.5 µs / (0.1 ns · (depth - 1)) = 2 KiB. With the radix of all members the tree is flat: every block travels once.
constexpr std::array kScatterRules{
    Rule{.algorithm = &kScatterHosts,
         .radix = 4,
         .most_bytes = 2 * kKiB,
         .most_on_host = kMostThroughOne,
         .consecutive = true},
    Rule{.algorithm = &kScatterDirect, .most_ranks = 8, .unasked = true},
    Rule{.algorithm = &kScatterKNomial, .radix = kRadixOfAll, .most_ranks = 8, .most_bytes = 2 * kKiB},
    Rule{.algorithm = &kScatterKNomial, .radix = 4, .most_bytes = 2 * kKiB},
    Rule{.algorithm = &kScatterDirect},
    Rule{.algorithm = &kScatterKNomial, .radix = kRadixOfAll},
};

constexpr std::array kGatherRules{
    Rule{.algorithm = &kGatherHosts,
         .radix = 4,
         .most_bytes = kKiB,
         .most_on_host = kMostThroughOne,
         .consecutive = true},
    Rule{.algorithm = &kGatherDirect, .most_ranks = 8, .unasked = true},
    Rule{.algorithm = &kGatherKNomial, .radix = kRadixOfAll, .most_ranks = 8, .most_bytes = 2 * kKiB},
    Rule{.algorithm = &kGatherKNomial, .radix = 4, .most_bytes = 2 * kKiB},
    Rule{.algorithm = &kGatherDirect},
    Rule{.algorithm = &kGatherKNomial, .radix = kRadixOfAll},
};

// `direct` sends P - 1 messages, all at once, and copies nothing. Without addresses the circulant graph sends as many
// bytes in ceil(log2 P) rounds; a ring needs P - 1 rounds, and is better between hosts, and on rings and tori.
constexpr std::array kAllGatherRules{
    Rule{.algorithm = &kAllGatherHosts, .most_bytes = 2 * kKiB},
    Rule{.algorithm = &kAllGatherRing, .least_bytes = 2 * kKiB, .consecutive = true},
    Rule{.algorithm = &kAllGatherNeighbours, .least_bytes = 2 * kKiB, .consecutive = true},
    Rule{.algorithm = &kAllGatherHosts},
    Rule{.algorithm = &kAllGatherDoubling,
         .most_ranks = 1},  // the only one that needs no scratch for one member
    Rule{.algorithm = &kAllGatherDoubling, .most_bytes = 16 * kKiB, .crowded = true},
    Rule{.algorithm = &kAllGatherDirect, .most_ranks = 8, .unasked = true},
    Rule{.algorithm = &kAllGatherBruck, .radix = kRadixOfAll, .most_ranks = 4, .most_bytes = 2 * kKiB},
    Rule{.algorithm = &kAllGatherDoubling, .most_bytes = 2 * kKiB},
    Rule{.algorithm = &kAllGatherBruck, .radix = 2, .most_bytes = 2 * kKiB},
    Rule{.algorithm = &kAllGatherDirect},
    Rule{.algorithm = &kAllGatherRing, .most_ranks = 2},
    Rule{.algorithm = &kAllGatherCirculant},
};

// With radix 2, Bruck's algorithm sends a block log2(P) / 2 times on average. That pays for blocks of less than about
// 0.5 µs / (0.1 ns · (log2(P) / 2 - 1)). Without addresses blocks go through scratch anyway; with the radix of all
// members, all are sent at once. A larger radix has fewer rounds, so it needs less scratch and allows larger pieces.
// Four members that share processors wait less often for one another if all blocks are sent at once. Measured over udp, two
// processors, beside plain puts in the same run: blocks of 16 KiB to 1 MiB take 0.92 to 0.95 of what single rounds take; with
// eight members 1.1.
constexpr std::array kAllToAllRules{
    Rule{.algorithm = &kAllToAllHosts,
         .most_ranks = 20,
         .most_on_host = kMostThroughOne,
         .most_through_leader = 24 * kKiB,
         .consecutive = true},
    Rule{.algorithm = &kAllToAllDirect, .most_ranks = 8, .unasked = true},
    Rule{.algorithm = &kAllToAllBruck, .radix = kRadixOfAll, .most_ranks = 8, .most_bytes = 8 * kKiB},
    Rule{.algorithm = &kAllToAllBruck, .radix = 2, .least_ranks = 9, .most_bytes = 64},
    Rule{.algorithm = &kAllToAllBruck, .radix = 4, .least_ranks = 9, .most_bytes = 512},
    Rule{.algorithm = &kAllToAllDirect},
    Rule{.algorithm = &kAllToAllPairwise, .window = 3, .most_ranks = 4, .crowded = true},
    Rule{.algorithm = &kAllToAllPairwise},
    Rule{.algorithm = &kAllToAllBruck, .radix = 64},
    Rule{.algorithm = &kAllToAllBruck, .radix = 8},
    Rule{.algorithm = &kAllToAllBruck, .radix = 4},
};

// A chain is good when each of its members has a segment to work on; halving, for a power of two, gives all members the same
// share of a long vector, but has more messages, which count where members share processors. An exact order leaves `flat` and
// the chain. By the simulator with the numbers above, 64 members: halving takes 0.7 of the time of the tree at 64 KiB, 0.36 at
// 1 MiB; on 4 to 16 hosts of 8, 0.4 to 0.85 of that of chain and tree between 64 and 256 KiB.
constexpr std::array kReduceRules{
    Rule{.algorithm = &kReduceHosts, .most_bytes = 4 * kKiB},
    Rule{.algorithm = &kReduceKNomial,
         .radix = 2,
         .least_bytes = 4 * kKiB,
         .most_bytes = 32 * kKiB,
         .consecutive = true},
    Rule{.algorithm = &kReduceChain,
         .least_bytes = 32 * kKiB,
         .least_bytes_each = 16 * kKiB,
         .consecutive = true},
    Rule{.algorithm = &kReduceHalving, .least_ranks = 8, .least_bytes = 32 * kKiB, .consecutive = true},
    Rule{.algorithm = &kReduceChain,
         .least_bytes = 32 * kKiB,
         .least_bytes_each = 2 * kKiB,
         .consecutive = true},
    Rule{.algorithm = &kReduceKNomial, .radix = 2, .least_bytes = 32 * kKiB, .consecutive = true},
    Rule{.algorithm = &kReduceHosts},
    Rule{.algorithm = &kReduceFlat, .most_ranks = 4, .most_bytes = 2 * kKiB},
    Rule{.algorithm = &kReduceKNomial, .radix = 4, .most_bytes = 512},
    Rule{.algorithm = &kReduceChain,
         .least_ranks = 3,
         .most_ranks = 32,
         .least_bytes_each = 16 * kKiB,
         .crowded = true},
    Rule{.algorithm = &kReduceKNomial, .radix = 2, .crowded = true},
    Rule{.algorithm = &kReduceChain, .least_ranks = 3, .most_ranks = 32, .least_bytes_each = 32 * kKiB},
    Rule{.algorithm = &kReduceHalving, .least_ranks = 8, .least_bytes = 32 * kKiB},
    Rule{.algorithm = &kReduceChain, .least_ranks = 3, .most_ranks = 32, .least_bytes_each = 16 * kKiB},
    Rule{.algorithm = &kReduceKNomial, .radix = 2},
    Rule{.algorithm = &kReduceFlat, .most_bytes = 8 * kKiB},
    Rule{.algorithm = &kReduceChain, .most_ranks = 64},
    Rule{.algorithm = &kReduceFlat},
};

// Short vectors: one round where all send to all, else one for each digit, without a fold if the number of members is a
// power of the radix. Long vectors: two rounds for each bit, in which a member sends and combines every part once; the
// circulant graph does it for any number of members, halving also for operators that do not commute. An exact order
// leaves `direct` and the tree that is flat. Two members exchange whole vectors in one round; over udp that takes 0.5 of the
// time of the circulant graph at 16 KiB, 0.85 at 64 KiB and 1.15 at 256 KiB. Where members share processors, what counts is the sum of all messages: a tree
// has 2 (P - 1). Measured over udp, two processors, 4 and 8 members, 8 B to 4 KiB: a tree of radix 8 takes 0.5 to 0.75 of
// the time of the lines below, one of radix 2 at 32 KiB 0.55; at 256 KiB the circulant graph takes 0.65 to 0.8.
constexpr std::array kAllReduceRules{
    // Between hosts: short vectors. `hosts` again behind `hosts-tree`: for operators that do not commute.
    Rule{.algorithm = &kAllReduceHosts, .radix = kRadixOfPower, .most_bytes = 8 * kKiB},
    Rule{.algorithm = &kAllReduceHosts, .radix = kRadixOfAll, .most_ranks = 32, .most_bytes = 8 * kKiB},
    Rule{.algorithm = &kAllReduceHostsTree, .radix = 8, .most_bytes = 8 * kKiB},
    Rule{.algorithm = &kAllReduceHosts, .radix = kRadixOfAll, .most_bytes = 8 * kKiB},
    // Halving, for powers of two, gains from 8 KiB on; the rest from 16 KiB on.
    Rule{.algorithm = &kAllReduceRing,
         .least_bytes = 8 * kKiB,
         .least_bytes_each = 8 * kKiB,
         .consecutive = true},
    Rule{.algorithm = &kAllReduceHalving, .least_ranks = 8, .least_bytes = 8 * kKiB, .consecutive = true},
    Rule{.algorithm = &kAllReduceHosts, .radix = kRadixOfPower, .most_bytes = 16 * kKiB},
    Rule{.algorithm = &kAllReduceHosts, .radix = kRadixOfAll, .most_ranks = 16, .most_bytes = 16 * kKiB},
    Rule{.algorithm = &kAllReduceHostsTree, .radix = 4, .most_bytes = 16 * kKiB},
    // Long ones.
    Rule{.algorithm = &kAllReduceRing,
         .least_bytes = 16 * kKiB,
         .least_bytes_each = 2 * kKiB,
         .consecutive = true},
    Rule{.algorithm = &kAllReduceCirculant, .least_bytes = 16 * kKiB, .consecutive = true},
    Rule{.algorithm = &kAllReduceHosts, .radix = kRadixOfPower},
    Rule{.algorithm = &kAllReduceHosts, .radix = kRadixOfAll, .most_ranks = 8},
    Rule{.algorithm = &kAllReduceHostsTree, .radix = 4},
    Rule{.algorithm = &kAllReduceHosts, .radix = kRadixOfAll},
    Rule{.algorithm = &kAllReduceTree, .radix = 8, .least_ranks = 3, .most_bytes = 8 * kKiB, .crowded = true},
    Rule{
        .algorithm = &kAllReduceTree, .radix = 2, .least_ranks = 3, .most_bytes = 64 * kKiB, .crowded = true},
    Rule{.algorithm = &kAllReduceCirculant, .least_ranks = 3, .crowded = true},
    Rule{.algorithm = &kAllReduceMultiplying, .radix = kRadixOfAll, .most_ranks = 4, .most_bytes = 2 * kKiB},
    Rule{.algorithm = &kAllReduceDirect, .most_ranks = 8, .most_bytes = 512},
    Rule{.algorithm = &kAllReduceTree, .radix = 8, .least_ranks = 4097, .most_bytes = 2 * kKiB},
    Rule{.algorithm = &kAllReduceMultiplying, .radix = kRadixOfPower, .most_bytes = 512},
    Rule{.algorithm = &kAllReduceMultiplying, .radix = 2, .most_bytes = 8 * kKiB},
    Rule{.algorithm = &kAllReduceMultiplying, .radix = 2, .most_ranks = 2, .most_bytes = 64 * kKiB},
    Rule{.algorithm = &kAllReduceParts, .most_ranks = 8},
    Rule{.algorithm = &kAllReduceCirculant},
    Rule{.algorithm = &kAllReduceHalving},
    Rule{.algorithm = &kAllReduceMultiplying, .radix = 2},
    Rule{.algorithm = &kAllReduceTree, .radix = kRadixOfAll},
    Rule{.algorithm = &kAllReduceDirect},
};

// All send the same number of bytes, so `direct` is best when its P - 1 messages do not count. It also keeps every order.
constexpr std::array kReduceScatterRules{
    Rule{.algorithm = &kReduceScatterHosts,
         .most_ranks = 20,
         .most_on_host = kMostThroughOne,
         .most_through_leader = 16 * kKiB,
         .consecutive = true},
    Rule{.algorithm = &kReduceScatterCirculant, .least_ranks = 3, .crowded = true},
    Rule{.algorithm = &kReduceScatterDirect, .most_ranks = 8},
    Rule{.algorithm = &kReduceScatterCirculant, .most_bytes = 4 * kKiB},
    Rule{.algorithm = &kReduceScatterHalving, .most_bytes = 4 * kKiB},
    Rule{.algorithm = &kReduceScatterDirect},
};

constexpr std::array kScanRules{
    Rule{.algorithm = &kScanHosts, .most_bytes = 2 * kKiB, .most_on_host = 8},
    Rule{.algorithm = &kScanChain, .least_ranks = 3, .most_ranks = 32, .least_bytes_each = 16 * kKiB},
    Rule{.algorithm = &kScanDoubling},
    Rule{.algorithm = &kScanChain},
};

constexpr std::array kExscanRules{
    Rule{.algorithm = &kExscanHosts, .most_bytes = 2 * kKiB, .most_on_host = 8},
    Rule{.algorithm = &kExscanChain, .least_ranks = 3, .most_ranks = 32, .least_bytes_each = 16 * kKiB},
    Rule{.algorithm = &kExscanDoubling},
    Rule{.algorithm = &kExscanChain},
};

// Bytes are those of the longest block. As with equal blocks, but for what needs more than a member's own lengths.
/// Each copy adds up the lengths before it: 26 µs for all of 256 members, 650 µs of 1024.
constexpr Rank kMostPacked = 256;

constexpr std::array kAllGatherVRules{
    Rule{.algorithm = &kAllGatherVRing, .least_bytes = 2 * kKiB, .consecutive = true},
    Rule{.algorithm = &kAllGatherVCirculant,
         .least_ranks = 3,
         .most_ranks = kMostPacked,
         .most_bytes = 16 * kKiB,
         .crowded = true},
    Rule{.algorithm = &kAllGatherVCirculant,
         .least_ranks = 5,
         .most_ranks = kMostPacked,
         .most_bytes = 2 * kKiB},
    Rule{.algorithm = &kAllGatherVSlots},
};

constexpr std::array kAllToAllVRules{
    Rule{.algorithm = &kAllToAllVSlots},
};

bool is_power(std::uint64_t ranks, std::uint64_t radix) noexcept {
  std::uint64_t power = radix;
  while (power < ranks) power *= radix;
  return power == ranks;
}

}  // namespace

std::span<const Rule> rules_of(Operation operation) noexcept {
  switch (operation) {
    case Operation::barrier: return kBarrierRules;
    case Operation::broadcast: return kBroadcastRules;
    case Operation::scatter: return kScatterRules;
    case Operation::gather: return kGatherRules;
    case Operation::all_gather: return kAllGatherRules;
    case Operation::all_to_all: return kAllToAllRules;
    case Operation::reduce: return kReduceRules;
    case Operation::all_reduce: return kAllReduceRules;
    case Operation::reduce_scatter: return kReduceScatterRules;
    case Operation::scan: return kScanRules;
    case Operation::exscan: return kExscanRules;
    case Operation::all_gather_v: return kAllGatherVRules;
    case Operation::all_to_all_v: return kAllToAllVRules;
    case Operation::permute:
    case Operation::scatter_v:
    case Operation::gather_v: return {};  // one algorithm each: nothing to choose
  }
  return {};
}

bool applies(const Rule& rule, const Shape& shape, const TeamTraits& team) noexcept {
  const bool announced = rule.algorithm->direct && shape.addresses == Addresses::local;
  const bool asked = rule.algorithm->direct && shape.in == Sync::mine;
  if (team.sockets && (announced || (asked && shape.bytes < kLeastAsked))) return false;
  if (announced) {
    // In mapped memory both ends copy at the same time: one into scratch, the other out of it.
    if (team.mapped || shape.bytes < rule.least_announced) return false;
    if (!has_root(shape.operation) && shape.ranks > kMostAnnounced) return false;
  }
  if (rule.algorithm->hosts && team.groups == nullptr) return false;
  if (rule.consecutive && (team.groups == nullptr || !team.groups->in_team_order())) return false;
  if (rule.algorithm->hosts) {
    const std::uint64_t most = team.groups->most();
    if (most > rule.most_on_host || most * shape.ranks * shape.bytes > rule.most_through_leader) return false;
  }
  const Rank ranks = rule.algorithm->hosts ? team.groups->count() : shape.ranks;
  if (ranks < rule.least_ranks || ranks > rule.most_ranks) return false;
  if (shape.bytes < rule.least_bytes || shape.bytes > rule.most_bytes) return false;
  if (shape.bytes / shape.ranks < rule.least_bytes_each) return false;
  if ((rule.mapped && !team.mapped) || (rule.one_host && !team.one_host)) return false;
  if (rule.crowded && !team.few_signals()) return false;
  return announced || !(rule.unasked && shape.in == Sync::mine);
}

std::uint32_t radix_of(const Rule& rule, Rank ranks) noexcept {
  if (rule.radix == kRadixOfAll) return ranks;
  if (rule.radix != kRadixOfPower) return rule.radix;
  for (const std::uint32_t radix : {4u, 2u, 3u}) {
    if (is_power(ranks, radix)) return radix;
  }
  return 2;
}

}  // namespace aqueduct::coll
