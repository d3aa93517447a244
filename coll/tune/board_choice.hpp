#pragma once

#include "coll/tune/fit.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace aqueduct::coll {

/// How an algorithm of the board does a shape. Requires: algorithm.board is not `none`.
Fit fit_board(const Algorithm& algorithm, const WantedParameters& wanted, const Shape& shape,
              const TeamTraits& team) noexcept;
/// The board's algorithm for a shape that is short enough; none: a schedule is better, or the team has no board.
Choice choose_board(const Shape& shape, const TeamTraits& team) noexcept;
/// An algorithm of the board, and what the model of memory says that it takes with the costs of assumed_machine.
struct BoardGuess {
  const Algorithm* algorithm = nullptr;
  WantedParameters wanted{};
  std::uint64_t femtoseconds = 0;
};
/// What choose_board compares for a team in several domains of memory; of equal times the first counts. The first `count` are set; none:
/// the model is not asked, and the limits that were measured hold.
struct BoardGuesses {
  std::array<BoardGuess, 4> all{};
  std::size_t count = 0;
  std::span<const BoardGuess> made() const noexcept { return std::span(all).first(count); }
};
BoardGuesses guesses_of(const Shape& shape, const TeamTraits& team) noexcept;

/// Whether the choice for a shape depends on TeamTraits::domains, which take time to find.
bool depends_on_domains(const Shape& shape, const TeamTraits& team) noexcept;
/// What runs on the board for a call whose algorithm was chosen.
struct BoardRun {
  const Algorithm* algorithm = nullptr;  ///< the chosen one, unless it could not do what is converted
  Shape shape;                           ///< long blocks are as they are in the users' buffers
  bool by_domains = false;               ///< whether it may keep to the members' domains of memory
};
/// `narrow`: bytes of an element in the users' buffers, if it is converted for combining; else 0. Requires: the chosen algorithm is
/// one of a board.
BoardRun run_on_board(const Algorithm& chosen, const Shape& shape, std::uint32_t narrow) noexcept;

/// What a board's algorithm does with a shape, for `explain`.
std::string board_lines(const Choice& choice, const TeamTraits& team);
/// The cost of an algorithm on a board, as it runs there: trees are as deep as the team's domains of memory make them.
Cost cost_on_board(const Choice& choice, const TeamTraits& team) noexcept;
/// Why the team does not use the board's algorithms other than the chosen one: lines of text. `otherwise`: why, of an algorithm that could.
std::string why_not_boards(const Choice& choice, const Shape& shape, const TeamTraits& team,
                           std::string_view otherwise);

}  // namespace aqueduct::coll
