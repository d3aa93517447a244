#include "rma/transfers.hpp"

#include "core/mapping.hpp"
#include "core/signals.hpp"
#include "core/wait.hpp"
#include "rma/operation.hpp"

namespace aqueduct::rma {

Access Transfers::access(GlobalPtr<std::byte> at, std::uint64_t bytes) noexcept {
  auto checked = state_.segments.check(at, bytes);
  if (!checked) return {checked.status()};
  SegmentPart& part = **checked;
  if (state_.lost[at.rank()]) return {{ErrorCode::peer_lost, at.rank()}};
  if (std::byte* place = core::find_mapped(state_, at, bytes)) return {{}, place, &part};
  if (part.reach != SegmentPart::Reach::unknown || bytes == 0) return {{}, nullptr, &part};
  // The first use of this part. If importing its key fails, this operation fails with the reason, and later ones use
  // packets.
  part.reach = SegmentPart::Reach::reference;
  const auto has_key = this->has_key(part, at.rank());
  if (!has_key) return {has_key.status()};
  if (*has_key) part.reach = SegmentPart::Reach::native;
  return {{}, nullptr, &part};
}

Result<bool> Transfers::has_key(SegmentPart& part, Rank rank, core::Conduit& conduit) noexcept {
  if (part.asked_for_key) return part.has_key;
  part.asked_for_key = true;
  core::NativeRma* const rma = conduit.rma();
  if (rma == nullptr || part.rma_key.empty()) return false;
  auto key = rma->import_key(rank, part.rma_key);
  if (!key && key.status().code() != ErrorCode::not_supported) return key.status();
  part.has_key = key.ok();
  if (key) part.key = *key;
  part.rma = rma;
  part.max_transfer = conduit.properties().max_transfer;
  return part.has_key;
}

// Takes an operation from the pool. If all explicit ones are in use, the completion becomes blocking: the call itself
// waits for the operation instead of returning an Event. It cannot wait for a free explicit one, because the caller may
// hold Events of finished operations and give none up. Internal operations end by themselves, so waiting for one is
// safe.
Result<Op*> Transfers::begin(const core::OpKind& kind, Rank peer, Completion& completion,
                             bool immediate) noexcept {
  if (state_.in_child()) [[unlikely]]
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
      const Status status = core::wait_until(
          state_, place, kNoRank, [] { return std::string("a free operation (AQUEDUCT_OPERATIONS)"); });
      if (!status) return status;
    }
  }
  if (completion == Completion::group) {
    op->group = &state_.group();
    ++op->group->parts;
  }
  return op;
}

