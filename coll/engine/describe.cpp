// What stall reports tell of a team's calls.

#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"

#include <algorithm>

namespace aqueduct::coll {

void TeamEngine::describe(std::string& text, CallQuestions& questions) const {
  // The oldest: the others of the team are behind it.
  const Run* const run = active_ != nullptr ? active_ : held_;
  if (run == nullptr) return;
  const CallRecord& operation = *run->operation;
  text += fmt::format("; call {} of a team of {} ranks, {}", operation.number, ranks_,
                      text_of(operation.call->request.description));
  if (run == held_) text += ", is held until its scratch is free";
  if (run->on_board) describe_board(text, *run);
  for (std::uint32_t i = 0; i < run->lane_count && run != held_; ++i) {
    const Run::Lane& lane = run->lanes[i];
    if (lane.ended || lane.step == nullptr) continue;
    text += fmt::format(", step {} of {}", lane.next + 1, lane.length);
    if (is_with_conduit(*run)) {
      describe_native(text, *run);
      continue;
    }
    if (lane.step->wait_for != kNoCounter) {
      text +=
          fmt::format(" waits for {} of {} arrivals",
                      lane.step->wait_until - (scratch_->count(run->portion, lane.step->wait_for) & 0xffff),
                      lane.step->wait_until);
    }
    if (lane.step->peer == kNoRank) continue;
    text += fmt::format(" to rank {}", team_.members[lane.step->peer]);
    if (!scratch_->may_write(run->portion, lane.step->peer))
      text += ", whose scratch was in use when it last said so";
  }
  // Not every step says which member it waits for; a few members say what they do. Calls that differ end then; the next report tells.
  constexpr Rank kMostAsked = 8;
  for (Rank i = 1; i < std::min(ranks_, kMostAsked); ++i)
    questions.ask(id_, team_.members[(position_ + ranks_ - i) % ranks_], operation.number);
  questions.compare(text, id_, operation.number, operation.call->request.description);
}

/// This member's call of that number; null if it has not made it, or does not know it any more.
const CallDescription* TeamEngine::call_of(std::uint64_t number) const noexcept {
  if (const CallDescription* const kept = agreement_.call_of(number)) return kept;
  for (const CallRecord* call = first_; call != nullptr; call = call->next) {
    if (call->number == number) return &call->call->request.description;
  }
  return nullptr;
}

}  // namespace aqueduct::coll
