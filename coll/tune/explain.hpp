#pragma once

#include "coll/tune/chooser.hpp"

#include <string>
#include <string_view>

namespace aqueduct::coll {

/// The chosen algorithm, with `note` behind its name, and what it needs and sends: some lines of text.
std::string chosen_lines(const Choice& choice, const ScratchLayout& scratch, std::string_view note);

}  // namespace aqueduct::coll