// `holds` is false if the peer's queue has taken over the initiator's part: `launch`
// has returned ok, but not all has begun. An operation of which nothing has begun is
// removed from its group, so that the failure appears only in the status.
Transfers::Begun Transfers::finish(Op& op, Status begun, Completion completion, bool holds) noexcept {
  if (!begun && op.parts == 1) {
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
  const Status status = core::wait(state_, event);
  return {status, Event(status)};
}

Status Transfers::take_source(Op& op, Rank peer, const PutOptions& options,
                              core::SourceUse& source) noexcept {
  if (options.source == SourceReuse::at_completion) return {};
  if (options.source == SourceReuse::on_event && options.source_event == nullptr) return {};
  Event* const event = options.source == SourceReuse::on_event ? options.source_event : nullptr;
  const Status status = source.take(state_, peer, event, options.immediate);
  op.source = source.op();
  return status;
}

Transfers::Begun Transfers::put(GlobalPtr<std::byte> to, const void* from, std::size_t bytes,
                                Completion completion, const PutOptions& options,
                                const Signal* signal) noexcept {
  if (options.source_event != nullptr) *options.source_event = Event{};
  const Access access = this->access(to, bytes);
  if (!access.status) return {access.status, Event(access.status)};
  const Rank peer = to.rank();
  const core::Properties& properties = state_.conduit(peer).properties();
  const bool native = access.part->reach == SegmentPart::Reach::native;
  using Next = core::PeerOrder::Next;
  const bool orderly = native && signal == nullptr && bytes <= properties.max_ordered;
  const bool by_packets = access.part->reach == SegmentPart::Reach::reference;
  const bool is_held =
      bytes != 0 && held(peer, orderly ? Next::put : by_packets ? Next::packet : Next::other);
  if (is_held && options.immediate)
    return {{ErrorCode::refused, peer}, Event(Status(ErrorCode::refused, peer))};
  if ((access.mapped != nullptr && !is_held) || bytes == 0) {
    aqueduct::detail::copy_bytes(access.mapped, from, bytes);
    return signal != nullptr ? this->signal(peer, *signal, completion) : Begun{};
  }
  auto begun = begin(kPutKind, peer, completion, options.immediate);
  if (!begun) return {begun.status(), Event(begun.status())};
  Op& op = **begun;
  Operation& operation = Operation::unset(op);
  operation.local = static_cast<std::byte*>(const_cast<void*>(from));
  operation.segment = to.segment();
  operation.offset = to.offset();
  operation.bytes = bytes;
  const bool inject = native && !is_held && options.source == SourceReuse::at_return && bytes <= properties.max_inject;
  core::SourceUse source;
  if (!inject) {
    if (const Status status = take_source(op, peer, options, source); !status)
      return finish(op, status, completion, true);
  }
  if (signal != nullptr) {
    operation.signal = *signal;
    operation.has_signal = true;
  }
  Status status;
  bool holds = true;
  if (is_held) {
    hold(op);
    holds = false;
  } else if (native) {
    if (orderly && op.epoch != 0) state_.order.keeps_order_of(op);
    if (operation.has_signal) {
      op.ended = then_signal;
      op.layer = this;
    }
    status = put_native(op, *access.part, to, {static_cast<const std::byte*>(from), bytes}, inject,
                        options.immediate);
  } else {
    op.by_packets = true;
    ++state_.statistics.reference_puts;
    status = launch(op, options.immediate);
    holds = !status || operation.all_begun();
  }
  if (!source.taken()) return finish(op, status, completion, holds);

  // The order matters. If all packets are copies, the source is free already, so it ends before `finish`, which may
  // wait for the answers. `finish` may also release the operation, so after it only `source` is used.
  if (!status && op.parts == 1) {  // nothing was begun, so nothing reads the source
    op.source = nullptr;
    source.give_up(state_, status);
    return finish(op, status, completion, holds);
  }
  if (!native && operation.all_begun() && op.sends == 0) state_.ops.source_free(op, {});
  Begun result = finish(op, status, completion, holds);
  static_cast<void>(source.hand_over(state_));  // the operation reports a failure
  return result;
}

Transfers::Begun Transfers::get(void* to, GlobalPtr<std::byte> from, std::size_t bytes, Completion completion,
                                bool immediate) noexcept {
  const Access access = this->access(from, bytes);
  if (!access.status) return {access.status, Event(access.status)};
  if (access.mapped != nullptr || bytes == 0) {
    if (from.rank() == state_.rank && completion == Completion::blocking) let_others_in();
    aqueduct::detail::copy_bytes(to, access.mapped, bytes);
    return {};
  }
  auto begun = begin(kGetKind, from.rank(), completion, immediate);
  if (!begun) return {begun.status(), Event(begun.status())};
  Op& op = **begun;
  Operation& operation = Operation::unset(op);
  operation.local = static_cast<std::byte*>(to);
  operation.segment = from.segment();
  operation.offset = from.offset();
  operation.bytes = bytes;
  if (access.part->reach == SegmentPart::Reach::native) {
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
  if (to != state_.rank) state_.wake(to);
  return true;
}

Transfers::Begun Transfers::signal(Rank to, Signal signal, Completion completion) noexcept {
  const GlobalPtr<std::byte> counter{to, std::uint64_t{signal.slot} * sizeof(std::uint64_t),
                                     core::kSignalSegment};
  auto part = state_.segments.check(counter, sizeof(std::uint64_t));
  if (!part) return {part.status(), Event(part.status())};
  if (state_.lost[to]) return {{ErrorCode::peer_lost, to}, Event(Status(ErrorCode::peer_lost, to))};
  const bool is_held = held(to, core::PeerOrder::Next::other);
  if (!is_held && raise_mapped(to, signal)) return {};
  auto begun = begin(kSignalKind, to, completion, false);
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
  const Status status = launch(op, false);
  return finish(op, status, completion, !status || operation.all_begun());
}

}  // namespace aqueduct::rma
