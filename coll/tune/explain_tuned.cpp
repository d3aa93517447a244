// Why a choice by measurements or by a model is what it is.

#include "coll/algorithms/algorithms.hpp"
#include "coll/tune/board_choice.hpp"
#include "coll/tune/explain.hpp"
#include "coll/tune/native_choice.hpp"
#include "coll/tune/tuned_chooser.hpp"
#include "coll/tune/tuning_file.hpp"

#include <fmt/format.h>

namespace aqueduct::coll {

namespace {

constexpr const char* kNotTuned = "it was slower when the team was tuned, or was not tried";
constexpr const char* kNotLearned = "it was slower when it was tried, or was not tried";

std::string microseconds(std::uint64_t picoseconds) {
  return fmt::format("{:.3f} us", static_cast<double>(picoseconds) / 1e6);
}

/// How its time is known: "takes 12.3 us, as the replay says".
std::string time_of(const Ranked& one) {
  const std::string time = microseconds(one.timed.picoseconds);
  switch (one.known) {
    case Known::measured: return fmt::format("measured: {}", time);
    case Known::replayed:
      if (one.narrow_picoseconds == 0) return fmt::format("predicted by replay: {}", time);
      return fmt::format("predicted by replay: {}, {} if far hosts share links", time,
                         microseconds(one.narrow_picoseconds));
    case Known::estimated: return fmt::format("estimated: {}", time);
  }
  return time;
}

/// The best of an algorithm's entries in the ranking; null: it has none.
const Ranked* best_of(const Ranking& ranking, const Algorithm& algorithm) noexcept {
  for (const Ranked& one : ranking.all) {
    if (one.timed.algorithm == &algorithm) return &one;
  }
  return nullptr;
}

}  // namespace

std::string TunedChooser::ranking_lines(const Answer& found, const Question& question) {
  const Ranking& ranking = *found.ranking;
  const Ranked& chosen = ranking.all[found.place];
  std::string text = fmt::format("  {}", time_of(chosen));
  if (chosen.known == Known::measured) {
    text += fmt::format(", the median of {} calls", ranking.samples);
    const TuningKey& at = ranking.measured_at;
    TuningKey here = question.key;
    here.kind = at.kind;
    here.hosts = at.hosts;
    here.crowded = at.crowded;
    if (at != here || ranking.other_hosts)
      text += fmt::format(", at the nearest measured size ({}{} members{})",
                          question.barrier() ? "" : fmt::format("{} bytes, ", least_bytes_of(at.size)),
                          at.ranks, at.hosts == 0 ? "" : fmt::format(" on {} hosts", at.hosts));
  } else {
    text += fmt::format(", for blocks of {} bytes", judged_shape(question.key).bytes);
  }
  text += '\n';
  for (std::size_t i = 0; i < found.place; ++i)
    text += fmt::format("  {} would come first ({}), but cannot do it with the team's scratch\n",
                        coll::name_of(ranking.all[i].timed), time_of(ranking.all[i]));
  if (found.place + 1 < ranking.all.size()) {
    const Ranked& next = ranking.all[found.place + 1];
    text += fmt::format("  runner-up {}, {}\n", coll::name_of(next.timed), time_of(next));
  }
  return text;
}

std::string TunedChooser::explain_learned(const Answer& found, const Question& question,
                                          const TeamTraits& team, const ScratchLayout& scratch) {
  const Shape& shape = question.shape;
  std::string text = heading_of(shape, question.barrier());
  text += chosen_lines(found.choice, team, scratch, "");
  if (found.choice.algorithm->native && team.native != nullptr) text += native_lines(found.choice, team);
  text += fmt::format("  learned while the program ran: {} when it became the best one\n",
                      microseconds(found.learned->picoseconds));
  for (const Algorithm* const algorithm : KnownAlgorithms(team.added)) {
    if (algorithm->operation != shape.operation || algorithm == found.choice.algorithm) continue;
    const Fit how = fit_with_any(*algorithm, shape, team, scratch);
    text += fmt::format("  not {}: {}\n", algorithm->name,
                        how.refusal != nullptr ? how.refusal : why_not_chosen(*algorithm, kNotLearned));
  }
  if (team.board.slots != 0) text += why_not_boards(found.choice, shape, team, kNotLearned);
  return text;
}

std::string TunedChooser::left_line(const Question& question, const TeamTraits& team,
                                    const ScratchLayout& scratch) const {
  return question.barrier() ? rules_.left_barrier_line(team, scratch)
                            : rules_.left_line(question.shape, team);
}

std::string TunedChooser::explain_rules(const Question& question, const TeamTraits& team,
                                        const ScratchLayout& scratch) const {
  return question.barrier() ? rules_.explain_barrier(team, scratch)
                            : rules_.explain(question.shape, team, scratch);
}

std::string TunedChooser::explain(const Shape& shape, const TeamTraits& team,
                                  const ScratchLayout& scratch) const {
  return explain(Question{shape, key_of(shape, team)}, team, scratch);
}

std::string TunedChooser::explain_barrier(const TeamTraits& team, const ScratchLayout& scratch) const {
  return explain(barrier_of(team), team, scratch);
}

std::string TunedChooser::explain(const Question& question, const TeamTraits& team,
                                  const ScratchLayout& scratch) const {
  const Shape& shape = question.shape;
  const Answer found = answer(question, team, scratch);
  if (found.ranking == nullptr && found.above == nullptr) {
    return explain_rules(question, team, scratch) +
           (table_->empty() ? "  by the rules: nothing was measured, and no model of the network is known\n"
                            : "  by the rules: neither measurements nor a model say more\n");
  }
  if (found.learned != nullptr) return explain_learned(found, question, team, scratch);
  if (found.ranking == nullptr) return explain_rules(question, team, scratch);
  std::string text = heading_of(shape, question.barrier());
  text += chosen_lines(found.choice, team, scratch, "");
  if (found.choice.algorithm->native && team.native != nullptr) text += native_lines(found.choice, team);
  text += ranking_lines(found, question);
  text += left_line(question, team, scratch);
  const bool measured = found.ranking->all[found.place].known == Known::measured;
  for (const Algorithm* const algorithm : KnownAlgorithms(team.added)) {
    if (algorithm->operation != shape.operation || algorithm == found.choice.algorithm) continue;
    const Fit how = fit_with_any(*algorithm, shape, team, scratch);
    std::string reason;
    if (how.refusal != nullptr) {
      reason = how.refusal;
    } else if (const Ranked* const one = best_of(*found.ranking, *algorithm)) {
      reason = fmt::format("{} with {}", time_of(*one), coll::name_of(one->timed));
    } else {
      reason =
          why_not_chosen(*algorithm, measured ? kNotTuned : "it is not among the first ones of the model");
    }
    text += fmt::format("  not {}: {}\n", algorithm->name, reason);
  }
  if (team.board.slots != 0)
    text += why_not_boards(found.choice, shape, team,
                           measured ? kNotTuned : "it could, but another is preferred");
  if (team.native != nullptr) text += why_not_native(found.choice, shape, team, scratch, false);
  return text;
}

}  // namespace aqueduct::coll
