#include "core/mapping.hpp"
#include "core/refuse.hpp"
#include "core/signals.hpp"
#include "core/word_signal.hpp"
#include "rma/operation.hpp"
#include "rma/transfers.hpp"

// Signals to words of segments. The update of a word is one of the job's atomics: the owner's processor or a neighbour's
// does it, unless the network does the job's atomics on that word. So a program may mix signals and atomics on it.

namespace aqueduct::rma {
namespace {

using aqueduct::detail::AtomicBy;

constexpr std::size_t kWordBytes = sizeof(std::uint64_t);

AtomicCall call_of(const WordSignal& word, AtomicBy by) noexcept {
  const AtomicOp op = word.op == SignalOp::add ? AtomicOp::add : AtomicOp::store;
  return {op, AtomicType::u64, word.value, 0, nullptr, by};
}

GlobalPtr<std::byte> place_of(Rank rank, const WordSignal& word) noexcept {
  return {rank, word.offset, word.segment};
}

}  // namespace

// Also maps the word's part or imports its key. What is called later, perhaps inside progress, finds how it is reached.
Status Transfers::check_word(const SignalWord& word) noexcept {
  const Rank rank = word.at.rank();
  if (word.op > SignalOp::set) return ErrorCode::invalid_argument;
  const Access access = this->access(word.at.as<std::byte>(), kWordBytes);
  if (!access.status) return access.status;
  if (!access.part->aligned(word.at.offset(), kWordBytes))
    return core::refuse_alignment(state_, word.at.as<std::byte>(), kWordBytes);
  if (state_.atomics_by_processor) return {};
  const bool is_far = state_.conduit_of[rank] == state_.far.get();
  SegmentPart* const reached = is_far ? access.part : access.part->far.get();
  return reached != nullptr ? has_key(*reached, rank, *state_.far).status() : Status{};
}

const SegmentPart* Transfers::by_network(Rank to, const WordSignal& word) const noexcept {
  if (state_.atomics_by_processor) return nullptr;
  return state_.segments.of_network(state_.far->rma(), place_of(to, word), kWordBytes);
}

const SegmentPart* Transfers::native_word(Rank to, const WordSignal& word) const noexcept {
  core::NativeSignal* const native = state_.conduit(to).signal();
  if (native == nullptr || !native->takes_words() || by_network(to, word) != nullptr) return nullptr;
  return state_.segments.native(place_of(to, word), kWordBytes);
}

bool Transfers::fits_with_word(Rank to, std::size_t bytes, const WordSignal& word) const noexcept {
  return native_word(to, word) == nullptr && by_network(to, word) == nullptr &&
         bytes <= messages_.room(to, false, sizeof(PutWordPiece));
}

Transfers::Begun Transfers::put_word(GlobalPtr<std::byte> to, const void* from, std::size_t bytes,
                                     Completion completion, const PutOptions& options,
                                     const SignalWord& word) noexcept {
  Status status;
  if (word.at.rank() != to.rank()) status = ErrorCode::invalid_argument;
  if (status) status = check_word(word);
  if (!status) return {status, Event(status)};
  const WordSignal signal{word.at.segment(), word.op, word.at.offset(), word.value};
  return put(to, from, bytes, completion, options, nullptr, &signal);
}

Transfers::Begun Transfers::update_word(Rank to, const WordSignal& word, Completion completion,
                                        const PutOptions& options) noexcept {
  Begun begun = atomic(place_of(to, word), call_of(word, AtomicBy::job), completion,
                       {options.immediate, false, options.group});
  // A processor's instruction from here may have done it. Otherwise this wakes a neighbour for nothing, which is harmless.
  if (to != state_.rank && !state_.lost[to]) state_.wake(to);
  return begun;
}

/// Whether an instruction from here does what follows the bytes of a put.
bool Transfers::follows_at_once(Rank to, const Signal* signal, const WordSignal* word) noexcept {
  if (word != nullptr) {
    return state_.atomics_by_processor &&
           core::find_mapped(state_, place_of(to, *word), kWordBytes) != nullptr;
  }
  return core::find_mapped(state_, {to, 0, core::kSignalSegment},
                           (std::uint64_t{signal->slot} + 1) * sizeof(std::uint64_t)) != nullptr;
}

// The signal may find no room, and a put that is refused has changed nothing. So the operation of the signal comes first.
// It needs no room: what finds none is queued.
Transfers::Begun Transfers::put_or_refuse(std::byte* mapped, core::Bytes from, Rank to, Completion completion,
                                          const PutOptions& options, const Signal* signal,
                                          const WordSignal* word) noexcept {
  auto begun =
      begin(word != nullptr ? kWordKind : kSignalKind, to, completion, /*immediate=*/true, options.group);
  if (!begun) return {begun.status(), Event(begun.status())};
  Op& op = **begun;
  aqueduct::detail::write_bytes(mapped, from.data(), from.size());
  if (options.notify) state_.wake_after_stores(to);
  const bool over = word != nullptr ? follow_with_word(op, *word) : follow_with_signal(op, *signal);
  return finish(op, {}, completion, over);
}

// The bytes of a put are in place: now its signal follows. Not after a failure, since the signal would announce bytes
// that are not there.
bool Transfers::then_word(core::Layer& layer, Op& op) noexcept {
  if (!op.outcome) return true;
  const WordSignal word = Operation::of(op).word;
  return static_cast<Transfers&>(layer).follow_with_word(op, word);
}

// May run inside progress, so nothing here waits: `launch` queues what finds no room.
bool Transfers::follow_with_word(Op& op, const WordSignal& word) noexcept {
  const bool network = by_network(op.peer, word) != nullptr;
  if (!network && state_.atomics_by_processor) {
    if (std::byte* const place = core::find_mapped(state_, place_of(op.peer, word), kWordBytes)) {
      core::update_word(place, word.op, word.value);
      if (op.peer != state_.rank) state_.wake(op.peer);
      return true;
    }
  }
  op.kind = &kWordKind;
  op.by_packets = true;  // until the network has it: push_word
  Operation& operation = Operation::unset(op);
  operation.segment = word.segment;
  operation.offset = word.offset;
  operation.bytes = kWordBytes;
  operation.atomic = call_of(word, network ? AtomicBy::network : AtomicBy::processor);
  const Status status = launch(op, false);
  if (!status || operation.all_begun()) state_.ops.part_ended(op, status);
  return false;
}

/// Posts the update to the network. Looks the key up anew: the operation may have waited for room.
Post Transfers::push_word(Op& op) noexcept {
  Operation& operation = Operation::of(op);
  const GlobalPtr<std::byte> at{op.peer, operation.offset, operation.segment};
  const SegmentPart* const part = state_.segments.of_network(state_.far->rma(), at, kWordBytes);
  if (part == nullptr) return Post::failed(ErrorCode::closed);
  const Post post = state_.far->atomics()->atomic(op.peer, part->key, operation.offset, operation.atomic,
                                                  core::OpPool::token(op));
  if (post.kind == Post::Kind::posted) {
    ++op.parts;
    op.by_packets = false;  // the conduit completes it, also if the peer is lost
  }
  if (post.kind == Post::Kind::posted || post.kind == Post::Kind::done) {
    operation.begun = operation.bytes;
    ++state_.statistics.native_atomics;
  }
  return post;
}

void describe_word_signal(const core::Op& op, std::string& text) {
  const Operation& operation = Operation::of(op);
  text += fmt::format(" (segment {}, offset {})", operation.segment, operation.offset);
}

}  // namespace aqueduct::rma
