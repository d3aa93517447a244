// What becomes of a team's calls when one of them has failed.

#include "coll/engine/call_text.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"

#include <algorithm>
#include <utility>

namespace aqueduct::coll {

/// Ends the operations from number `from` on with `why`, as soon as nothing uses their buffers. Later calls get it at
/// once. Earlier operations go on: members that are behind may still need this one for them.
void TeamEngine::fail(Status why, std::uint64_t from) noexcept {
  quiet_ = false;
  see_short_way();
  // A member that does not have the team refuses its calls too.
  if (why.code() == ErrorCode::mismatch && !team_.absent) why = team_.absent;
  if (!broken_.ok()) agreement_.end_doubt();
  if (broken_.ok()) {
    broken_ = why;
    first_broken_ = from;
  } else if (from < broken_from_) {
    earlier_ = why;  // such as a loss, after members have disagreed about a later call
  }
  broken_from_ = std::min(broken_from_, from);
  if (native_ != nullptr) cancel_native();
  if (from == 0 && scratch_ != nullptr) scratch_->close();
}

/// A failure that only this member knows: a transfer that its conduit has given up. The others would wait for ever.
void TeamEngine::fail_and_tell(Status why) noexcept {
  if (!broken_.ok()) log_second_failure(why);
  if (first_ != nullptr && !team_gone_ && why.code() != ErrorCode::peer_lost) {
    layer_.tell(*this, first_->number, refused_call(first_->call->request.description, why.code()));
  }
  fail(why, 0);
}

/// Calls of the team end for two reasons: the earlier ones for `why`, the others for the failure before.
void TeamEngine::log_second_failure(Status why) noexcept {
  const CallRecord* const oldest = first_;
  if (oldest == nullptr || oldest->number >= first_broken_) return;  // nobody is told of it
  CallText text;
  text.add("on a team of {} ranks, calls {} to {}, of which the first is ", ranks_, oldest->number,
           first_broken_ - 1);
  add_call(text, oldest->call->request.description);
  text.add(", end with ");
  add_refusal(text, static_cast<std::uint16_t>(why.code()));
  text.add("; the calls after them have ended with ");
  add_refusal(text, static_cast<std::uint16_t>(broken_.code()));
  text.add(" before");
  state_.log.error("{}", text.view());
}

/// After a failure: ends the cancelled operations whose buffers nobody uses any more.
void TeamEngine::reap() noexcept {
  if (held_ != nullptr && cancelled(*held_->operation)) {
    held_->schedule.reset();
    layer_.runs().give_back(*std::exchange(held_, nullptr));
  }
  for (Run** at = &active_; *at != nullptr;) {
    Run& run = **at;
    const bool is_cancelled = cancelled(*run.operation);
    for (std::uint32_t i = 0; i < run.lane_count && is_cancelled; ++i) {
      if (core::Op* const strided = std::exchange(run.lanes[i].strided, nullptr))
        state_.ops.part_ended(*strided, why_cancelled(*run.operation));
    }
    // The team may end while puts of the run are in flight, and then the output is the program's again. A child has no conduit.
    if (is_cancelled && !state_.in_child()) end_redirects(run);
    if (!is_cancelled || run.own != 0 || run.sources.parts != 1) {
      at = &run.next;
      continue;
    }
    *at = run.next;
    if (*at == nullptr) active_end_ = at;
    if (run.on_board && !run.complete && board_->may_step(run.board) && !state_.in_child())
      board_->leave(run.board);
    run.schedule.reset();
    layer_.runs().give_back(run);
  }
  for (CallRecord* operation = first_; operation != nullptr;) {
    CallRecord* const next = operation->next;
    bool in_use = !cancelled(*operation);
    for (const Run* run = active_; run != nullptr && !in_use; run = run->next)
      in_use = run->operation == operation;
    if (!in_use) {
      over(*operation, why_cancelled(*operation));
      forget(*operation);
    }
    operation = next;
  }
}

}  // namespace aqueduct::coll
