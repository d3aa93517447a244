#pragma once

#include "coll/schedule/added.hpp"

#include <cstdint>
#include <string>

namespace aqueduct::coll {

/// What is wrong with the steps of an added algorithm in some small calls; empty: nothing, as far as these show it. Each member's
/// steps are looked at by themselves, and all of them together add to each counter what is waited for. More is left to the
/// checker (tools/aqcheck), which follows the bytes.
std::string wrong_samples(const AddedAlgorithm& added);

/// A number of what it does in these calls: of algorithms that do not do the same another one, in all probability.
std::uint64_t hash_of_samples(const AddedAlgorithm& added);

}  // namespace aqueduct::coll
