#include "rma/transfers.hpp"

#include "core/mapping.hpp"
#include "core/refuse.hpp"
#include "core/signals.hpp"
#include "core/wait.hpp"
#include "rma/operation.hpp"

#include <new>

namespace aqueduct::rma {

Access Transfers::access(GlobalPtr<std::byte> at, std::uint64_t bytes) noexcept {
  auto checked = state_.segments.check(at, bytes);
  if (!checked) return {core::refuse_place(state_, at, bytes, checked.status())};
  SegmentPart& part = **checked;
  if (state_.lost[at.rank()]) return {{ErrorCode::peer_lost, at.rank()}};
  if (std::byte* place = core::find_mapped(state_, at, bytes)) return {{}, place, &part};
  if (part.reach != SegmentPart::Reach::unknown || bytes == 0) return {{}, nullptr, &part};
  // The first use of this part. If importing its key fails, this operation fails with the reason, and later ones use
  // packets, or try again if it was for want of memory.
  part.reach = SegmentPart::Reach::reference;
  const auto has_key = this->has_key(part, at.rank());
  if (!has_key) {
    if (has_key.status().code() == ErrorCode::no_memory) part.reach = SegmentPart::Reach::unknown;
    return {has_key.status()};
  }
  if (*has_key) part.reach = SegmentPart::Reach::native;
  return {{}, nullptr, &part};
}

Result<bool> Transfers::has_key(SegmentPart& part, Rank rank, core::Conduit& conduit) noexcept {
  if (part.asked_for_key) return part.has_key;
  part.asked_for_key = true;
  core::NativeRma* const rma = conduit.rma();
  if (rma == nullptr || part.rma_key.empty()) return false;
  const auto key = [&]() -> Result<std::uint64_t> {
    try {
      return rma->import_key(rank, part.rma_key);
    } catch (const std::bad_alloc&) {
      return {ErrorCode::no_memory, rank};
    }
  }();
  if (key.status().code() == ErrorCode::no_memory) {  // there may be some for the next operation
    state_.log.error("no memory for the key of a segment of rank {}", rank);
    part.asked_for_key = false;
  }
  if (!key && key.status().code() != ErrorCode::not_supported) return key.status();
  part.has_key = key.ok();
  if (key) part.key = *key;
  part.rma = rma;
  part.max_transfer = conduit.properties().max_transfer;
  const core::WholeWords words = whole_words(conduit);
  part.most_put = words >= core::WholeWords::puts ? part.max_transfer : 0;
  part.most_get = words >= core::WholeWords::puts_and_gets ? part.max_transfer : 0;
  return part.has_key;
}

// Takes an operation from the pool. If all explicit ones are in use, the completion becomes blocking: the call itself
// waits for the operation instead of returning an Event. It cannot wait for a free explicit one, because the caller may
// hold Events of finished operations and give none up. Internal operations end by themselves, so waiting for one is
// safe.
Result<Op*> Transfers::begin(const core::OpKind& kind, Rank peer, Completion& completion, bool immediate,
                             Group* group, Op* part_of) noexcept {
  if (state_.in_child() || joined(group) == nullptr) [[unlikely]]
    return ErrorCode::invalid_argument;
  // Nothing may wait inside progress. A layer's `advance` may
  // begin immediate operations there; a handler may begin none.
  if (state_.polling && (state_.in_handler || !immediate)) return ErrorCode::in_handler;
  Op* op = nullptr;
  if (completion == Completion::event) {
    op = state_.ops.acquire(kind, peer, true);
    if (op == nullptr) {
      if (immediate) return {ErrorCode::refused, peer};
      completion = Completion::blocking;
    }
  }
  if (op == nullptr) {
    auto place = [&] { return (op = state_.ops.acquire(kind, peer, false)) != nullptr; };
    if (!place()) {
      if (immediate) return {ErrorCode::refused, peer};
      if (!state_.ops.has_internal()) [[unlikely]]
        return core::refuse_without_records(state_, peer);
      const Status status = core::wait_for_room(
          state_, place, kNoRank, [] { return std::string("a free operation (AQUEDUCT_OPERATIONS)"); });
      if (!status) return status;
    }
  }
  if (completion == Completion::group) {
    op->group = part_of != nullptr ? part_of : joined(group);
    ++op->group->parts;
  }
  return op;
}

// `holds` is false if the peer's queue has taken over the initiator's part: `launch`
// has returned ok, but not all has begun. An operation of which nothing has begun is
// removed from its group, so that the failure appears only in the status.
Transfers::Begun Transfers::finish(Op& op, Status begun, Completion completion, bool holds) noexcept {
  if (!begun && op.parts == 1) {
    if (op.source != nullptr) --std::exchange(op.source, nullptr)->parts;  // the group's
    if (op.group != nullptr) --std::exchange(op.group, nullptr)->parts;
    op.ended = nullptr;
    state_.ops.part_ended(op, begun);
    static_cast<void>(state_.ops.collect(op));
    return {begun, Event(begun)};
  }
  if (holds) state_.ops.part_ended(op, begun);
  if (completion == Completion::group) return {};
  Event event(&op);
  if (completion == Completion::event) return {{}, std::move(event)};
  const Status status = core::wait_to_the_end(state_, event);
  return {status, Event(status)};
}

Op* Transfers::joined(Group* given) noexcept {
  if (given == nullptr) [[likely]]
    return &state_.group();
  core::GroupRecord& group = aqueduct::detail::record_of(*given);
  return group.state == &state_ ? &group.all : nullptr;
}

Status Transfers::take_source(Rank peer, const PutOptions& options, core::SourceUse& source) noexcept {
  if (options.source == SourceReuse::at_completion) return {};
  Event* const event = options.source == SourceReuse::on_event ? options.source_event : nullptr;
  if (options.source == SourceReuse::on_event && event == nullptr) return {};  // see give_source
  return source.take(state_, peer, event, options.immediate);
}

void Transfers::give_source(Op& op, const PutOptions& options, const core::SourceUse& source) noexcept {
  op.source = source.op();
  // Without a group that tells, on_event is at_completion.
  if (options.source != SourceReuse::on_event || options.source_event != nullptr) return;
  if (op.group == nullptr || options.group == nullptr) return;
  op.source = &aqueduct::detail::record_of(*options.group).source;
  ++op.source->parts;
}

Transfers::Begun Transfers::refuse_null(const char* what, Rank peer, std::size_t bytes) noexcept {
  state_.log.error("{} rank {}: a null pointer to {} bytes here", what, peer, bytes);
  const Status status(ErrorCode::invalid_argument, peer);
  return {status, Event(status)};
}

Transfers::Begun Transfers::put(GlobalPtr<std::byte> to, const void* from, std::size_t bytes,
                                Completion completion, const PutOptions& options, const Signal* signal,
                                const WordSignal* word, const PartOf& part_of) noexcept {
  if (options.source_event != nullptr) *options.source_event = Event{};
  const Access access = this->access(to, bytes);
  if (!access.status) return {access.status, Event(access.status)};
  if (aqueduct::detail::is_missing(from, bytes)) return refuse_null("put to", to.rank(), bytes);
  const Rank peer = to.rank();
  const core::Properties& properties = state_.conduit(peer).properties();
  bool native = access.part->reach == SegmentPart::Reach::native;
  if (native && access.part->most_put == 0 && part_of.words == WordPromise::whole &&
      access.part->is_word(to.offset(), bytes)) [[unlikely]] {
    if (signal == nullptr && word == nullptr && network_does(AtomicOp::store, bytes))
      return store_word(to, from, bytes, completion, options, part_of.group);
    native = false;
  }
  // A signal to a word goes in the packet of the put where it fits, unless the conduit carries both.
  if (word != nullptr && fits_with_word(peer, bytes, *word)) native = false;
  using Next = core::PeerOrder::Next;
  const bool orderly = native && signal == nullptr && word == nullptr && bytes <= properties.max_ordered;
  const bool by_packets = !native && access.part->reach != SegmentPart::Reach::mapped;
  const bool is_held = bytes != 0 && held(peer, orderly      ? Next::put
                                                : by_packets ? Next::packet
                                                             : Next::other);
  if (is_held && options.immediate)
    return {{ErrorCode::refused, peer}, Event(Status(ErrorCode::refused, peer))};
  if (is_held && word != nullptr) {  // what waits behind a fence has no room for a word
    if (const Status status = wait_for_turn(peer, false); !status) return {status, Event(status)};
    return put(to, from, bytes, completion, options, signal, word, part_of);
  }
  if ((access.mapped != nullptr && !is_held) || bytes == 0) {
    const bool more = signal != nullptr || word != nullptr;
    // A layer's operation tries all of it again.
    if (more && options.immediate && bytes != 0 && part_of.group == nullptr &&
        !follows_at_once(peer, signal, word)) [[unlikely]]
      return put_or_refuse(access.mapped, {static_cast<const std::byte*>(from), bytes}, peer, completion,
                           options, signal, word);
    aqueduct::detail::put_bytes(access.mapped, from, bytes);
    if (options.notify) state_.wake_after_stores(peer);
    if (word != nullptr) return update_word(peer, *word, completion, options);
    return signal != nullptr
               ? this->signal(peer, *signal, completion, options.immediate, options.group, part_of.group)
               : Begun{};
  }
  const bool inject =
      native && !is_held && options.source == SourceReuse::at_return && bytes <= properties.max_inject;
  core::SourceUse source;
  if (!inject && part_of.source == nullptr) {
    if (const Status status = take_source(peer, options, source); !status) return {status, Event(status)};
  }
  auto begun = begin(kPutKind, peer, completion, options.immediate, options.group, part_of.group);
  if (!begun) {
    source.give_up(state_, begun.status());
    return {begun.status(), Event(begun.status())};
  }
  Op& op = **begun;
  if (part_of.source != nullptr) {
    op.source = part_of.source;
    ++op.source->parts;
  } else if (!inject) {
    give_source(op, options, source);
  }
  Operation& operation = Operation::unset(op);
  operation.local = static_cast<std::byte*>(const_cast<void*>(from));
  operation.segment = to.segment();
  operation.offset = to.offset();
  operation.bytes = bytes;
  if (signal != nullptr) {
    operation.signal = *signal;
    operation.follows = Operation::Follows::signal;
    operation.unwaited = part_of.unwaited && bytes <= properties.max_inject_signal;
  }
  if (word != nullptr) {
    operation.word = *word;
    operation.follows = Operation::Follows::word;
  }
  Status status;
  bool holds = true;
  if (is_held) {
    operation.notify = options.notify;
    hold(op);
    holds = false;
  } else if (native) {
    if (orderly && op.epoch != 0) state_.order.keeps_order_of(op);
    if (operation.follows != Operation::Follows::nothing) follow_after_bytes(op);
    status = put_native(op, *access.part, to, {static_cast<const std::byte*>(from), bytes}, inject,
                        options.immediate);
    // A short put with a signal is read during the call (NativeSignal::put_signal), if the conduit carried both.
    if (status && part_of.source != nullptr && op.ended == nullptr &&
        operation.follows != Operation::Follows::nothing && bytes <= properties.max_inject_signal)
      state_.ops.source_free(op, {});
  } else {
    op.by_packets = true;
    ++state_.statistics.reference_puts;
    status = launch(op, options.immediate);
    holds = !status || operation.all_begun();
  }
  const bool nothing_begun = !status && op.parts == 1;
  // All packets are copies: the source is free already.
  if (!native && !nothing_begun && operation.all_begun() && op.sends == 0) state_.ops.source_free(op, {});
  if (!source.taken()) return finish(op, status, completion, holds);

  // The order matters. A source that is free already ends before `finish`, which may wait for the answers. `finish` may
  // also release the operation, so after it only `source` is used.
  if (nothing_begun) {  // so nothing reads the source
    op.source = nullptr;
    source.give_up(state_, status);
    return finish(op, status, completion, holds);
  }
  Begun result = finish(op, status, completion, holds);
  static_cast<void>(source.hand_over(state_));  // the operation reports a failure
  return result;
}

Transfers::Begun Transfers::get(void* to, GlobalPtr<std::byte> from, std::size_t bytes, Completion completion,
                                bool immediate, Group* group, const PartOf& part_of) noexcept {
  const Access access = this->access(from, bytes);
  if (!access.status) return {access.status, Event(access.status)};
  if (aqueduct::detail::is_missing(to, bytes)) return refuse_null("get from", from.rank(), bytes);
  if (access.mapped != nullptr || bytes == 0) {
    if (from.rank() == state_.rank && completion == Completion::blocking) let_others_in();
    aqueduct::detail::copy_bytes(to, access.mapped, bytes);
    return {};
  }
  bool native = access.part->reach == SegmentPart::Reach::native;
  if (native && access.part->most_get == 0 && part_of.words == WordPromise::whole &&
      access.part->is_word(from.offset(), bytes)) [[unlikely]] {
    const bool fits =
        reinterpret_cast<std::uintptr_t>(to) % bytes == 0;  // an atomic's result is an object of its type
    if (fits && network_does(AtomicOp::load, bytes))
      return load_word(to, from, bytes, completion, immediate, group, part_of.group);
    native = false;
  }
  auto begun = begin(kGetKind, from.rank(), completion, immediate, group, part_of.group);
  if (!begun) return {begun.status(), Event(begun.status())};
  Op& op = **begun;
  Operation& operation = Operation::unset(op);
  operation.local = static_cast<std::byte*>(to);
  operation.segment = from.segment();
  operation.offset = from.offset();
  operation.bytes = bytes;
  if (native) {
    return finish(op, get_native(op, *access.part, from, {operation.local, bytes}, immediate), completion,
                  true);
  }
  op.by_packets = true;
  ++state_.statistics.reference_gets;
  const Status status = launch(op, immediate);
  return finish(op, status, completion, !status || operation.all_begun());
}

bool Transfers::raise_mapped(Rank to, Signal signal) noexcept {
  const GlobalPtr<std::byte> counters{to, 0, core::kSignalSegment};
  std::byte* mapped =
      core::find_mapped(state_, counters, (std::uint64_t{signal.slot} + 1) * sizeof(std::uint64_t));
  if (mapped == nullptr) return false;
  core::counter_at(mapped, signal.slot).fetch_add(signal.add, std::memory_order_release);
  if (to != state_.rank) {
    state_.wake(to);
  } else {
    state_.guard.changed();  // another thread of this rank may wait for it
  }
  return true;
}

Transfers::Begun Transfers::signal(Rank to, Signal signal, Completion completion, bool immediate,
                                   Group* group, Op* part_of) noexcept {
  const GlobalPtr<std::byte> counter{to, std::uint64_t{signal.slot} * sizeof(std::uint64_t),
                                     core::kSignalSegment};
  auto part = state_.segments.check(counter, sizeof(std::uint64_t));
  if (!part) return {part.status(), Event(part.status())};
  if (state_.lost[to]) return {{ErrorCode::peer_lost, to}, Event(Status(ErrorCode::peer_lost, to))};
  const bool is_held = held(to, core::PeerOrder::Next::other);
  if (!is_held && raise_mapped(to, signal)) return {};
  if (is_held && immediate) return {{ErrorCode::refused, to}, Event(Status(ErrorCode::refused, to))};
  auto begun = begin(kSignalKind, to, completion, immediate, group, part_of);
  if (!begun) return {begun.status(), Event(begun.status())};
  Op& op = **begun;
  Operation& operation = Operation::unset(op);
  operation.signal = signal;
  operation.bytes = 1;  // counts as one message to send, for all_begun()
  if (is_held) {
    hold(op);
    return finish(op, {}, completion, false);
  }
  op.by_packets = true;
  const Status status = launch(op, immediate);
  return finish(op, status, completion, !status || operation.all_begun());
}

Transfers::Begun Transfers::signal_beside(GlobalPtr<std::byte> beside, Signal signal, Op& group,
                                          bool received) noexcept {
  const Rank to = beside.rank();
  core::Conduit& conduit = state_.conduit(to);
  const bool carried = conduit.signal() != nullptr && signal.add <= conduit.properties().max_signal_add &&
                       !held(to, core::PeerOrder::Next::other);
  const Access access = carried ? this->access(beside, 1) : Access{};
  if (!carried || !access.status || access.mapped != nullptr ||
      access.part->reach != SegmentPart::Reach::native)
    return this->signal(to, signal, Completion::group, /*immediate=*/true, nullptr, &group);
  auto completion = Completion::group;
  auto begun = begin(kSignalKind, to, completion, /*immediate=*/true, nullptr, &group);
  if (!begun) return {begun.status(), Event(begun.status())};
  Op& op = **begun;
  Operation& operation = Operation::unset(op);
  operation.signal = signal;
  operation.follows = Operation::Follows::signal;
  operation.unwaited = received;
  follow_after_bytes(op);
  const Status status = put_native(op, *access.part, beside, {}, /*inject=*/false, /*immediate=*/true);
  return finish(op, status, completion, true);
}

}  // namespace aqueduct::rma
