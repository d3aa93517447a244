#pragma once

#include "coll/schedule/shape.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace aqueduct::sim {

/// Blocks of different lengths, of an operation that has counts, and each member's view of them.
///
/// Cost: O(P) memory, and O(P) more for each different length if there is one number for each member; O(P²) if there is
///       one for each pair.
class MemberCounts {
 public:
  /// `bytes`: of the block that each member sends to everybody; of a scatter, that each member receives. An all_to_all_v
  /// also takes a number for each pair, [sender][receiver]. Requires: as many numbers as that.
  /// Errors: BadInput, if memory does not hold the lists.
  MemberCounts(const coll::Shape& shape, std::span<const std::uint64_t> bytes);
  MemberCounts(const MemberCounts&) = delete;
  MemberCounts& operator=(const MemberCounts&) = delete;

  std::uint64_t longest() const noexcept { return longest_; }
  /// [member]. Of this object.
  std::span<const coll::MemberBlocks> views() const noexcept { return views_; }

 private:
  void set_pairs(Rank ranks, std::span<const std::uint64_t> bytes);
  void set_members(const coll::Shape& shape, std::span<const std::uint64_t> bytes);

  std::uint64_t longest_ = 0;
  std::vector<std::vector<coll::BlockAt>> lists_;
  std::vector<coll::MemberBlocks> views_;
};

}  // namespace aqueduct::sim
