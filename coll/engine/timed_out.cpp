#include "coll/engine/timed_out.hpp"

#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"

#include <algorithm>
#include <new>

namespace aqueduct::coll {

bool TimedOut::any_before(std::uint64_t number) const noexcept {
  return std::ranges::any_of(running_, [&](std::uint64_t one) { return one < number; });
}

core::Op* TimedOut::take_free() noexcept {
  const auto found = std::ranges::find_if(held_, [&](const Held& one) { return !any_before(one.number); });
  if (found == held_.end()) return nullptr;
  core::Op* const op = found->op;
  held_.erase(found);
  return op;
}

void Collectives::times_out(const core::Op& op) noexcept {
  for (auto& [id, team] : teams_) {
    if (team.engine->times_out(op)) return;
  }
}

/// The program has stopped waiting for the call that ends this operation. False: no call of this team does.
bool TeamEngine::times_out(const core::Op& op) noexcept try {
  for (const CallRecord* call = first_; call != nullptr; call = call->next) {
    if (call->op != &op) continue;
    if (timed_out_ == nullptr) timed_out_ = std::make_unique<TimedOut>();
    timed_out_->add(call->number);
    return true;
  }
  return false;
} catch (const std::bad_alloc&) {
  return true;  // without memory, later calls may end early
}

/// A call is over, while calls run that have timed out: ends the caller's operation, or holds it back.
void TeamEngine::end_among_timed_out(core::Op& op, std::uint64_t number, Sync out, Status outcome) noexcept {
  if (!timed_out_->over(number) && outcome && out == Sync::all && timed_out_->any_before(number)) {
    try {
      return timed_out_->hold(number, op);
    } catch (const std::bad_alloc&) {  // it ends early
    }
  }
  state_.ops.part_ended(op, outcome);
  // Each may begin other calls.
  while (timed_out_ != nullptr) {
    core::Op* const next = timed_out_->take_free();
    if (next == nullptr) break;
    state_.ops.part_ended(*next, {});
  }
  if (timed_out_ != nullptr && timed_out_->empty()) timed_out_.reset();
}

}  // namespace aqueduct::coll
