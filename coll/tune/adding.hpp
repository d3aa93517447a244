#pragma once

#include "coll/schedule/added.hpp"

#include <string>

namespace aqueduct::coll {

/// Why the program cannot add an algorithm to those of the library and to `before`: a sentence that names it. Empty: it can.
std::string objection_to(const CollectiveAlgorithm& given, AddedSpan before);

/// The algorithm in words, with a number of what it does, for ranks to compare: "broadcast chain2 (segments 1 to 64, usually 8),
/// steps 0123456789abcdef".
std::string text_of(const AddedAlgorithm& added);

}  // namespace aqueduct::coll
