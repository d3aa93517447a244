#include "core/signals.hpp"
#include "rma/aside.hpp"
#include "rma/operation.hpp"
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

Transfers::Transfers(EndpointState& state)
    : state_(state),
      messages_(*state.messages),
      queues_(state.ranks),
      busy_(state.busy),
      held_(state.ranks),
      held_busy_(state.busy) {
  waiting_on_.reserve(state.ranks);
  held_for_.reserve(state.ranks);
  add_reference_handlers(state);
  const Statistics& counts = state.statistics;
  state.add_statistics({{"native_puts", "puts", &counts.native_puts},
                        {"native_gets", "gets", &counts.native_gets},
                        {"reference_puts", "puts", &counts.reference_puts},
                        {"reference_gets", "gets", &counts.reference_gets},
                        {"native_atomics", "atomics", &counts.native_atomics},
                        {"reference_atomics", "atomics", &counts.reference_atomics}});
  for (core::Conduit* conduit : {state.near.get(), state.far.get()}) {
    if (conduit != nullptr) conduit->serve_aside(words_aside);
  }
}

void Transfers::follow_after_bytes(Op& op) noexcept {
  op.ended = Operation::of(op).follows == Operation::Follows::word ? then_word : then_signal;
  op.layer = this;
}

/// Whether one packet has room for the bytes of a put and what follows them. True if nothing does.
bool Transfers::fits_with_signal(const Op& op) const noexcept {
  const Operation& operation = Operation::of(op);
  switch (operation.follows) {
    case Operation::Follows::nothing: return true;
    case Operation::Follows::signal:
      return operation.bytes <= messages_.room(op.peer, false, sizeof(PutPiece));
    case Operation::Follows::word:
      return by_network(op.peer, operation.word) == nullptr &&
             operation.bytes <= messages_.room(op.peer, false, sizeof(PutWordPiece));
  }
  return true;
}

// Begins a reference operation: sends its packets now, as far as credits and room allow. The rest waits in the peer's
// queue, and `advance` sends it. The call itself does not wait: it may run inside a handler, for the signal after a
// put. An operation in the queue keeps the initiator's part, because it could otherwise end when the packets sent so
// far are answered. Operations on a peer with a queue join its end, so that each of them gets its turn.
Status Transfers::launch(Op& op, bool immediate) noexcept {
  Queue& queue = queues_[op.peer];
  Operation& operation = Operation::of(op);
  if (op.kind == &kPutKind && !fits_with_signal(op)) {
    // More than one packet. Packets may overtake each other, so the signal follows when all have been answered.
    follow_after_bytes(op);
    operation.follows = Operation::Follows::nothing;
  }
  op.reads_more = operation.local != nullptr && op.kind == &kPutKind;
  if (queue.head == nullptr && push(op).kind == Post::Kind::done) {
    const Status status = op.outcome;
    all_begun(op);
    return status;
  }
  if (immediate && operation.begun == 0) return {ErrorCode::refused, op.peer};
  op.next = nullptr;
  if (queue.head == nullptr) {
    queue.head = &op;
    waiting_on_.push_back(op.peer);
  } else {
    queue.tail->next = &op;
  }
  queue.tail = &op;
  busy_.set(true);
  return {};
}

// While a part of it is in flight, the operation waits for that one in any case. The rest never begins.
bool Transfers::gives_up_without_memory(core::MemoryPatience& patience, Op& op,
                                        const Post& refused) noexcept {
  if (op.parts > 1) {
    patience.begin_again();
    return false;
  }
  if (!patience.is_over(state_, op.peer, refused, !messages_.has_all_credits(op.peer))) return false;
  if (op.outcome.ok()) op.outcome = {ErrorCode::no_memory, op.peer};
  Operation::of(op).begun = Operation::of(op).bytes;
  return true;
}

/// Sends pieces until all are in flight, the operation has failed, or there is no room.
Post Transfers::push(Op& op) noexcept {
  Operation& operation = Operation::of(op);
  while (operation.begun < operation.bytes) {
    const Post post = push_piece(op);
    if (post.kind == Post::Kind::retry) return latest_refusal_ = post;
    if (post.kind == Post::Kind::failed) {
      op.outcome = {post.why, op.peer};
      operation.begun = operation.bytes;
    }
  }
  return Post::done();
}

