#include "coll/tune/explain.hpp"

#include "coll/algorithms/algorithms.hpp"
#include "coll/schedule/schedule.hpp"
#include "coll/tune/board_choice.hpp"
#include "coll/tune/candidates.hpp"
#include "coll/tune/explain_sync.hpp"
#include "coll/tune/native_choice.hpp"
#include "coll/tune/operation_word.hpp"
#include "coll/tune/table.hpp"

#include <fmt/format.h>

namespace aqueduct::coll {

std::string heading_of(const Shape& shape, bool barrier) {
  const std::string head =
      fmt::format("{} of {} bytes, {} members\n", operation_word(shape.operation), shape.bytes, shape.ranks);
  return barrier ? fmt::format("barrier, {} members\n  {}", shape.ranks, head) : head;
}

std::string chosen_lines(const Choice& choice, const TeamTraits& team, const ScratchLayout& scratch,
                         std::string_view note) {
  const std::uint64_t pieces = number_of_pieces(choice);
  const Shape piece = pieces == 1 ? choice.shape : piece_of(choice.shape, choice.piece);
  const Needs needs = Schedule::needs(*choice.algorithm, piece);
  const Cost cost = cost_of(choice);
  std::string text = fmt::format("  {}{}\n", name_of(*choice.algorithm, choice.shape), note);
  if (choice.algorithm->native) return text;
  if (choice.algorithm->board != BoardMethod::none) return text + board_lines(choice, team);
  text += pieces == 1 ? std::string("  in one piece")
                      : fmt::format("  in {} pieces of {} bytes of each block", pieces, choice.piece);
  text += fmt::format(
      "; each needs {} bytes of scratch, {} of temporary memory and {} counters; a bank has "
      "{} bytes and {} counters\n",
      needs.scratch, needs.temp, needs.counters, scratch.sizes().bytes, scratch.sizes().counters);
  text += sync_line(*choice.algorithm, choice.shape);
  if (Announced::needed(*choice.algorithm, choice.shape))
    text +=
        "  members announce where their blocks are to be put: in the output, if it is in a segment of all "
        "members\n";
  text += fmt::format("  sends {} messages with {} bytes in all, {}{} deep{}\n", cost.messages, cost.bytes,
                      cost.depth_is_limit ? "at most " : "", cost.depth, pieces == 1 ? "" : " in each piece");
  return text;
}

std::string_view why_not_chosen(const Algorithm& algorithm, std::string_view otherwise) noexcept {
  return is_for_settings_alone(algorithm) ? "it could, but only a setting chooses it" : otherwise;
}

std::string TableChooser::line_of(const Asked& asked) {
  if (asked.left == nullptr) return {};
  return fmt::format("  (a setting asks for {}, but {})\n", asked.user.algorithm->name, asked.left);
}

std::string TableChooser::explain(const Shape& shape, const TeamTraits& team,
                                  const ScratchLayout& scratch) const {
  return explain(asked(shape, team), team, scratch);
}

std::string TableChooser::explain_barrier(const TeamTraits& team, const ScratchLayout& scratch) const {
  return explain(asked_barrier(team, scratch), team, scratch);
}

std::string TableChooser::explain(const Asked& asked, const TeamTraits& team,
                                  const ScratchLayout& scratch) const {
  const Shape& shape = asked.shape;
  std::string text = heading_of(shape, asked.barrier);
  const Choice choice = choose(asked, team, scratch);
  const bool user = asked.is_forced();
  if (choice.algorithm == nullptr) {
    text += fmt::format("  none: {}\n", choice.why);
  } else {
    text += chosen_lines(choice, team, scratch, user ? " (a setting asks for it)" : "");
    if (choice.algorithm->native && team.native != nullptr) text += native_lines(choice, team);
  }
  text += line_of(asked);
  for (const Algorithm* const algorithm : KnownAlgorithms(team.added)) {
    if (algorithm->operation != shape.operation || algorithm == choice.algorithm) continue;
    const Fit how = fit_with_any(*algorithm, shape, team, scratch);
    const std::string_view reason =
        how.refusal != nullptr ? how.refusal
        : user                 ? "it could, but a setting asks for another"
                               : why_not_chosen(*algorithm, "it could, but the table prefers another");
    text += fmt::format("  not {}: {}\n", algorithm->name, reason);
  }
  if (team.board.slots != 0 || user) {
    text += why_not_boards(
        choice, shape, team,
        user ? "it could, but a setting asks for another" : "it could, but another is preferred");
  }
  // Most conduits offer none: that is not worth a line.
  if (!asked.barrier && (team.native != nullptr || user))
    text += why_not_native(choice, shape, team, scratch, user);
  return text;
}

}  // namespace aqueduct::coll
