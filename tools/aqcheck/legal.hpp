#pragma once

#include "coll/schedule/schedule.hpp"

namespace aqueduct::aqcheck {

inline bool is_message(const coll::Step& step) noexcept {
  return step.kind == coll::Step::Kind::put || step.kind == coll::Step::Kind::get ||
         step.kind == coll::Step::Kind::signal;
}
inline bool is_user(coll::Space space) noexcept {
  return space == coll::Space::in || space == coll::Space::out;
}

/// What is wrong with a step of the member at `position`, seen by itself; null if nothing is.
const char* illegal(const coll::Shape& shape, const coll::Needs& needs, Rank position,
                    const coll::Step& step) noexcept;

}  // namespace aqueduct::aqcheck
