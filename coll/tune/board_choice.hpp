#pragma once

#include "coll/tune/fit.hpp"

#include <string>
#include <string_view>

namespace aqueduct::coll {

/// How an algorithm of the board does a shape. Requires: algorithm.board is not `none`.
Fit fit_board(const Algorithm& algorithm, const WantedParameters& wanted, const Shape& shape,
              const TeamTraits& team) noexcept;
/// The board's algorithm for a shape that is short enough; none: a schedule is better, or the team has no board.
Choice choose_board(const Shape& shape, const TeamTraits& team) noexcept;
/// Whether the choice for a shape depends on TeamTraits::domains, which take time to find.
bool depends_on_domains(const Shape& shape, const TeamTraits& team) noexcept;
/// What a board's algorithm does with a shape, for `explain`.
std::string board_lines(const Choice& choice);
/// Why the team does not use the board's algorithms other than the chosen one: lines of text. `otherwise`: why, of an algorithm that could.
std::string why_not_boards(const Choice& choice, const Shape& shape, const TeamTraits& team,
                           std::string_view otherwise);

}  // namespace aqueduct::coll
