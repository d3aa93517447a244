#pragma once

#include "coll/schedule/shape.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace aqueduct::aqsim {

/// Lengths of blocks that differ, as --counts gives them: by a rule, or as numbers.
struct Counts {
  enum class Rule : std::uint8_t {
    none,     ///< all blocks are equally long
    growing,  ///< from 0 to the longest, in the order of members
    chance,   ///< each from 0 to the longest
    one,      ///< the member after the root has the longest, the others none
    numbers,
  };
  Rule rule = Rule::none;
  std::vector<std::uint64_t> numbers;  ///< bytes
  std::string text;                    ///< as it was given
  std::string argument;                ///< as errors cite it
};

/// A rule, numbers such as "8,0,64x1K" (64 members of 1 KiB), or a file of them. Errors: BadInput.
Counts read_counts(const std::string& text);

/// The bytes of each member's block, or of each pair's in an all_to_all_v by chance or with so many numbers. `shape`: its
/// `bytes` are the longest that a rule gives. Errors: BadInput.
std::vector<std::uint64_t> lengths_for(const Counts& counts, const coll::Shape& shape, std::uint64_t seed);

}  // namespace aqueduct::aqsim
