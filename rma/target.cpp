#include "rma/target.hpp"

#include <aqueduct/copy_bytes.hpp>

#include "core/apply_atomic.hpp"
#include "core/signals.hpp"
#include "core/word_signal.hpp"
#include "rma/operation.hpp"
#include "rma/wire.hpp"

#include <algorithm>
#include <cstring>

namespace aqueduct::rma {
namespace {

using aqueduct::detail::EndpointState;
using aqueduct::detail::Incoming;

template <class T>
T read(const std::byte* args) noexcept {
  T out;
  std::memcpy(&out, args, sizeof out);
  return out;
}

template <class T>
void answer(Incoming& in, ReferenceHandler handler, const T& args, core::Bytes payload = {}) noexcept {
  const auto category =
      payload.empty() && handler != kGetData ? AmCategory::short_reply : AmCategory::medium_reply;
  // The reply fails only if the peer is lost, or has sent more requests than it has credits. Neither gets an answer.
  static_cast<void>(in.state.messages->reply(in, category, handler, {&args, sizeof(T), 0}, nullptr, payload));
}

/// This rank's memory at a place that a peer names; null if the place is not inside the segment.
std::byte* place(EndpointState& state, SegmentId segment, std::uint64_t offset,
                 std::uint64_t bytes) noexcept {
  if (!state.segments.check({state.rank, offset, segment}, bytes)) return nullptr;
  return state.segments[segment].mine.data() + offset;
}

/// The operation that an answer belongs to. Null if the operation is over, went to another peer, waits for no answer,
/// or waits for one of another kind. So a faulty peer cannot end other operations, nor write to their buffers.
core::Op* asked(Incoming& in, core::Token token, ReferenceHandler answer) noexcept {
  core::Op* op = in.state.ops.find(token);
  if (op == nullptr || op->peer != in.source || op->answers == 0) return nullptr;
  return op->kind->answered_by == answer ? op : nullptr;
}

void end_part(Incoming& in, core::Op& op, std::uint64_t code) noexcept {
  --op.answers;
  in.state.ops.part_ended(op, {static_cast<ErrorCode>(code), in.source});
}

void put(Incoming& in, const std::byte* args, core::MutableBytes payload) {
  const auto piece = read<PutPiece>(args);
  std::byte* to = place(in.state, piece.segment, piece.offset, payload.size());
  if (to != nullptr) {
    aqueduct::detail::copy_bytes(to, payload.data(), payload.size());
    if (piece.add != 0) core::raise(in.state, {piece.slot, piece.add});
  }
  const auto code = to != nullptr ? ErrorCode::ok : ErrorCode::out_of_range;
  answer(in, kPutAck, PutAck{piece.token, static_cast<std::uint64_t>(code)});
}

void put_word(Incoming& in, const std::byte* args, core::MutableBytes payload) {
  const auto piece = read<PutWordPiece>(args);
  std::byte* to = place(in.state, piece.segment, piece.offset, payload.size());
  auto code = ErrorCode::out_of_range;
  if (to != nullptr) {
    aqueduct::detail::copy_bytes(to, payload.data(), payload.size());
    const bool known = piece.word_segment < in.state.segments.size();
    const core::MutableBytes mine = known ? in.state.segments[piece.word_segment].mine : core::MutableBytes{};
    code = core::apply_signal(mine, piece.word_offset, piece.op, piece.value);
  }
  answer(in, kPutAck, PutAck{piece.token, static_cast<std::uint64_t>(code)});
}

void put_ack(Incoming& in, const std::byte* args, core::MutableBytes) {
  const auto ack = read<PutAck>(args);
  if (core::Op* op = asked(in, ack.token, kPutAck)) {
    end_part(in, *op, ack.code);
  }
}

void get(Incoming& in, const std::byte* args, core::MutableBytes) {
  const auto piece = read<GetPiece>(args);
  const bool fits = piece.bytes <= in.state.messages->room(in.source, false, sizeof(GetData));
  const std::byte* from = fits ? place(in.state, piece.segment, piece.offset, piece.bytes) : nullptr;
  const auto code = from != nullptr ? ErrorCode::ok : ErrorCode::out_of_range;
  const std::size_t bytes = from != nullptr ? piece.bytes : 0;
  // An aligned word is read by one load, so that the initiator never
  // gets half of an update. The copy into a packet may read it in parts.
  std::uint64_t word = 0;
  if (aqueduct::detail::copy_word(&word, from, bytes)) from = reinterpret_cast<const std::byte*>(&word);
  answer(in, kGetData, GetData{piece.token, piece.at, static_cast<std::uint64_t>(code)}, {from, bytes});
}

void get_data(Incoming& in, const std::byte* args, core::MutableBytes payload) {
  const auto data = read<GetData>(args);
  core::Op* op = asked(in, data.token, kGetData);
  if (op == nullptr) return;
  const Operation& operation = Operation::of(*op);
  auto code = static_cast<ErrorCode>(data.code);
  if (data.at > operation.bytes || payload.size() > operation.bytes - data.at) code = ErrorCode::internal;
  if (code == ErrorCode::ok)
    aqueduct::detail::copy_bytes(operation.local + data.at, payload.data(), payload.size());
  end_part(in, *op, static_cast<std::uint64_t>(code));
}

void atomic(Incoming& in, const std::byte* args, core::MutableBytes) {
  const auto request = read<AtomicRequest>(args);
  const std::size_t bytes = core::bytes_of(request.type);
  std::byte* at = place(in.state, request.segment, request.offset, bytes);
  AtomicResult result{request.token, 0, 0};
  if (!core::AtomicSet::exists(request.op, request.type)) {
    result.code = static_cast<std::uint64_t>(ErrorCode::invalid_argument);
  } else if (at == nullptr) {
    result.code = static_cast<std::uint64_t>(ErrorCode::out_of_range);
  } else if (reinterpret_cast<std::uintptr_t>(at) % bytes != 0) {
    result.code = static_cast<std::uint64_t>(ErrorCode::misaligned);
  } else {
    result.old = core::apply_atomic(request.op, request.type, request.operand, request.expected, at);
  }
  answer(in, kAtomicResult, result);
}

void atomic_result(Incoming& in, const std::byte* args, core::MutableBytes) {
  const auto result = read<AtomicResult>(args);
  core::Op* op = asked(in, result.token, kAtomicResult);
  if (op == nullptr) return;
  const Operation& operation = Operation::of(*op);
  if (operation.atomic.result != nullptr && result.code == 0)
    std::memcpy(operation.atomic.result, &result.old, operation.bytes);
  end_part(in, *op, result.code);
}

void signal(Incoming& in, const std::byte* args, core::MutableBytes) {
  const auto request = read<SignalRequest>(args);
  const bool there = core::has_counter(in.state, request.slot);
  if (there) core::raise(in.state, {request.slot, request.add});
  const auto code = there ? ErrorCode::ok : ErrorCode::out_of_range;
  answer(in, kPutAck, PutAck{request.token, static_cast<std::uint64_t>(code)});
}

using Body = void (*)(Incoming&, const std::byte*, core::MutableBytes);

/// A handler without state: Incoming has the endpoint.
template <Body body>
am::Callback callback() noexcept {
  return {
      [](void*, Incoming& in, const std::byte* args, core::MutableBytes payload) { body(in, args, payload); },
      nullptr};
}

}  // namespace

void add_reference_handlers(EndpointState& state) noexcept {
  am::Messages& m = *state.messages;
  using enum AmCategory;
  m.add_internal(kPut, medium_request, sizeof(PutPiece), callback<put>());
  m.add_internal(kPutWord, medium_request, sizeof(PutWordPiece), callback<put_word>());
  m.add_internal(kPutAck, short_reply, sizeof(PutAck), callback<put_ack>());
  m.add_internal(kGet, short_request, sizeof(GetPiece), callback<get>());
  m.add_internal(kGetData, medium_reply, sizeof(GetData), callback<get_data>());
  m.add_internal(kAtomic, short_request, sizeof(AtomicRequest), callback<atomic>());
  m.add_internal(kAtomicResult, short_reply, sizeof(AtomicResult), callback<atomic_result>());
  m.add_internal(kSignal, short_request, sizeof(SignalRequest), callback<signal>());
}

}  // namespace aqueduct::rma
