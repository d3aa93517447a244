#include "core/signals.hpp"
#include "rma/aside.hpp"
#include "rma/target.hpp"
#include "rma/transfers.hpp"

#include <algorithm>

namespace aqueduct::rma {
namespace {

template <class T>
am::Args pack(const T& args) noexcept {
  return {&args, sizeof(T), 0};
}

}  // namespace

Transfers::Transfers(EndpointState& state) : state_(state), messages_(*state.messages), queues_(state.ranks) {
  waiting_on_.reserve(state.ranks);
  state.transfers = this;
  state.layers.push_back(this);
  add_reference_handlers(state);
  for (core::Conduit* conduit : {state.near.get(), state.far.get()}) {
    if (conduit != nullptr) conduit->serve_aside(atomics_aside);
  }
}

// Begins a reference operation. If there is no room for all of it, the peer's queue takes the rest, and the
// initiator's part with it.
Status Transfers::launch(Op& op, bool immediate) noexcept {
  Queue& queue = queues_[op.peer];
  if (op.has_signal && op.kind == Op::Kind::put &&
      op.bytes > messages_.room(op.peer, false, sizeof(PutPiece))) {
    op.has_signal = false;  // more than one packet: the signal follows when all have been answered
    op.then = then_signal;
    op.layer = this;
  }
  if (queue.head == nullptr && push(op)) {
    const Status status = op.outcome;
    all_begun(op);
    return status;
  }
  if (immediate && op.begun == 0) return {ErrorCode::refused, op.peer};
  op.next = nullptr;
  if (queue.head == nullptr) {
    queue.head = &op;
    waiting_on_.push_back(op.peer);
  } else {
    queue.tail->next = &op;
  }
  queue.tail = &op;
  ++state_.busy;
  return {};
}

/// Sends pieces until all are on their way or there is no room. True: all are, or it has failed.
bool Transfers::push(Op& op) noexcept {
  while (op.begun < op.bytes) {
    const Post post = push_piece(op);
    if (post.kind == Post::Kind::retry) return false;
    if (post.kind == Post::Kind::failed) {
      op.outcome = {post.why, op.peer};
      op.begun = op.bytes;
    }
  }
  return true;
}

Post Transfers::push_piece(Op& op) noexcept {
  const core::Token token = core::OpPool::token(op);
  const std::uint64_t left = op.bytes - op.begun;
  Post post = Post::retry();
  std::uint64_t step = 1;
  switch (op.kind) {
    case Op::Kind::put: {
      step = std::min<std::uint64_t>(left, messages_.room(op.peer, false, sizeof(PutPiece)));
      const PutPiece piece{token, op.offset + op.begun, op.has_signal ? op.signal.add : 0, op.segment,
                           op.signal.slot};
      post = messages_.try_request(op.peer, AmCategory::medium_request, kPut, pack(piece), nullptr,
                                   {op.local + op.begun, step}, token);
      if (post.kind == Post::Kind::posted) ++op.parts, ++op.sends;
      break;
    }
    case Op::Kind::get: {
      step = std::min<std::uint64_t>(left, messages_.room(op.peer, false, sizeof(GetData)));
      const GetPiece piece{token, op.offset + op.begun, op.begun, op.segment,
                           static_cast<std::uint32_t>(step)};
      post = messages_.try_request(op.peer, AmCategory::short_request, kGet, pack(piece), nullptr, {}, 0);
      break;
    }
    case Op::Kind::atomic: {
      step = left;
      const AtomicRequest request{token,      op.offset,    op.atomic.operand, op.atomic.expected,
                                  op.segment, op.atomic.op, op.atomic.type,    0};
      post =
          messages_.try_request(op.peer, AmCategory::short_request, kAtomic, pack(request), nullptr, {}, 0);
      break;
    }
    default: {
      step = left;
      const SignalRequest request{token, op.signal.add, op.signal.slot, 0};
      post =
          messages_.try_request(op.peer, AmCategory::short_request, kSignal, pack(request), nullptr, {}, 0);
      break;
    }
  }
  if (post.kind == Post::Kind::done || post.kind == Post::Kind::posted) {
    ++op.parts;
    ++op.answers;
    op.begun += step;
  }
  return post;
}

void Transfers::all_begun(Op& op) noexcept {
  if (op.sends == 0) state_.ops.source_free(op, {});
}

// The last piece of a put has been answered: now the signal that it announces.
void Transfers::then_signal(void* layer, Op& op) noexcept {
  auto& self = *static_cast<Transfers*>(layer);
  op.has_signal = false;
  if (self.raise_mapped(op.peer, op.signal)) {
    self.state_.ops.part_ended(op, {});
    return;
  }
  op.kind = Op::Kind::signal;
  op.by_packets = true;
  op.bytes = 1;
  op.begun = 0;
  const Status status = self.launch(op, false);
  if (!status || op.begun == op.bytes) self.state_.ops.part_ended(op, status);
}

void Transfers::advance() noexcept {
  // A rank leaves the list with its last operation, and may come back at the end of it while that operation's
  // signal is queued: so the list is walked by index and the ended operation told last.
  for (std::size_t i = 0; i < waiting_on_.size();) {
    Queue& queue = queues_[waiting_on_[i]];
    if (!push(*queue.head)) {
      ++i;
      continue;
    }
    Op& op = *queue.head;
    queue.head = op.next;
    --state_.busy;
    if (queue.head == nullptr) {
      waiting_on_[i] = waiting_on_.back();
      waiting_on_.pop_back();
    }
    all_begun(op);
    state_.ops.part_ended(op, op.outcome);
  }
}

void Transfers::peer_lost(Rank peer) noexcept {
  Queue& queue = queues_[peer];
  if (queue.head == nullptr) return;
  for (Op* op = queue.head; op != nullptr; op = op->next) --state_.busy;
  queue = {};
  waiting_on_.erase(std::remove(waiting_on_.begin(), waiting_on_.end(), peer), waiting_on_.end());
}

void Transfers::describe(std::string& text, Rank peer) const {
  if (peer >= state_.ranks) return;
  std::size_t waiting = 0;
  for (const Op* op = queues_[peer].head; op != nullptr; op = op->next) ++waiting;
  if (waiting != 0) text += fmt::format("; {} operations wait for room to rank {}", waiting, peer);
}

}  // namespace aqueduct::rma
