#include <aqueduct/order.hpp>

#include "core/apply_atomic.hpp"
#include "core/entry.hpp"
#include "core/signals.hpp"
#include "core/wait.hpp"
#include "rma/operation.hpp"
#include "rma/transfers.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

// Fences, and the operations that they hold back. core/peer_order.hpp counts what is in flight; here is the queue of
// operations that must not begin yet.

namespace aqueduct {

namespace rma {

bool Transfers::held(Rank peer, core::PeerOrder::Next next) noexcept {
  // What is begun inside progress belongs to an operation from before: a signal after its bytes, a piece of a transfer.
  return state_.order.active() && !state_.polling && peer < state_.ranks &&
         state_.order.holds(peer, next, state_.conduit(peer).properties());
}

void Transfers::hold(Op& op) noexcept {
  op.layer = this;
  if (op.epoch != 0) state_.order.ended(op);  // counts again when it begins
  Operation::of(op).after_fence = state_.order.queue(op.peer);
  Queue& queue = held_[op.peer];
  op.next = nullptr;
  if (queue.head == nullptr) {
    queue.head = &op;
    held_for_.push_back(op.peer);
  } else {
    queue.tail->next = &op;
  }
  queue.tail = &op;
  held_busy_.set(true);
}

Status Transfers::wait_for_turn(Rank peer, bool immediate) noexcept {
  const auto turn = [&] { return !held(peer, core::PeerOrder::Next::other) || state_.lost[peer]; };
  if (turn()) return {};
  if (immediate) return {ErrorCode::refused, peer};
  return core::wait_for_room(state_, turn, peer,
                             [&] { return fmt::format("operations on rank {} from before a fence", peer); });
}

// Begins what may begin now. The first operation that waits for room, or for a fence, holds back those behind it.
void Transfers::advance_held() noexcept {
  for (std::size_t i = 0; i < held_for_.size();) {
    const Rank peer = held_for_[i];
    Queue& queue = held_[peer];
    while (queue.head != nullptr) {
      Op& op = *queue.head;
      const Begins begins = begin_held(op);
      if (begins == Begins::later) break;
      queue.head = op.next;
      state_.order.unqueue(peer);
      if (begins == Begins::in_packets) launch_held(op);
      if (begins == Begins::here) state_.ops.part_ended(op, op.outcome);
    }
    if (queue.head != nullptr) {
      ++i;
      continue;
    }
    held_for_[i] = held_for_.back();
    held_for_.pop_back();
  }
  held_busy_.set(!held_for_.empty());
}

void Transfers::launch_held(Op& op) noexcept {
  op.by_packets = true;
  const Status status = launch(op, false);  // puts it into the peer's queue if there is no room
  if (!status || Operation::of(op).all_begun()) state_.ops.part_ended(op, status);
}

/// Whether the conduit's own put takes the bytes: not a word that it does not treat as one (words.cpp).
bool Transfers::goes_native(const Op& op, const SegmentPart& part) noexcept {
  const Operation& operation = Operation::of(op);
  return part.reach == SegmentPart::Reach::native &&
         !(part.most_put == 0 && part.is_word(operation.offset, operation.bytes));
}

/// Begins an operation, or another piece of it. It may be over then, apart from the initiator's part.
Transfers::Begins Transfers::begin_held(Op& op) noexcept {
  using Next = core::PeerOrder::Next;
  Operation& operation = Operation::of(op);
  const core::Properties& network = state_.conduit(op.peer).properties();
  const auto fail = [&op](Status why) {
    if (op.outcome.ok()) op.outcome = why;
    return Begins::here;
  };
  if (std::exchange(operation.after_fence, false)) state_.order.pass_fence(op.peer);
  if (op.kind == &kSignalKind) {
    if (op.epoch == 0 && state_.order.blocks(op.peer, Next::other, network)) return Begins::later;
    if (op.epoch == 0) state_.order.begun(op);
    return raise_mapped(op.peer, operation.signal) ? Begins::here : Begins::in_packets;
  }
  const GlobalPtr<std::byte> at{op.peer, operation.offset, operation.segment};
  const Access access = this->access(at, operation.bytes);  // it may have changed meanwhile
  if (!access.status) return fail(access.status);
  const bool is_put = op.kind == &kPutKind;
  const bool by_network = !is_put && is_of_network(operation.atomic);
  const bool here = access.mapped != nullptr && !by_network;
  if (op.epoch == 0) {  // nothing of it has begun
    const bool plain = is_put && !here && operation.follows == Operation::Follows::nothing &&
                       operation.bytes <= network.max_ordered;
    const bool in_packets = is_put ? !goes_native(op, *access.part) : !by_network;
    const Next next = here || !(plain || in_packets) ? Next::other : in_packets ? Next::packet : Next::put;
    if (state_.order.blocks(op.peer, next, network)) return Begins::later;
    state_.order.begun(op);
    if (next == Next::put) state_.order.keeps_order_of(op);
  }
  if (!is_put) return begin_held_atomic(op, access);
  if (here) {
    aqueduct::detail::put_bytes(access.mapped, operation.local, operation.bytes);
    if (operation.notify) state_.wake_after_stores(op.peer);
    if (operation.follows != Operation::Follows::nothing) follow_after_bytes(op);
    operation.begun = operation.bytes;
    return Begins::here;
  }
  if (!goes_native(op, *access.part)) {
    ++state_.statistics.reference_puts;
    return Begins::in_packets;
  }
  return begin_held_put(op, *access.part);
}

Transfers::Begins Transfers::begin_held_atomic(Op& op, const Access& access) noexcept {
  Operation& operation = Operation::of(op);
  const AtomicCall& call = operation.atomic;
  if (!is_of_network(call)) {
    if (access.mapped == nullptr) {
      ++state_.statistics.reference_atomics;
      return Begins::in_packets;
    }
    core::apply_atomic(call.op, call.type, call.operand, call.expected, access.mapped);
    if (operation.notify) state_.wake_after_stores(op.peer);
    operation.begun = operation.bytes;
    return Begins::here;
  }
  const bool is_far = state_.conduit_of[op.peer] == state_.far.get();
  SegmentPart* const part = is_far ? access.part : access.part->far.get();
  const auto key = part != nullptr ? has_key(*part, op.peer, *state_.far) : Result<bool>(false);
  if (!key || !*key) {
    if (!key) op.outcome = key.status();
    if (key) ++state_.statistics.reference_atomics;
    return key ? Begins::in_packets : Begins::here;
  }
  const Post post =
      state_.far->atomics()->atomic(op.peer, part->key, operation.offset, call, core::OpPool::token(op));
  core::MemoryPatience& patience = held_[op.peer].patience;
  if (post.kind == Post::Kind::retry)
    return gives_up_without_memory(patience, op, post) ? Begins::here : Begins::later;
  patience.begin_again();
  if (post.kind == Post::Kind::failed) op.outcome = {post.why, op.peer};
  if (post.kind == Post::Kind::posted) ++op.parts;
  operation.begun = operation.bytes;
  ++state_.statistics.native_atomics;
  return Begins::here;
}

/// Posts pieces of a native put until all are posted, or there is no room.
Transfers::Begins Transfers::begin_held_put(Op& op, const SegmentPart& part) noexcept {
  Operation& operation = Operation::of(op);
  core::Conduit& conduit = state_.conduit(op.peer);
  const std::uint64_t most = conduit.properties().max_transfer;
  const core::Token token = core::OpPool::token(op);
  core::MemoryPatience& patience = held_[op.peer].patience;
  while (operation.begun < operation.bytes && op.outcome.ok()) {
    const std::uint64_t step = std::min(most, operation.bytes - operation.begun);
    const core::Bytes piece{operation.local + operation.begun, static_cast<std::size_t>(step)};
    const std::uint64_t offset = operation.offset + operation.begun;
    // If the network delivers the signal with the bytes, nothing follows them.
    core::NativeSignal* const announced =
        operation.follows == Operation::Follows::signal && step == operation.bytes ? conduit.signal()
                                                                                   : nullptr;
    const Post post = announced != nullptr
                          ? announced->put_signal(op.peer, part.key, offset, piece, operation.signal, token)
                          : part.rma->put(op.peer, part.key, offset, piece, false, token);
    if (post.kind == Post::Kind::retry)
      return gives_up_without_memory(patience, op, post) ? Begins::here : Begins::later;
    patience.begin_again();
    if (operation.begun == 0) ++state_.statistics.native_puts;
    if (operation.follows != Operation::Follows::nothing && announced == nullptr) follow_after_bytes(op);
    if (post.kind == Post::Kind::failed) op.outcome = {post.why, op.peer};
    if (post.kind == Post::Kind::posted) ++op.parts;
    operation.begun += step;
  }
  return Begins::here;
}

// What has been posted ends by its conduit; the rest never begins.
void Transfers::drop_held(Rank peer) noexcept {
  Op* op = std::exchange(held_[peer], Queue{}).head;
  if (op == nullptr) return;
  std::erase(held_for_, peer);
  held_busy_.set(!held_for_.empty());
  while (op != nullptr) {
    Op& now = *std::exchange(op, op->next);
    state_.ops.part_ended(now, {ErrorCode::peer_lost, peer});
  }
}

void Transfers::fence(Rank peer) noexcept {
  if (state_.lost[peer]) return;
  state_.ops.count_in(state_.order);
  state_.fenced = true;
  state_.order.fence(peer, messages_.fence(peer), peer != state_.rank);
}

}  // namespace rma

namespace {

// Orders stores to mapped memory. The thread sanitizer does not know such fences, and g++ refuses them with it.
void order_stores() noexcept {
#if !defined(__SANITIZE_THREAD__)
  std::atomic_thread_fence(std::memory_order_release);
#endif
}

}  // namespace

Status fence(Endpoint& ep, Rank peer) noexcept {
  detail::EndpointState& state = ep.state();
  core::Entry entry(state);
  if (peer >= ep.ranks()) return state.refusal();
  if (state.polling) return ErrorCode::in_handler;
  order_stores();
  state.transfers->fence(peer);
  return {};
}

Status fence(Endpoint& ep) noexcept {
  detail::EndpointState& state = ep.state();
  core::Entry entry(state);
  if (state.in_child()) return ErrorCode::invalid_argument;
  if (state.polling) return ErrorCode::in_handler;
  order_stores();
  for (Rank peer = 0; peer < state.ranks; ++peer) state.transfers->fence(peer);
  return {};
}

}  // namespace aqueduct
