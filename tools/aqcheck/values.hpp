#pragma once

#include <aqueduct/rank.hpp>

#include <cstdint>
#include <vector>

namespace aqueduct::aqcheck {

/// Stands for the content of a piece of memory, as an expression over the members' inputs: equal numbers are equal
/// expressions.
using Value = std::uint32_t;
inline constexpr Value kUnwritten = 0;
/// From here on values are pieces of addresses, which are in no expression.
inline constexpr Value kFirstAddress = 0x8000'0000;

/// The expressions of one run: pieces of inputs, and combinations `left ∘ right` of pieces at the same place. The operator
/// is associative, and nothing more is known of it. Memory is used again by the next run.
class Values {
 public:
  /// Forgets all expressions. The members' inputs have at most `pieces` pieces.
  void begin(Rank ranks, std::uint64_t pieces);

  /// Piece `offset` of the input of the member at `position`.
  Value input(Rank position, std::uint64_t offset) const noexcept {
    return static_cast<Value>(1 + position * pieces_ + offset);
  }
  Value combined(Value left, Value right);

  /// Whether the value is the combination of the inputs of all members from 0 to `count` - 1, each once, at `offset`;
  /// unless `any_order`, in the order of positions.
  bool is_sum(Value value, Rank count, std::uint64_t offset, bool any_order) const;
  /// ((x0 ∘ x1) ∘ x2) … of the members 0 to `count` - 1 at `offset`.
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
  /// An entry of a hash table with open addressing.
  struct Sum {
    std::uint64_t operands = 0;  ///< 0: free. No operand is 0, which is unwritten
    Value value = 0;
  };
  Node node(Value value) const noexcept;
  void grow();

  Rank ranks_ = 0;
  std::uint64_t pieces_ = 0;
  std::vector<Node> nodes_;  // of combinations: the value, less 1 + the number of inputs
  std::vector<Sum> sums_;
  std::vector<Value> lefts_;        // [offset][count - 1] of left_to_right; 0 if not asked for yet
  std::vector<std::uint64_t> all_;  // [count]: the sum of hashes of the positions below
};

}  // namespace aqueduct::aqcheck
