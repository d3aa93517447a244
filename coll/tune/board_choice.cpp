#include "coll/tune/board_choice.hpp"

#include "coll/algorithms/algorithms.hpp"
#include "coll/schedule/schedule.hpp"
#include "coll/shared/board_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace aqueduct::coll {

namespace {

// Chosen: up to here a copy into a slot is cheaper than what a schedule does for each message. With more members each of them
// reads what all have published.
constexpr std::uint64_t kMostOfTwo = 4096;
constexpr std::uint64_t kMostOfMany = 1024;
/// Chosen: pieces of what must go through the board are at least so long.
constexpr std::uint32_t kLeastBulk = 1024;
/// Chosen: more members than this do not all look at all.
constexpr Rank kMostFlat = 8;

BoardMethod method_for(const Shape& shape, const TeamTraits& team) noexcept {
  if (shape.ranks == 2 || has_root(shape.operation)) {
    const bool tree = shape.ranks > kMostFlat && !team.crowded;
    return tree && board_algorithm(shape.operation, BoardMethod::tree) != nullptr ? BoardMethod::tree
                                                                                  : BoardMethod::flat;
  }
  // Where a member waits only for those before it, it runs ahead, and ranks that share a processor switch less often.
  const bool one_way = shape.operation == Operation::scan || shape.operation == Operation::exscan;
  if (one_way && shape.in != Sync::all && shape.out != Sync::all && team.crowded) return BoardMethod::chain;
  if (team.crowded) return BoardMethod::last;
  if (shape.ranks > kMostFlat && shape.operation == Operation::all_reduce) return BoardMethod::tree;
  return shape.ranks > kMostFlat ? BoardMethod::last : BoardMethod::flat;
}

/// Of what is longer.
BoardMethod large_method_for(const Shape& shape, const TeamTraits& team) noexcept {
  if (!reduces(shape.operation)) return BoardMethod::mapped;
  return team.crowded ? BoardMethod::claims : BoardMethod::tiles;
}

}  // namespace

Fit fit_board(const Algorithm& algorithm, const WantedParameters& wanted, const Shape& shape,
              const TeamTraits& team) noexcept {
  Fit out;
  out.shape = shape;
  out.shape.parameters = {};
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i)
    out.shape.parameters[i] = wanted[i] != 0 ? wanted[i] : algorithm.parameters[i].usual;
  out.piece = std::max<std::uint64_t>(shape.bytes, shape.element);
  out.refusal = Schedule::refusal(algorithm, out.shape);
  if (out.refusal != nullptr) return out;
  if (team.board.slots == 0) {
    out.refusal =
        "the team has no board: its members do not share memory, or it was made when little was left";
  } else if (is_large(algorithm.board)) {
    if (piece_through(shape, team.board) == 0)
      out.refusal = "the team's board is too small for what cannot be read where it is";
  } else if (payload_of(shape) > team.board.payload()) {
    out.refusal = "what a member publishes is longer than its slot of the team's board";
  }
  return out;
}

Choice choose_board(const Shape& shape, const TeamTraits& team) noexcept {
  Choice none;
  if (team.board.slots == 0) return none;
  const bool is_short = payload_of(shape) <= (shape.ranks == 2 ? kMostOfTwo : kMostOfMany);
  if (!is_short && team.board.bulk < kLeastBulk) return none;
  const BoardMethod wanted = is_short ? method_for(shape, team) : large_method_for(shape, team);
  for (const BoardMethod method : {wanted, is_short ? BoardMethod::flat : wanted}) {
    const Algorithm* const algorithm = board_algorithm(shape.operation, method);
    if (algorithm == nullptr) continue;
    const Fit how = fit_board(*algorithm, {}, shape, team);
    if (how.refusal == nullptr)
      return {.algorithm = algorithm, .shape = how.shape, .piece = how.piece, .why = {}};
  }
  return none;
}

std::string board_lines(const Choice& choice) {
  const Cost cost = Schedule::cost(*choice.algorithm, choice.shape);
  if (is_large(choice.algorithm->board)) {
    return fmt::format(
        "  members access each other's buffers where these lie in segments; else bytes go through the "
        "board\n  "
        "moves {} bytes, {} signals, {} deep, beside those of Sync::all\n",
        cost.bytes, cost.messages, cost.depth);
  }
  const std::uint64_t payload = payload_of(choice.shape);
  return fmt::format(
      "  on the team's board; a member publishes {} bytes, {}\n  moves at most {} lines, {} deep, beside "
      "those of Sync::all\n",
      payload, payload <= kInlinePayload ? "beside its number" : "in memory of their own", cost.bytes / 64,
      cost.depth);
}

std::string why_not_boards(const Choice& choice, const Shape& shape, const TeamTraits& team, bool forced) {
  std::string text;
  for (const Algorithm& algorithm : board_algorithms()) {
    if (algorithm.operation != shape.operation || &algorithm == choice.algorithm) continue;
    const Fit how = fit_board(algorithm, {}, shape, team);
    const char* reason = how.refusal;
    if (reason == nullptr)
      reason = forced ? "it could, but a setting asks for another" : "it could, but another is preferred";
    text += fmt::format("  not {}: {}\n", algorithm.name, reason);
  }
  return text;
}

}  // namespace aqueduct::coll
