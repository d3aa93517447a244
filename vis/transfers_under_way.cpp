// Transfers that have begun: their steps, their ends, and the peers that are lost meanwhile.

#include "vis/operation.hpp"
#include "vis/piece_transfers.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace aqueduct::vis {

PieceTransfers::Step PieceTransfers::go_on(Transfer& t) noexcept {
  Step step = Step::over;
  refused_ = core::Post::retry();
  rma_.forget_refusal();
  switch (t.plan) {
    case Plan::pieces: step = t.what == What::accumulate ? atomics(t) : pieces(t); break;
    case Plan::native: step = native(t); break;
    case Plan::box: step = get_box(t); break;
    default: step = t.what == What::get ? get_packed(t) : put_packed(t); break;
  }
  const bool by_rma = t.plan == Plan::pieces || t.plan == Plan::box;
  if (step == Step::again && by_rma && refused_.why == ErrorCode::ok) refused_ = rma_.latest_refusal();
  Operation& operation = Operation::of(*t.op);
  operation.begun = operation.bytes - t.there_at.remaining();
  // A packed put copies its source into packets, so the source is free once the last packet is posted.
  if (step == Step::over && t.plan == Plan::packed && t.what != What::get && t.op->outcome.ok())
    state_.ops.source_free(*t.op, {});
  return step;
}

void PieceTransfers::fail(Transfer& t, Status why) noexcept {
  if (t.op->outcome.ok()) t.op->outcome = why;
}

// Called when all answers of a transfer have arrived. After a success, tells the planner how long it took, and sends a
// signal that has not travelled with the data.
bool PieceTransfers::last_part_ended(core::Layer& layer, core::Op& op) noexcept {
  if (!op.outcome) return true;
  auto& self = static_cast<PieceTransfers&>(layer);
  const Operation operation = Operation::of(op);
  if (operation.choice.key != 0)
    self.planner_.took(operation.choice, operation.bytes, self.state_.clock.nanoseconds() - operation.since);
  return !operation.has_signal || self.rma_.follow_with_signal(op, operation.signal);
}

void describe_pieces_of(const core::Op& op, std::string& text) {
  const Operation& operation = Operation::of(op);
  text += fmt::format(" of {} bytes (segment {}, offset {}, {} on their way)", operation.bytes,
                      operation.segment, operation.lowest, operation.begun);
}

void PieceTransfers::enqueue(Transfer& t) noexcept {
  t.queued = true;
  queue_.push_back(&t);
  busy_.set(true);
}

void PieceTransfers::answered(Transfer& t) noexcept {
  if (!t.queued) enqueue(t);
}

/// Whether a transfer that has found no room again is given up because this process gets no memory. Its next step ends it.
/// Without a credit, or with a part in flight, the peer may only be late.
bool PieceTransfers::gives_up_without_memory(Transfer& t) noexcept {
  if (t.op->parts > 1 || t.chunks != 0 || state_.messages->credits_left(t.peer) == 0) {
    t.patience.begin_again();
    return false;
  }
  const bool in_flight = !state_.messages->has_all_credits(t.peer);
  if (!t.patience.is_over(state_, t.peer, refused_, in_flight)) return false;
  fail(t, {ErrorCode::no_memory, t.peer});
  return true;
}

// Takes one step of each queued transfer. Transfers that are queued meanwhile come behind the first `now` ones, and
// have their turn in the next round.
void PieceTransfers::advance() noexcept {
  std::size_t kept = 0;
  const std::size_t now = queue_.size();
  for (std::size_t i = 0; i < now; ++i) {
    Transfer& t = *queue_[i];
    const std::uint64_t left = t.there_at.remaining();
    Step step = go_on(t);
    if (step != Step::again || t.there_at.remaining() != left) t.patience.begin_again();
    if (step == Step::again && gives_up_without_memory(t)) step = go_on(t);
    if (step == Step::again) {
      queue_[kept++] = &t;
      continue;
    }
    t.queued = false;
    if (step == Step::waits) continue;
    core::Op& op = *t.op;
    give_back(t);
    state_.ops.part_ended(op, {});
  }
  queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(kept),
               queue_.begin() + static_cast<std::ptrdiff_t>(now));
  busy_.set(!queue_.empty());
}

void PieceTransfers::peer_lost(Rank peer) noexcept {
  for (const auto& owned : transfers_) {
    Transfer& t = *owned;
    if (!t.used || t.peer != peer || t.op == nullptr) continue;
    if (t.plan != Plan::packed) {
      fail(t, {ErrorCode::peer_lost, peer});
      answered(t);  // its conduit ends what was posted; the next steps see the failure and end the transfer
      continue;
    }
    // The caller ends operations that packets carry (OpPool::fail_packets). Here the transfer and its chunks are freed.
    for (std::uint64_t left = t.chunks; left != 0; left &= left - 1)
      give_back(chunks_[static_cast<std::size_t>(std::countr_zero(left))]);
    if (t.queued) {
      std::erase(queue_, &t);
      busy_.set(!queue_.empty());
    }
    give_back(t);
  }
}

void PieceTransfers::describe(std::string& text, Rank peer) const {
  std::size_t waiting = 0;
  std::uint64_t left = 0;
  for (const auto& t : transfers_) {
    if (!t->used || t->peer != peer) continue;
    ++waiting;
    left += t->there_at.remaining();
  }
  if (waiting == 0) return;
  text +=
      fmt::format("; {} transfers of pieces with rank {}, {} bytes of them not begun", waiting, peer, left);
}

Transfer* PieceTransfers::take() {
  if (free_.empty()) {
    transfers_.push_back(std::make_unique<Transfer>());
    free_.reserve(transfers_.size());
    queue_.reserve(transfers_.size());
    free_.push_back(transfers_.back().get());
  }
  Transfer* t = free_.back();
  free_.pop_back();
  t->used = true;
  t->queued = false;
  t->op = nullptr;
  t->chunks = 0;
  return t;
}

void PieceTransfers::give_back(Transfer& t) noexcept {
  t.used = false;
  t.queued = false;
  t.patience.begin_again();
  free_.push_back(&t);
}

}  // namespace aqueduct::vis
