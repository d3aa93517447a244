#pragma once

#include "coll/schedule/shape.hpp"

#include <cstdint>

namespace aqueduct::coll {

/// What a barrier of a team is: an all-reduce of the members' votes. No pass before or after it: a member has the merged votes
/// only when all members have called.
constexpr Shape barrier_shape(Rank ranks) noexcept {
  Shape shape;
  shape.operation = Operation::all_reduce;
  shape.in = shape.out = Sync::mine;
  shape.ranks = ranks;
  shape.element = sizeof(std::uint64_t);
  shape.bytes = shape.pitch = sizeof(std::uint64_t);
  return shape;
}

/// The operation whose algorithms carry out a team's calls of this one.
constexpr Operation carried_out_as(Operation operation) noexcept {
  return operation == Operation::barrier ? Operation::all_reduce : operation;
}

}  // namespace aqueduct::coll
