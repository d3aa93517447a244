#pragma once

#include "tools/aqcheck/check.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace aqueduct::aqcheck {

/// A mistake that an author of schedules could make, at one step of one member.
struct Mutation {
  const char* what;  ///< "waits for nothing"
  /// Changes the step; `next` is the one after it, if there is one. False: the mistake cannot be made there.
  bool (*apply)(const coll::Shape&, Rank position, coll::Step& step, coll::Step* next);
};

/// All mistakes.
const std::vector<Mutation>& mutations();

/// What the checker made of every mistake at every step of a case.
///
/// In place, a copy of a member's own block is to where the block is already: it does nothing, so a mistake in it does
/// nothing either. Such copies are not changed.
struct Mutated {
  std::uint64_t tried = 0;
  std::vector<std::string> survivors;  ///< changed schedules that passed, in words
};
Mutated mutate(const Case& checked);

}  // namespace aqueduct::aqcheck
