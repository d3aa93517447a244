#include "core/continuations.hpp"

#include "core/entry.hpp"
#include "core/event_access.hpp"

#include <cstring>
#include <new>
#include <utility>

namespace aqueduct {

namespace core {

using aqueduct::detail::EventAccess;

Continuations::Continuations(EndpointState& state) noexcept : state_(state), busy_(state.busy) {}

Status Continuations::then(Event& event, Continue run, const void* body, std::size_t bytes) noexcept {
  if (state_.in_child()) return ErrorCode::invalid_argument;
  const Op* const of = EventAccess::operation(event);
  if (of != nullptr && of->pool != &state_.ops) return ErrorCode::invalid_argument;
  Op* const record = state_.ops.acquire(kContinuation, kNoRank, true);
  if (record == nullptr) return ErrorCode::refused;
  Continued& continued = record->payload<Continued>();
  continued.run = run;
  std::memcpy(continued.body, body, bytes);
  after(event, *record);
  return {};
}

void Continuations::suspend(Event& event, Suspension& suspension) noexcept {
  suspension.pool = &state_.ops;
  // In a forked child it never continues. It is not listed either: those that the parent has suspended may be gone, and
  // a thread that the child does not have may have been changing the list at the fork.
  if (state_.in_child()) return;
  suspension.all = this;
  suspension.kind = &kContinuation;
  suspension.parts = 1;
  suspension.later = suspensions_;
  if (suspensions_ != nullptr) suspensions_->earlier = &suspension;
  suspensions_ = &suspension;
  suspension.of = EventAccess::operation(event);
  after(event, suspension);
}

// The record has one part, which is the operation's. If that is over already, the record is queued at once: with a
// program of several threads, it may have ended since the caller looked.
void Continuations::after(Event& event, Op& record) noexcept {
  record.layer = this;
  record.ended = operation_over;
  if (!event.done()) {
    EventAccess::take(event).group = &record;
    return;
  }
  state_.ops.part_ended(record, event.status());
  event = Event{};
}

bool Continuations::operation_over(Layer& layer, Op& record) noexcept {
  static_cast<Continuations&>(layer).push(record);
  return false;  // it ends when it has run
}

void Continuations::push(Op& record) noexcept {
  if (!record.is_explicit) static_cast<Suspension&>(record).of = nullptr;
  record.next = nullptr;
  (last_ != nullptr ? last_->next : first_) = &record;
  last_ = &record;
  ++queued_;
  busy_.set(true);
}

int Continuations::run() noexcept {
  if (first_ == nullptr || running_ || paused_ != 0) return 0;
  const Turn turn(state_);
  int ran = 0;
  // Those that are queued meanwhile run in the next round: otherwise a chain of them could keep the caller here.
  for (std::uint32_t left = queued_; left != 0 && first_ != nullptr; --left, ++ran) {
    Op& record = *first_;
    first_ = record.next;
    if (first_ == nullptr) last_ = nullptr;
    --queued_;
    run_one(record);
  }
  busy_.set(first_ != nullptr);
  return ran;
}

// `in_continuation` is true only while its thread holds the lock: whoever lets go of it there has cleared the flag
// before, and sets it again afterwards (wait_for_room). So other threads never see it, and it needs no place per thread.
Continuations::Turn::Turn(EndpointState& state) noexcept : state_(state) {
  state.continuations.running_ = state.in_continuation = true;
}

Continuations::Turn::~Turn() {
  state_.continuations.running_ = state_.in_continuation = false;
  state_.guard.changed();  // another thread may wait for the turn
}

// The record is free before the body runs: the body may need one itself, and a coroutine's may go with its frame.
void Continuations::run_one(Op& record) noexcept {
  const Status outcome = record.outcome;
  if (record.is_explicit) {
    Continued continued = record.payload<Continued>();
    state_.ops.take_back(record);
    continued.run(continued.body, outcome);
    return;
  }
  auto& suspension = static_cast<Suspension&>(record);
  const Continue run = suspension.run;
  void* const who = suspension.who;
  unlink(suspension);
  suspension.place->over();
  run(who, outcome);
}

void Continuations::unlink(Suspension& suspension) noexcept {
  if (suspension.later != nullptr) suspension.later->earlier = suspension.earlier;
  (suspension.earlier != nullptr ? suspension.earlier->later : suspensions_) = suspension.later;
}

void Continuations::forget(Suspension& suspension) noexcept {
  const Entry entry(state_);
  unlink(suspension);
  if (suspension.of != nullptr) {
    suspension.of->group = nullptr;
    state_.ops.abandon(*suspension.of);
    return;
  }
  Op* before = nullptr;
  for (Op* op = first_; op != nullptr; before = std::exchange(op, op->next)) {
    if (op != &suspension) continue;
    (before != nullptr ? before->next : first_) = op->next;
    if (last_ == op) last_ = before;
    --queued_;
    break;
  }
  busy_.set(first_ != nullptr);
}

void Continuations::close() noexcept {
  while (suspensions_ != nullptr) std::exchange(suspensions_, suspensions_->later)->all = nullptr;
}

}  // namespace core

namespace detail {

Status then(Endpoint& ep, Event& event, Continue run, const void* body, std::size_t bytes) noexcept {
  const core::Entry entry(ep.state());
  return ep.state().continuations.then(event, run, body, bytes);
}

void Suspended::begin(Event& event, Continue run, void* who) noexcept {
  static_assert(sizeof(core::Suspension) <= kPlaceBytes && alignof(core::Suspension) <= 8);
  EndpointState& state = const_cast<Endpoint*>(core::EventAccess::operation(event)->pool->owner())->state();
  const core::Entry entry(state);
  record_ = ::new (place_) core::Suspension;
  record_->run = run;
  record_->who = who;
  record_->place = this;
  state.continuations.suspend(event, *record_);
}

bool Suspended::may_end() const noexcept { return record_->all == nullptr || record_->pool->in_child(); }

// An endpoint that has ended has cleared `all`; only then its pool is gone too. A forked child leaves the list alone.
void Suspended::end() noexcept {
  core::Suspension& suspension = *std::exchange(record_, nullptr);
  if (suspension.all == nullptr || suspension.pool->in_child()) return;
  suspension.all->forget(suspension);
}

}  // namespace detail

}  // namespace aqueduct
