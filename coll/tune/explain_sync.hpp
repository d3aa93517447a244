#pragma once

#include "coll/schedule/algorithm.hpp"

#include <string>

namespace aqueduct::coll {

/// How the members of a call find out that buffers may be touched, and that the call may end: a line of text. `shape`: that of
/// the choice. Empty: one member, or nobody waits for anybody.
std::string sync_line(const Algorithm& algorithm, const Shape& shape);

}  // namespace aqueduct::coll
