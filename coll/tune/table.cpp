#include "coll/tune/table.hpp"

#include "coll/algorithms/algorithms.hpp"
#include "coll/tune/barrier_shape.hpp"
#include "coll/tune/board_choice.hpp"
#include "coll/tune/candidates.hpp"
#include "coll/tune/native_choice.hpp"
#include "coll/tune/operation_word.hpp"

#include <fmt/format.h>

#include <utility>

namespace aqueduct::coll {

namespace {

Choice choice_of(const Algorithm& algorithm, const Fit& how) noexcept {
  return {.algorithm = &algorithm, .shape = how.shape, .piece = how.piece, .why = {}};
}

/// With so little scratch the number of pieces decides: the first of the algorithms with the largest ones.
Choice choose_with_cut_elements(Shape shape, const TeamTraits& team, const ScratchLayout& scratch) noexcept {
  Choice best;
  if (reduces(shape.operation) || shape.element == 1) return best;
  shape.element = 1;
  Candidates candidates(shape, team);
  for (Candidate one = candidates.next(); one.algorithm != nullptr; one = candidates.next()) {
    const Fit how = fit(*one.algorithm, one.wanted, shape, team, scratch);
    if (how.refusal == nullptr && (best.algorithm == nullptr || how.piece > best.piece))
      best = choice_of(*one.algorithm, how);
  }
  return best;
}

/// What the table chooses.
Choice choose_by_table(const Shape& shape, const TeamTraits& team, const ScratchLayout& scratch) noexcept {
  Choice none;
  none.shape = shape;
  none.why = "there is no algorithm for this operation";
  Candidates candidates(shape, team);
  for (Candidate one = candidates.next(); one.algorithm != nullptr; one = candidates.next()) {
    const Fit how = fit(*one.algorithm, one.wanted, shape, team, scratch);
    if (how.refusal == nullptr) return choice_of(*one.algorithm, how);
    none.why = "no algorithm can do it with the team's scratch; a larger AQUEDUCT_COLL_SCRATCH may help";
    none.no_memory = true;
  }
  const Choice cut = choose_with_cut_elements(shape, team, scratch);
  return cut.algorithm != nullptr ? cut : none;
}

/// The names of the algorithms that can do it: "ring, circulant".
std::string names_that_can(const Shape& shape, const TeamTraits& team, const ScratchLayout& scratch) {
  std::string names;
  for (const Algorithm* const algorithm : KnownAlgorithms(team.added)) {
    if (algorithm->operation != shape.operation) continue;
    if (fit_with_any(*algorithm, shape, team, scratch).refusal != nullptr) continue;
    if (!names.empty()) names += ", ";
    names += algorithm->name;
  }
  for (const Algorithm& algorithm : board_algorithms()) {
    if (algorithm.operation != shape.operation) continue;
    if (fit_board(algorithm, {}, shape, team).refusal != nullptr) continue;
    if (!names.empty()) names += ", ";
    names += algorithm.name;
  }
  const Algorithm* const native = native_algorithm(shape.operation);
  if (native != nullptr && fit_native(*native, shape, team, scratch).refusal == nullptr)
    names += names.empty() ? "native" : ", native";
  return names;
}

}  // namespace

Fit fit_or_cut(const Algorithm& algorithm, const WantedParameters& wanted, const Shape& shape,
               const TeamTraits& team, const ScratchLayout& scratch) noexcept {
  const Fit how = fit(algorithm, wanted, shape, team, scratch);
  if (how.refusal == nullptr || algorithm.native || algorithm.board != BoardMethod::none ||
      reduces(shape.operation) || shape.element == 1)
    return how;
  Shape bytes = shape;
  bytes.element = 1;
  const Fit cut = fit(algorithm, wanted, bytes, team, scratch);
  return cut.refusal == nullptr ? cut : how;
}

Fit fit_with_any(const Algorithm& algorithm, const Shape& shape, const TeamTraits& team,
                 const ScratchLayout& scratch) noexcept {
  if (is_for_settings_alone(algorithm)) return fit_or_cut(algorithm, {}, shape, team, scratch);
  Fit first;
  first.refusal = "it is for another operation";
  bool tried = false;
  Candidates candidates(shape, team);
  for (Candidate one = candidates.next(); one.algorithm != nullptr; one = candidates.next()) {
    if (one.algorithm != &algorithm) continue;
    const Fit how = fit_or_cut(algorithm, one.wanted, shape, team, scratch);
    if (how.refusal == nullptr) return how;
    if (!std::exchange(tried, true)) first = how;
  }
  return first;
}

Choice TableChooser::choose(const Shape& shape, const TeamTraits& team,
                            const ScratchLayout& scratch) const noexcept {
  return choose(asked(shape, team), team, scratch);
}

Choice TableChooser::choose_barrier(const TeamTraits& team, const ScratchLayout& scratch) const noexcept {
  return choose(asked_barrier(team, scratch), team, scratch);
}

const char* TableChooser::why_barrier_differs(const TeamTraits& team,
                                              const ScratchLayout& scratch) const noexcept {
  return asked_barrier(team, scratch).left;
}

Choice TableChooser::choose(const Asked& asked, const TeamTraits& team,
                            const ScratchLayout& scratch) const noexcept {
  const Shape& shape = asked.shape;
  if (asked.is_forced()) {
    const Forced& user = asked.user;
    const Fit how = fit_or_cut(*user.algorithm, user.wanted, shape, team, scratch);
    if (how.refusal == nullptr) return choice_of(*user.algorithm, how);
    Choice none;
    none.shape = shape;
    none.why = why_not(user, how.refusal, shape, team, scratch);
    return none;
  }
  if (const Choice board = choose_board(shape, team); board.algorithm != nullptr && team.native == nullptr)
    return board;
  return better_of_table_and_native(choose_by_table(shape, team, scratch), shape, team, scratch);
}

/// Of what a setting asks for, calls by `team-tree` may be left to the rules.
TableChooser::Asked TableChooser::asked(const Shape& shape, const TeamTraits& team) const noexcept {
  Asked out{shape, {}, nullptr, false};
  if (shape.operation != Operation::barrier) out.user = forced(shape.operation);
  if (out.user.algorithm == nullptr || !out.user.algorithm->team_tree) return out;
  if (team.tree == nullptr)
    out.left = "the team has no tree";
  else if (reduces(shape.operation) && (shape.order == Order::exact || !shape.commutative))
    out.left = "it combines in the order of its tree";
  return out;
}

TableChooser::Asked TableChooser::asked_barrier(const TeamTraits& team,
                                                const ScratchLayout& scratch) const noexcept {
  Asked out{barrier_shape(team.ranks), forced(Operation::barrier), nullptr, true};
  if (out.user.algorithm != nullptr)
    out.left = fit_or_cut(*out.user.algorithm, out.user.wanted, out.shape, team, scratch).refusal;
  return out;
}

std::string_view TableChooser::keep(std::string text) const {
  const std::lock_guard lock(mutex_);
  return *texts_.insert(std::move(text)).first;
}

std::string_view TableChooser::why_not(const Forced& user, const char* reason, const Shape& shape,
                                       const TeamTraits& team, const ScratchLayout& scratch) const noexcept {
  try {
    const std::string names = names_that_can(shape, team, scratch);
    return keep(fmt::format("a setting asks for the algorithm {} for {}, which cannot do it: {}; {}",
                            user.algorithm->name, operation_word(shape.operation), reason,
                            names.empty() ? "nor can any other" : "these can: " + names));
  } catch (...) {
    return reason;
  }
}

std::string name_of(const Algorithm& algorithm, const Shape& shape) {
  std::string text(algorithm.name);
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i)
    text += fmt::format("{}{}={}", i == 0 ? ':' : ',', algorithm.parameters[i].name, shape.parameters[i]);
  return text;
}

}  // namespace aqueduct::coll
