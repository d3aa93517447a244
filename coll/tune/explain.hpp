#pragma once

#include "coll/tune/chooser.hpp"

#include <string>
#include <string_view>

namespace aqueduct::coll {

/// What was asked: "all_reduce of 8 bytes, 4 members". `barrier`: the shape is that of a team's barrier.
std::string heading_of(const Shape& shape, bool barrier);
/// The chosen algorithm, with `note` behind its name, and what it needs and sends: some lines of text.
std::string chosen_lines(const Choice& choice, const TeamTraits& team, const ScratchLayout& scratch,
                         std::string_view note);

/// Why an algorithm does not run that can do the shape: `otherwise`, unless it is one that only settings choose.
std::string_view why_not_chosen(const Algorithm& algorithm, std::string_view otherwise) noexcept;

}  // namespace aqueduct::coll
