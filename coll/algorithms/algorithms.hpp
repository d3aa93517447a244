#pragma once

#include "coll/schedule/added.hpp"
#include "coll/schedule/algorithm.hpp"

#include <cstddef>
#include <span>
#include <string_view>

namespace aqueduct::coll {

// One file each. A new algorithm is its file, a line here and a line in algorithms.cpp.
extern const Algorithm kBarrierDissemination;
extern const Algorithm kBarrierTree;
extern const Algorithm kBarrierHosts;
extern const Algorithm kBroadcastFlat;
extern const Algorithm kBroadcastChain;
extern const Algorithm kBroadcastKAry;
extern const Algorithm kBroadcastKNomial;
extern const Algorithm kBroadcastDirect;
extern const Algorithm kBroadcastCirculant;
extern const Algorithm kBroadcastScatter;
extern const Algorithm kBroadcastDoubleTree;
extern const Algorithm kBroadcastFork;
extern const Algorithm kBroadcastGet;
extern const Algorithm kBroadcastHosts;
extern const Algorithm kBroadcastTeamTree;
extern const Algorithm kScatterKNomial;
extern const Algorithm kScatterDirect;
extern const Algorithm kScatterWindowed;
extern const Algorithm kScatterKAry;
extern const Algorithm kScatterGet;
extern const Algorithm kScatterHosts;
extern const Algorithm kScatterTeamTree;
extern const Algorithm kGatherKNomial;
extern const Algorithm kGatherDirect;
extern const Algorithm kGatherWindowed;
extern const Algorithm kGatherKAry;
extern const Algorithm kGatherGet;
extern const Algorithm kGatherHosts;
extern const Algorithm kGatherTeamTree;
extern const Algorithm kAllGatherDirect;
extern const Algorithm kAllGatherBruck;
extern const Algorithm kAllGatherRing;
extern const Algorithm kAllGatherCirculant;
extern const Algorithm kAllGatherDoubling;
extern const Algorithm kAllGatherNeighbours;
extern const Algorithm kAllGatherGet;
extern const Algorithm kAllGatherHosts;
extern const Algorithm kAllGatherBehindBarrier;
extern const Algorithm kAllToAllDirect;
extern const Algorithm kAllToAllBruck;
extern const Algorithm kAllToAllPairwise;
extern const Algorithm kAllToAllWindowed;
extern const Algorithm kAllToAllGet;
extern const Algorithm kAllToAllHosts;
extern const Algorithm kAllToAllBehindBarrier;
extern const Algorithm kReduceKNomial;
extern const Algorithm kReduceKAry;
extern const Algorithm kReduceFork;
extern const Algorithm kReduceChain;
extern const Algorithm kReduceFlat;
extern const Algorithm kReduceHalving;
extern const Algorithm kReduceHosts;
extern const Algorithm kReduceTeamTree;
extern const Algorithm kAllReduceMultiplying;
extern const Algorithm kAllReduceTree;
extern const Algorithm kAllReduceCirculant;
extern const Algorithm kAllReduceDirect;
extern const Algorithm kAllReduceParts;
extern const Algorithm kAllReduceHalving;
extern const Algorithm kAllReduceRing;
extern const Algorithm kAllReduceDoubleTree;
extern const Algorithm kAllReduceHosts;
extern const Algorithm kAllReduceHostsTree;
extern const Algorithm kAllReduceHostsDissemination;
extern const Algorithm kReduceScatterCirculant;
extern const Algorithm kReduceScatterDirect;
extern const Algorithm kReduceScatterHalving;
extern const Algorithm kReduceScatterPairwise;
extern const Algorithm kReduceScatterHosts;
extern const Algorithm kScanDoubling;
extern const Algorithm kScanChain;
extern const Algorithm kScanHosts;
extern const Algorithm kExscanDoubling;
extern const Algorithm kExscanChain;
extern const Algorithm kExscanHosts;
extern const Algorithm kPermuteSlots;
extern const Algorithm kScatterVSlots;
extern const Algorithm kGatherVSlots;
extern const Algorithm kAllGatherVSlots;
extern const Algorithm kAllGatherVCirculant;
extern const Algorithm kAllGatherVRing;
extern const Algorithm kAllToAllVSlots;
extern const Algorithm kAllToAllVPairwise;

/// All algorithms of the library, those of an operation one after the other.
std::span<const Algorithm* const> all_algorithms() noexcept;
/// Those that leave the operation to the team's conduit: one for each operation from broadcast to exscan, all of the name
/// `native`. In that order.
std::span<const Algorithm> native_algorithms() noexcept;
/// The one for this operation; null if there is none.
const Algorithm* native_algorithm(Operation operation) noexcept;
/// Those that run on the team's board (coll/shared), in the order of the operations.
std::span<const Algorithm> board_algorithms() noexcept;
/// The one for this operation; null if there is none.
const Algorithm* board_algorithm(Operation operation, BoardMethod method) noexcept;
/// Lines of 64 bytes that a reader of a payload on the board gets, with the one that has its number.
std::uint64_t lines_of_payload(std::uint64_t bytes) noexcept;
/// The most edges between a member and the root of a k-nomial tree.
std::uint32_t levels_of_tree(std::uint64_t ranks, std::uint64_t radix) noexcept;
/// Finds an algorithm of the operation by its name: also `native`, those of boards, and those that the program has added. Null: none
/// has this name.
const Algorithm* find_algorithm(Operation operation, std::string_view name, AddedSpan added = {}) noexcept;

/// The library's schedules (all_algorithms), then those that the program has added: the order in which equal ones are taken.
class KnownAlgorithms {
 public:
  explicit KnownAlgorithms(AddedSpan added) noexcept : added_(added) {}
  explicit KnownAlgorithms(const aqueduct::detail::AddedAlgorithms* added) noexcept
      : added_(aqueduct::detail::algorithms_of(added)) {}

  std::size_t size() const noexcept { return all_.size() + added_.size(); }
  const Algorithm* operator[](std::size_t i) const noexcept {
    return i < all_.size() ? all_[i] : added_[i - all_.size()];
  }
  class Iterator {
   public:
    Iterator(const KnownAlgorithms& of, std::size_t at) noexcept : of_(of), at_(at) {}
    const Algorithm* operator*() const noexcept { return of_[at_]; }
    Iterator& operator++() noexcept { return ++at_, *this; }
    bool operator!=(const Iterator& other) const noexcept { return at_ != other.at_; }

   private:
    const KnownAlgorithms& of_;
    std::size_t at_;
  };
  Iterator begin() const noexcept { return {*this, 0}; }
  Iterator end() const noexcept { return {*this, size()}; }

 private:
  std::span<const Algorithm* const> all_ = all_algorithms();
  AddedSpan added_;
};

}  // namespace aqueduct::coll
