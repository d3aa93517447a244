#include <aqueduct/expect.hpp>

#include "core/wait.hpp"
#include "rma/operation.hpp"
#include "rma/transfers.hpp"

#include <algorithm>

namespace aqueduct::rma {

// Posts until the conduit accepts. An immediate operation gives up at the first `retry`, but only before any part of it
// is in flight: after that it can no longer be refused, so it waits.
//
// Such a wait inside progress would end at once with in_handler and fail the transfer half way. It cannot happen: only
// the layers begin operations there, in `advance`, immediate ones of at most `max_transfer` bytes (vis/pieces.cpp,
// vis/box.cpp). That is a single post, which is accepted or refused.
template <class Try>
Status Transfers::post(Op& op, bool immediate, const Try& attempt) noexcept {
  Post post = attempt();
  if (post.kind == Post::Kind::retry) {
    latest_refusal_ = post;
    if (immediate && op.parts == 1) return {ErrorCode::refused, op.peer};
    AQUEDUCT_EXPECT(!state_.polling, "a layer began a transfer of several posts inside progress");
    core::MemoryPatience patience;
    const auto taken = [&] {
      post = state_.lost[op.peer] ? Post::failed(ErrorCode::peer_lost) : attempt();
      if (post.kind == Post::Kind::retry &&
          patience.is_over(state_, op.peer, post, state_.ops.in_flight() > 1))
        post = Post::failed(ErrorCode::no_memory);
      return post.kind != Post::Kind::retry;
    };
    const core::Continuations::Pause none_runs(state_.continuations);
    const Status status = core::wait_for_room(state_, taken, op.peer, [&] {
      return fmt::format("room to begin a transfer of {} bytes with rank {}", Operation::of(op).bytes,
                         op.peer);
    });
    if (!status) return status;
  }
  if (post.kind == Post::Kind::failed) return {post.why, op.peer};
  if (post.kind == Post::Kind::posted) ++op.parts;
  return {};
}

// The short path: a single post. The operation's only part is the conduit's. The initiator needs no part of its own,
// because it begins nothing after the post, and no progress runs before this returns.
template <class Begin>
[[gnu::always_inline]] inline Op* Transfers::at_once(const core::OpKind& kind, GlobalPtr<std::byte> at,
                                                     std::uint64_t bytes, Op* group, std::uint64_t& counter,
                                                     const Begin& begin) noexcept {
  Op* const op = state_.ops.acquire(kind, at.rank(), group == nullptr);
  if (op == nullptr) return nullptr;
  Operation& operation = Operation::of(*op);
  operation.segment = at.segment();  // for the stall report
  operation.offset = at.offset();
  operation.bytes = operation.begun = bytes;
  const Post post = begin(core::OpPool::token(*op));
  if (post.kind > Post::Kind::posted) [[unlikely]] {
    state_.ops.take_back(*op);
    return nullptr;
  }
  ++counter;
  if (group != nullptr) {
    op->group = group;
    ++group->parts;
  }
  if (post.kind == Post::Kind::done) state_.ops.part_ended(*op, {});
  return op;
}

template <Transfers::Looked kLooked>
[[gnu::always_inline]] inline Op* Transfers::try_put(GlobalPtr<std::byte> to, const void* from,
                                                     std::size_t bytes, Op* group) noexcept {
  const Rank peer = to.rank();
  const SegmentPart* const part = state_.segments.native(to, bytes);
  // No bytes, a word for which the general path chooses the way, or null, which it refuses?
  if (part == nullptr || from == nullptr || !part->native_anywhere(bytes, part->most_put)) return nullptr;
  if constexpr (kLooked == Looked::no) {
    if (state_.polling) return nullptr;
    if (state_.ops.counts()) [[unlikely]]
      return put_in_order(*part, to, from, bytes, group);
  }
  return at_once(kPutKind, to, bytes, group, state_.statistics.native_puts, [&](core::Token token) noexcept {
    return part->rma->put(peer, part->key, to.offset(), {static_cast<const std::byte*>(from), bytes}, false,
                          token);
  });
}

Op* Transfers::put_at_once(GlobalPtr<std::byte> to, const void* from, std::size_t bytes, Op* group) noexcept {
  return try_put<Looked::no>(to, from, bytes, group);
}

Event Transfers::put_plainly_nb(GlobalPtr<std::byte> to, const void* from, std::size_t bytes,
                                const PutOptions& options) noexcept {
  if (Op* const op = try_put<Looked::yes>(to, from, bytes, nullptr)) [[likely]]
    return Event(op);
  return put(to, from, bytes, Completion::event, options).event;
}

Status Transfers::put_plainly_nbi(GlobalPtr<std::byte> to, const void* from, std::size_t bytes,
                                  const PutOptions& options) noexcept {
  if (try_put<Looked::yes>(to, from, bytes, &state_.group()) != nullptr) [[likely]]
    return {};
  return put(to, from, bytes, Completion::group, options).status;
}

// As put_at_once, once fences are in use.
Op* Transfers::put_in_order(const SegmentPart& part, GlobalPtr<std::byte> to, const void* from,
                            std::size_t bytes, Op* group) noexcept {
  const Rank peer = to.rank();
  const bool orderly = bytes <= state_.conduit(peer).properties().max_ordered;
  if (held(peer, orderly ? core::PeerOrder::Next::put : core::PeerOrder::Next::other)) return nullptr;
  Op* const op =
      at_once(kPutKind, to, bytes, group, state_.statistics.native_puts, [&](core::Token token) noexcept {
        return part.rma->put(peer, part.key, to.offset(), {static_cast<const std::byte*>(from), bytes}, false,
                             token);
      });
  if (op != nullptr && op->epoch != 0 && orderly) state_.order.keeps_order_of(*op);  // unless it is over
  return op;
}

template <Transfers::Looked kLooked>
[[gnu::always_inline]] inline Op* Transfers::try_get(void* to, GlobalPtr<std::byte> from, std::size_t bytes,
                                                     Op* group) noexcept {
  const Rank peer = from.rank();
  const SegmentPart* const part = state_.segments.native(from, bytes);
  if (part == nullptr || to == nullptr || !part->native_anywhere(bytes, part->most_get)) return nullptr;
  if (kLooked == Looked::no && state_.polling) return nullptr;
  return at_once(
      kGetKind, from, bytes, group, state_.statistics.native_gets, [&](core::Token token) noexcept {
        return part->rma->get(peer, part->key, from.offset(), {static_cast<std::byte*>(to), bytes}, token);
      });
}

Op* Transfers::get_at_once(void* to, GlobalPtr<std::byte> from, std::size_t bytes, Op* group) noexcept {
  return try_get<Looked::no>(to, from, bytes, group);
}

Event Transfers::get_plainly_nb(void* to, GlobalPtr<std::byte> from, std::size_t bytes,
                                const GetOptions& options) noexcept {
  if (Op* const op = try_get<Looked::yes>(to, from, bytes, nullptr)) [[likely]]
    return Event(op);
  return get(to, from, bytes, Completion::event, options.immediate).event;
}

Status Transfers::get_plainly_nbi(void* to, GlobalPtr<std::byte> from, std::size_t bytes,
                                  const GetOptions& options) noexcept {
  if (try_get<Looked::yes>(to, from, bytes, &state_.group()) != nullptr) [[likely]]
    return {};
  return get(to, from, bytes, Completion::group, options.immediate).status;
}

Op* Transfers::atomic_at_once(GlobalPtr<std::byte> at, std::size_t bytes, const AtomicCall& call,
                              Op* group) noexcept {
  const Rank peer = at.rank();
  if (state_.polling) return nullptr;
  const SegmentPart* const part = state_.segments.of_network(state_.far->rma(), at, bytes);
  if (part == nullptr || state_.lost[peer] || !part->aligned(at.offset(), bytes)) return nullptr;
  return at_once(kAtomicKind, at, bytes, group, state_.statistics.native_atomics,
                 [&](core::Token token) noexcept {
                   return state_.far->atomics()->atomic(peer, part->key, at.offset(), call, token);
                 });
}

Op* Transfers::update_at_once(GlobalPtr<std::byte> at, std::size_t bytes, const AtomicCall& call,
                              Op* group) noexcept {
  const Rank peer = at.rank();
  if (state_.polling || !core::NativeUpdates::takes(call)) return nullptr;
  const SegmentPart* const part = state_.segments.native(at, bytes);
  if (part == nullptr || !part->aligned(at.offset(), bytes)) return nullptr;
  core::NativeUpdates* const updates = state_.conduit(peer).updates();
  if (updates == nullptr) return nullptr;
  return at_once(
      kAtomicKind, at, bytes, group, state_.statistics.native_atomics,
      [&](core::Token token) noexcept { return updates->update(peer, part->key, at.offset(), call, token); });
}

Status Transfers::put_native(Op& op, const SegmentPart& part, GlobalPtr<std::byte> to, core::Bytes from,
                             bool inject, bool immediate) noexcept {
  core::Conduit& conduit = state_.conduit(to.rank());
  const std::size_t most = conduit.properties().max_transfer;
  Operation& operation = Operation::of(op);
  // An immediate attempt that finds no room does not count.
  const auto counted = [&](Status status) {
    state_.statistics.native_puts += status.ok() ? 1 : 0;
    return status;
  };
  core::NativeSignal* const announced =
      operation.follows == Operation::Follows::nothing ? nullptr : conduit.signal();
  const bool is_word = operation.follows == Operation::Follows::word;
  const SegmentPart* const word_part =
      is_word && announced != nullptr ? native_word(to.rank(), operation.word) : nullptr;
  if (announced != nullptr && is_word == (word_part != nullptr) && from.size() <= most &&
      (!inject || from.size() <= conduit.properties().max_inject_signal)) {
    op.ended = nullptr;  // the network delivers the signal with the bytes, so nothing follows them
    operation.begun = from.size();
    return counted(post(op, immediate, [&] {
      const core::Token token = core::OpPool::token(op);
      if (!is_word && operation.unwaited) {
        return announced->put_signal_unwaited(to.rank(), part.key, to.offset(), from, operation.signal,
                                              token);
      }
      if (!is_word) {
        return announced->put_signal(to.rank(), part.key, to.offset(), from, operation.signal, token);
      }
      const core::RemoteWord word{word_part->key, operation.word.offset, operation.word.value,
                                  operation.word.op};
      return announced->put_signal_word(to.rank(), part.key, to.offset(), from, word, token);
    }));
  }
  for (std::size_t at = 0; at < from.size(); at += most) {
    const core::Bytes piece = from.subspan(at, std::min(most, from.size() - at));
    const Status status = post(op, immediate, [&] {
      return conduit.rma()->put(to.rank(), part.key, to.offset() + at, piece, inject,
                                core::OpPool::token(op));
    });
    if (!status) return status;
    Operation::of(op).begun = at + piece.size();
  }
  return counted({});
}

Status Transfers::get_native(Op& op, const SegmentPart& part, GlobalPtr<std::byte> from,
                             core::MutableBytes to, bool immediate) noexcept {
  core::Conduit& conduit = state_.conduit(from.rank());
  const std::size_t most = conduit.properties().max_transfer;
  for (std::size_t at = 0; at < to.size(); at += most) {
    const core::MutableBytes piece = to.subspan(at, std::min(most, to.size() - at));
    const Status status = post(op, immediate, [&] {
      return conduit.rma()->get(from.rank(), part.key, from.offset() + at, piece, core::OpPool::token(op));
    });
    if (!status) return status;
    Operation::of(op).begun = at + piece.size();
  }
  ++state_.statistics.native_gets;
  return {};
}

Status Transfers::atomic_native(Op& op, const SegmentPart& part, GlobalPtr<std::byte> at,
                                const AtomicCall& call, bool immediate) noexcept {
  const Status status = post(op, immediate, [&] {
    return state_.far->atomics()->atomic(at.rank(), part.key, at.offset(), call, core::OpPool::token(op));
  });
  state_.statistics.native_atomics += status.ok() ? 1 : 0;
  return status;
}

}  // namespace aqueduct::rma
