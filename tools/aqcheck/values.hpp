#pragma once

#include <aqueduct/rank.hpp>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace aqueduct::aqcheck {

/// Stands for the content of a byte, as an expression over the members' inputs: equal numbers are equal expressions.
using Value = std::uint32_t;
inline constexpr Value kUnwritten = 0;

/// The expressions of one run: bytes of inputs, and combinations `left ∘ right` of bytes at the same place of an element.
/// The operator is associative, and nothing more is known of it.
class Values {
 public:
  Values() : nodes_(1) {}

  /// Byte `offset` of the input of the member at `position`.
  Value input(Rank position, std::uint64_t offset);
  Value combined(Value left, Value right);

  /// Whether the value is the combination of the inputs of all members from 0 to `count` - 1, each once, at byte `offset`;
  /// unless `any_order`, in the order of positions.
  bool is_sum(Value value, Rank count, std::uint64_t offset, bool any_order) const;
  /// ((x0 ∘ x1) ∘ x2) … of the members 0 to `count` - 1 at byte `offset`.
  Value left_to_right(Rank count, std::uint64_t offset);

 private:
  struct Node {
    std::uint64_t offset = 0;
    Rank first = 0;  ///< the lowest position
    Rank last = 0;   ///< the highest position
    std::uint32_t count = 0;
    std::uint64_t positions = 0;  ///< sum of a hash of each position: tells sets of positions apart
    bool in_order = true;         ///< positions first, first + 1, … last, combined in this order
    bool same_offset = true;
  };

  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, Value> inputs_;
  std::unordered_map<std::uint64_t, Value> sums_;
};

}  // namespace aqueduct::aqcheck
