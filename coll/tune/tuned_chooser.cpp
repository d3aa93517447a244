#include "coll/tune/tuned_chooser.hpp"

#include "coll/tune/barrier_shape.hpp"
#include "coll/tune/board_choice.hpp"
#include "coll/tune/native_choice.hpp"

#include <new>
#include <utility>

namespace aqueduct::coll {

namespace {

/// The most rankings that are kept; then all are dropped. Chosen: some 400 KiB.
constexpr std::size_t kMostRankings = 512;

Choice choice_of(const Timed& one, const Fit& how) noexcept {
  return {.algorithm = one.algorithm, .shape = how.shape, .piece = how.piece, .why = {}};
}

}  // namespace

std::size_t TunedChooser::KeyHash::operator()(const TuningKey& key) const noexcept {
  const auto byte = [](auto value, int place) { return static_cast<std::uint64_t>(value) << (8 * place); };
  std::uint64_t hash = byte(key.operation, 0) | byte(key.in, 1) | byte(key.out, 2) | byte(key.addresses, 3) |
                       byte(key.order, 4) | byte(key.commutative, 5) | byte(key.size, 6) |
                       byte(key.crowded, 7);
  hash = (hash ^ (std::uint64_t{key.element} << 32 | key.ranks)) * 0x9e3779b97f4a7c15u;
  return static_cast<std::size_t>(hash ^ hash >> 29);
}

void TunedChooser::have_table(std::shared_ptr<const TuningTable> table) noexcept {
  table_ = std::move(table);
  kept_.reset();
}

const Ranking& TunedChooser::ranking_of(const TuningKey& key, const TeamTraits& team,
                                        const ScratchLayout& scratch) const {
  auto& rankings = kept().rankings;
  if (const auto found = rankings.find(key); found != rankings.end()) return found->second;
  Ranking made = rank(key, *table_, team, scratch);
  if (rankings.size() >= kMostRankings) rankings.clear();
  return rankings.emplace(key, std::move(made)).first->second;
}

TunedChooser::Question TunedChooser::barrier_of(const TeamTraits& team) noexcept {
  Shape barrier;
  barrier.operation = Operation::barrier;
  barrier.ranks = team.ranks;
  return {barrier_shape(team.ranks), key_of(barrier, team)};
}

Choice TunedChooser::by_rules(const Question& question, const TeamTraits& team,
                              const ScratchLayout& scratch) const noexcept {
  return question.barrier() ? rules_.choose_barrier(team, scratch)
                            : rules_.choose(question.shape, team, scratch);
}

TunedChooser::Answer TunedChooser::answer(const Question& question, const TeamTraits& team,
                                          const ScratchLayout& scratch) const {
  const Shape& shape = question.shape;
  const TuningKey& key = question.key;
  // A schedule that only signals, and no team's barrier.
  if (shape.operation == Operation::barrier)
    return {rules_.choose(shape, team, scratch), nullptr, 0, nullptr, nullptr};
  if (trial_ && trial_->key == key) {
    const Timed& what = trial_->what;
    const Fit how = fit_or_cut(*what.algorithm, what.wanted, shape, team, scratch);
    if (how.refusal == nullptr) {
      trial_->used = true;
      return {choice_of(what, how), nullptr, 0, "it is being tried out", nullptr};
    }
  }
  if (const Timed* const found = learned(key)) {
    const Timed& what = *found;
    const Fit how = fit_or_cut(*what.algorithm, what.wanted, shape, team, scratch);
    if (how.refusal == nullptr) {
      Choice choice = choice_of(what, how);
      choice.by = ChosenBy::measurement;
      return {std::move(choice), nullptr, 0, "it was learned", &what};
    }
  }
  const bool set = question.barrier() ? rules_.is_barrier_set(team, scratch) : rules_.is_set(shape, team);
  if (set) return {by_rules(question, team, scratch), nullptr, 0, "a setting"};
  if (table_->empty() || key.operation > Operation::exscan || shape.ranks < 2)
    return {by_rules(question, team, scratch), nullptr, 0, nullptr};
  const Ranking& ranking = ranking_of(key, team, scratch);
  const bool modelled = !ranking.all.empty() && ranking.all.front().known != Known::measured;
  // A model of messages says nothing about the team's board. The rules have limits that were measured.
  if (modelled && team.native == nullptr) {
    if (Choice board = choose_board(shape, team); board.algorithm != nullptr)
      return {std::move(board), nullptr, 0, "the team's board"};
  }
  for (std::size_t i = 0; i < ranking.all.size(); ++i) {
    const Timed& one = ranking.all[i].timed;
    const Fit how = fit_or_cut(*one.algorithm, one.wanted, shape, team, scratch);
    if (how.refusal != nullptr) continue;
    Choice choice = choice_of(one, how);
    if (modelled) choice = better_of_table_and_native(choice, shape, team, scratch);
    choice.by = modelled ? ChosenBy::model : ChosenBy::measurement;
    if (choice.algorithm != one.algorithm) return {std::move(choice), nullptr, 0, "the conduit's own"};
    return {std::move(choice), &ranking, i, nullptr};
  }
  return {by_rules(question, team, scratch), nullptr, 0, nullptr};
}

// Members that ranked differently would not run one operation. So a member without memory for a ranking refuses the call,
// and does not fall back on the rules.
Choice TunedChooser::would_choose(const Question& question, const TeamTraits& team,
                                  const ScratchLayout& scratch) const noexcept try {
  return answer(question, team, scratch).choice;
} catch (const std::bad_alloc&) {
  Choice none;
  none.shape = question.shape;
  none.why = "there is no memory to rank the algorithms";
  none.no_memory = none.lacks_here = true;
  return none;
}

Choice TunedChooser::choose(const Question& question, const TeamTraits& team,
                            const ScratchLayout& scratch) const noexcept {
  const Choice found = would_choose(question, team, scratch);
  if (counts_ != nullptr && !found.lacks_here) {
    switch (found.by) {
      case ChosenBy::rules: ++counts_->by_rules; break;
      case ChosenBy::model: ++counts_->by_model; break;
      case ChosenBy::measurement: ++counts_->by_measurement; break;
    }
  }
  return found;
}

Choice TunedChooser::would_choose(const Shape& shape, const TeamTraits& team,
                                  const ScratchLayout& scratch) const noexcept {
  return would_choose(Question{shape, key_of(shape, team)}, team, scratch);
}

Choice TunedChooser::choose(const Shape& shape, const TeamTraits& team,
                            const ScratchLayout& scratch) const noexcept {
  return choose(Question{shape, key_of(shape, team)}, team, scratch);
}

Choice TunedChooser::choose_barrier(const TeamTraits& team, const ScratchLayout& scratch) const noexcept {
  return choose(barrier_of(team), team, scratch);
}

}  // namespace aqueduct::coll
