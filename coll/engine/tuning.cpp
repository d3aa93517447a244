// What a search for something better needs of the engine: its trials, and another table.

#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"

#include <utility>

namespace aqueduct::coll {

/// Calls like the last ones are chosen for anew. Those in flight, and plans, go on as they began.
void TeamEngine::forget_calls() noexcept {
  if (latest_ == nullptr) return;
  for (KnownCall*& known : latest_->known) {
    if (known != nullptr) let_go(*std::exchange(known, nullptr));
  }
  for (Method*& method : latest_->methods) {
    if (method == nullptr) continue;
    method->kept = false;
    if (method->uses == 0) layer_.methods().give_back(*method);
    method = nullptr;
  }
}

void TeamEngine::try_out(const TuningKey& key, const Timed& what) noexcept {
  chooser_.try_out(key, what);
  forget_calls();
  barrier_ = nullptr;
}

bool TeamEngine::end_trial() noexcept {
  const bool used = chooser_.end_trial();
  forget_calls();
  barrier_ = nullptr;
  return used;
}

void TeamEngine::have_tuning(std::shared_ptr<const TuningTable> table) {
  if (learning_ != nullptr) learning_->start_over();
  chooser_.have_table(std::move(table));
  forget_calls();
  barrier_ = nullptr;
  for (const auto& one : barriers_) drop_prepared(one->call);  // of those that a search has tried
}

void TeamEngine::give_up_calls(ErrorCode why) noexcept {
  // If no call is in flight, the others are told that this member refuses the next one.
  if (first_ == nullptr && broken_.ok()) refuse(refused_call({}, why), why);
  fail_and_tell(why);
  static_cast<void>(advance());
}

}  // namespace aqueduct::coll