Post Transfers::push_piece(Op& op) noexcept {
  const core::Token token = core::OpPool::token(op);
  Operation& operation = Operation::of(op);
  const std::uint64_t left = operation.bytes - operation.begun;
  Post post = Post::retry();
  std::uint64_t step = 1;
  if (op.kind == &kPutKind && operation.follows == Operation::Follows::word) {
    step = left;  // one packet: see launch
    const WordSignal& word = operation.word;
    const PutWordPiece piece{token,       operation.offset, operation.segment, word.segment,
                             word.offset, word.value,       word.op,           {}};
    post = messages_.try_request(op.peer, AmCategory::medium_request, kPutWord, pack(piece), nullptr,
                                 {operation.local, step}, token);
    if (post.kind == Post::Kind::posted) ++op.parts, ++op.sends;
  } else if (op.kind == &kPutKind) {
    step = std::min<std::uint64_t>(left, messages_.room(op.peer, false, sizeof(PutPiece)));
    const bool has_signal = operation.follows == Operation::Follows::signal;
    const PutPiece piece{token, operation.offset + operation.begun, has_signal ? operation.signal.add : 0,
                         operation.segment, has_signal ? operation.signal.slot : 0};
    post = messages_.try_request(op.peer, AmCategory::medium_request, kPut, pack(piece), nullptr,
                                 {operation.local + operation.begun, step}, token);
    // Besides the answer, the operation waits for the conduit, which still reads the caller's buffer.
    if (post.kind == Post::Kind::posted) ++op.parts, ++op.sends;
  } else if (op.kind == &kGetKind) {
    step = std::min<std::uint64_t>(left, messages_.room(op.peer, false, sizeof(GetData)));
    const GetPiece piece{token, operation.offset + operation.begun, operation.begun, operation.segment,
                         static_cast<std::uint32_t>(step)};
    post = messages_.try_request(op.peer, AmCategory::short_request, kGet, pack(piece), nullptr, {}, 0);
  } else if (op.kind == &kWordKind && operation.atomic.by == aqueduct::detail::AtomicBy::network) {
    return push_word(op);
  } else if (op.kind == &kAtomicKind || op.kind == &kWordKind) {
    step = left;
    const AtomicCall& call = operation.atomic;
    const AtomicRequest request{
        token, operation.offset, call.operand, call.expected, operation.segment, call.op, call.type, 0};
    post = messages_.try_request(op.peer, AmCategory::short_request, kAtomic, pack(request), nullptr, {}, 0);
  } else {
    step = left;
    const SignalRequest request{token, operation.signal.add, operation.signal.slot, 0};
    post = messages_.try_request(op.peer, AmCategory::short_request, kSignal, pack(request), nullptr, {}, 0);
  }
  if (post.kind == Post::Kind::done || post.kind == Post::Kind::posted) {
    ++op.parts;
    ++op.answers;
    operation.begun += step;
  }
  return post;
}

// The caller's buffer is free once the last packet has been sent and no conduit reads a packet's payload from it. That
// is before the answers arrive, so the source operation may end long before the put.
void Transfers::all_begun(Op& op) noexcept {
  op.reads_more = false;
  if (op.sends == 0) state_.ops.source_free(op, {});
}

// The bytes of a put are in place: now its signal follows. Not after a
// failure, since the signal would announce bytes that are not there.
bool Transfers::then_signal(core::Layer& layer, Op& op) noexcept {
  if (!op.outcome) return true;
  return static_cast<Transfers&>(layer).follow_with_signal(op, Operation::of(op).signal);
}

bool Transfers::follow_with_signal(Op& op, Signal signal) noexcept {
  if (raise_mapped(op.peer, signal)) return true;
  op.kind = &kSignalKind;
  op.by_packets = true;
  Operation& operation = Operation::unset(op);
  operation.signal = signal;
  operation.bytes = 1;  // counts as one message to send, for all_begun()
  const Status status = launch(op, false);
  if (!status || operation.all_begun()) state_.ops.part_ended(op, status);
  return false;
}

void Transfers::advance() noexcept {
  if (!held_for_.empty()) advance_held();
  // part_ended may queue the operation's signal, and so append its peer to waiting_on_ again. So the loop goes by
  // index, and calls part_ended last, when the queue and the list are consistent.
  for (std::size_t i = 0; i < waiting_on_.size();) {
    Queue& queue = queues_[waiting_on_[i]];
    Op& op = *queue.head;
    const std::uint64_t begun = Operation::of(op).begun;
    const Post post = push(op);
    const bool waits = post.kind == Post::Kind::retry;
    // Without a credit it is the peer that is late.
    if (!waits || Operation::of(op).begun != begun || messages_.credits_left(op.peer) == 0)
      queue.patience.begin_again();
    if (waits && !gives_up_without_memory(queue.patience, op, post)) {
      ++i;
      continue;
    }
    queue.head = op.next;
    if (queue.head == nullptr) {
      waiting_on_[i] = waiting_on_.back();
      waiting_on_.pop_back();
      busy_.set(!waiting_on_.empty());
    }
    all_begun(op);
    state_.ops.part_ended(op, op.outcome);
  }
}

void Transfers::peer_lost(Rank peer) noexcept {
  drop_held(peer);
  Queue& queue = queues_[peer];
  if (queue.head == nullptr) return;
  queue = {};
  waiting_on_.erase(std::remove(waiting_on_.begin(), waiting_on_.end(), peer), waiting_on_.end());
  busy_.set(!waiting_on_.empty());
}

void describe_bytes(const core::Op& op, std::string& text) {
  const Operation& operation = Operation::of(op);
  text += fmt::format(" of {} bytes (segment {}, offset {}, {} on their way)", operation.bytes,
                      operation.segment, operation.offset, operation.begun);
}

void Transfers::describe(std::string& text, Rank peer) const {
  if (peer >= state_.ranks) return;
  std::size_t waiting = 0;
  for (const Op* op = queues_[peer].head; op != nullptr; op = op->next) ++waiting;
  if (waiting != 0) text += fmt::format("; {} operations wait for room to rank {}", waiting, peer);
  std::size_t behind = 0;
  for (const Op* op = held_[peer].head; op != nullptr; op = op->next) ++behind;
  if (behind != 0) text += fmt::format("; a fence holds back {} operations on rank {}", behind, peer);
}

}  // namespace aqueduct::rma
