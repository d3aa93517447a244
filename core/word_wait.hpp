#pragma once

#include <aqueduct/wait_on.hpp>

#include "core/endpoint_state.hpp"

#include <string>

namespace aqueduct::core {

using aqueduct::detail::WaitedWord;

/// Finds the word in this rank's part of a segment and sets both `at` and `place`.
/// Errors: misaligned, out_of_range, invalid_argument (no such comparison, or in a forked child).
Status locate(EndpointState& state, WaitedWord& word) noexcept;

/// The word's present bits, zero-extended: an acquire load. Requires: located.
std::uint64_t load_word(const WaitedWord& word) noexcept;

/// Whether the comparison holds for these bits of a word.
bool compares(const WaitedWord& word, std::uint64_t bits) noexcept;

/// For the stall report: the word's place, the comparison, and its present value. Requires: located.
std::string describe_word(const WaitedWord& word);

}  // namespace aqueduct::core
