#pragma once

#include <aqueduct/tune.hpp>

#include <string>

namespace aqueduct::aqtune {

/// What was found, for people: the operation, the size, the fastest algorithm and its time, and what came behind it. A runner-up
/// that is the same algorithm with other parameters is called so.
std::string found_line(const Tuned& found);

}  // namespace aqueduct::aqtune
