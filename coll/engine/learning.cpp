// What a team learns of its blocking calls while the program runs.

#include "coll/engine/learning.hpp"

#include "coll/engine/collectives.hpp"
#include "coll/tune/learned_decisions.hpp"
#include "core/event_access.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

namespace aqueduct::coll {

namespace {

bool can_be_learned(const Shape& shape) noexcept {
  return shape.operation > Operation::barrier && shape.operation <= Operation::exscan;
}

}  // namespace

std::vector<Decision> Learning::decisions() const {
  std::vector<Decision> out;
  for (const auto& one : keys_) {
    const Key& key = one.second;
    const std::size_t second = key.bandit.runner_up();
    // What was tried in part may be worse than what the next job would do without it.
    if (second == Bandit::kNone || !(key.bandit.knows_all() || key.bandit.best() != 0)) continue;
    const auto timed = [&](std::size_t candidate) {
      Timed tried = key.field[candidate];
      tried.picoseconds = key.bandit.time_of(candidate) * 1000;
      return tried;
    };
    out.push_back({one.first, timed(key.bandit.best()), timed(second), Bandit::kSamples});
  }
  return out;
}

void Learning::start_over() {
  leftovers_.reserve(leftovers_.size() + keys_.size());  // before an Event is moved
  for (auto& [which, key] : keys_) {
    if (!key.combining.done()) leftovers_.push_back({std::move(key.words), std::move(key.combining)});
  }
  keys_.clear();
}

void Learning::leave(core::OpPool& ops, const std::function<void(std::shared_ptr<void>)>& keep) {
  start_over();
  for (Leftover& one : leftovers_) {
    if (one.combining.done()) continue;
    ops.abandon(aqueduct::detail::EventAccess::take(one.combining));
    keep(std::move(one.words));
  }
  leftovers_.clear();
}

Learning::Key* TeamChoices::key_to_learn(const Request& request) {
  // A forced all-reduce may be one that cannot combine what the members have measured.
  if (learning_ == nullptr || !layout_ || !can_be_learned(request.shape) ||
      layer_.rules().is_forced(request.shape.operation) || layer_.rules().is_forced(Operation::all_reduce))
    return nullptr;
  const Shape asked = asked_of(request);
  const TuningKey key = key_of(asked, traits_);
  if (Learning::Key* const found = learning_->find(key)) return found;
  if (learning_->is_full()) return nullptr;
  Learning::Key& added = learning_->add(key, field_of(key, asked));
  // An earlier job, or a search, has compared the candidates: all members have that table.
  const Decision* const known = chooser_.table().find(key);
  if (known != nullptr && known->key == key && !added.field.empty() &&
      added.field.front().algorithm == known->best.algorithm)
    added.bandit.settle();
  return &added;
}

Event TeamEngine::begin_as(const Request& request, const CollCall& given, const Learning::Key& key,
                           std::size_t candidate, CarriedOutBy& by) noexcept {
  latest_algorithm_ = nullptr;
  const bool trial = candidate != key.bandit.best();
  if (trial) chooser_.try_out(key.which, key.field[candidate]);
  trying_ = trial;
  Event event = begin(request, given, /*blocking=*/true);
  trying_ = false;
  // Calls of a key may have operators that only some algorithms know, and sizes that only some can do.
  const bool used = trial ? chooser_.end_trial()
                          : !key.field.empty() && latest_algorithm_ == key.field[candidate].algorithm;
  if (latest_algorithm_ == nullptr)
    by = CarriedOutBy::nothing;
  else
    by = used ? CarriedOutBy::candidate : CarriedOutBy::another;
  if (trial && by == CarriedOutBy::candidate) ++layer_.choices().trials;
  return event;
}

void TeamEngine::have_learned(const Learning::Key& key) {
  Timed best = key.field[key.bandit.best()];
  best.picoseconds = key.bandit.time_of(key.bandit.best()) * 1000;
  chooser_.learn(key.which, best);
  forget_calls();
  ++layer_.choices().changes;
}

/// What is still being combined: peers may write to its words.
void TeamChoices::leave_learning() noexcept {
  if (learning_ == nullptr) return;
  try {
    learning_->leave(state_.ops, [this](std::shared_ptr<void> words) { layer_.keep(std::move(words)); });
  } catch (const std::bad_alloc&) {
    static_cast<void>(learning_.release());  // rather than memory that peers write to
  }
}

void TeamChoices::tell_learned(LearnedDecisions& out) const noexcept try {
  if (learning_ == nullptr || position_ != 0 || state_.config.text("coll_tuning").empty() ||
      state_.in_child())
    return;
  if (const std::vector<Decision> decisions = learning_->decisions(); !decisions.empty())
    out.add(tuning_place(), decisions);
} catch (const std::exception& thrown) {
  state_.log.warn("AQUEDUCT_COLL_LEARN: what a team has learned is not saved: {}", thrown.what());
}

}  // namespace aqueduct::coll
