#include "vis/target.hpp"

#include "core/signals.hpp"
#include "rma/wire.hpp"
#include "vis/accumulate.hpp"
#include "vis/decode.hpp"
#include "vis/kernels.hpp"
#include "vis/piece_transfers.hpp"

#include <cstring>
#include <new>

namespace aqueduct::vis {

using aqueduct::detail::Incoming;

/// The handlers of packed transfers. They run inside progress and trust no packet: the peer may run other code.
///
/// put   at the target: unpacks or adds, raises the signal that the packet brings, and answers with a short reply
/// get   at the target: gathers the pieces into PieceTransfers::reply_ and sends them as a medium reply
/// data  at the initiator of a get: scatters the reply and frees its chunk
struct PackedTarget {
  template <class T>
  static T read(const std::byte* args) noexcept {
    T out;
    std::memcpy(&out, args, sizeof out);
    return out;
  }

  /// This rank's part of the segment that a packet names; empty if it has no part.
  static core::MutableBytes memory(EndpointState& state, SegmentId segment) noexcept {
    if (!state.segments.check({state.rank, 0, segment}, 0)) return {};
    return state.segments[segment].mine;
  }

  /// Copies or adds the data to the pieces described. Writes nothing outside the segment, whatever the packet says.
  static ErrorCode unpack(EndpointState& state, const PackedRequest& request, core::Bytes payload) noexcept {
    const std::size_t padded = am::padded(request.description);
    if (request.description > payload.size() || padded > payload.size() ||
        request.data_bytes != payload.size() - padded)
      return ErrorCode::invalid_argument;
    const core::MutableBytes mine = memory(state, request.segment);
    const std::byte* data = payload.data() + padded;
    const auto type = static_cast<AtomicType>(request.type - 1);
    if (request.type > 1 + static_cast<std::uint8_t>(AtomicType::f64)) return ErrorCode::invalid_argument;
    const std::size_t width = request.type != 0 ? atomic_bytes(type) : 1;
    Decoder decoder(request.form, payload.first(request.description), request.base, mine.size(),
                    request.data_bytes);
    Row row;
    while (decoder.next(row)) {
      row.at += reinterpret_cast<std::uintptr_t>(mine.data());
      const Row from{reinterpret_cast<std::uintptr_t>(data), row.bytes, static_cast<std::int64_t>(row.bytes),
                     row.count};
      if (request.type == 0) {
        copy_rows(row, from, row.count);
      } else {
        for (std::uint64_t i = 0; i < row.count; ++i) {
          const std::uint64_t to = row.place(i);
          if (to % width != 0 || row.bytes % width != 0) return ErrorCode::misaligned;
          add_elements(reinterpret_cast<std::byte*>(to), data + i * row.bytes, row.bytes, type);
        }
      }
      data += row.count * row.bytes;
    }
    return decoder.good() ? ErrorCode::ok : ErrorCode::out_of_range;
  }

  static void put(Incoming& in, const std::byte* args, core::MutableBytes payload) noexcept {
    const auto request = read<PackedRequest>(args);
    const ErrorCode code = unpack(in.state, request, payload);
    if (code == ErrorCode::ok && request.add != 0) core::raise(in.state, {request.slot, request.add});
    const rma::PutAck ack{request.token, static_cast<std::uint64_t>(code)};
    // Only a lost peer makes this fail, and it needs no answer.
    static_cast<void>(in.state.messages->reply(in, AmCategory::short_reply, rma::kPutAck,
                                               {&ack, sizeof ack, 0}, nullptr, {}));
  }

  static void get(Incoming& in, const std::byte* args, core::MutableBytes payload) noexcept {
    const auto request = read<PackedRequest>(args);
    PieceTransfers& transfers = *in.state.vis;
    if (transfers.reply_ == nullptr)
      transfers.reply_.reset(new (std::nothrow) std::uint64_t[transfers.staging_buffers_.bytes() / 8]);
    auto* const reply = reinterpret_cast<std::byte*>(transfers.reply_.get());
    const core::MutableBytes mine = memory(in.state, request.segment);
    const bool fits = request.data_bytes <= in.state.messages->room(in.source, false, sizeof(PackedData)) &&
                      request.description == payload.size();
    PackedData answer{request.token, request.chunk, static_cast<std::uint32_t>(ErrorCode::invalid_argument)};
    std::size_t bytes = 0;
    if (reply == nullptr) {
      answer.code = static_cast<std::uint32_t>(ErrorCode::no_memory);
    } else if (fits) {
      Decoder decoder(request.form, payload, request.base, mine.size(), request.data_bytes);
      Row row;
      while (decoder.next(row)) {
        row.at += reinterpret_cast<std::uintptr_t>(mine.data());
        const Row to{reinterpret_cast<std::uintptr_t>(reply + bytes), row.bytes,
                     static_cast<std::int64_t>(row.bytes), row.count};
        copy_rows(to, row, row.count);
        bytes += row.count * row.bytes;
      }
      answer.code = static_cast<std::uint32_t>(decoder.good() ? ErrorCode::ok : ErrorCode::out_of_range);
    }
    if (answer.code != 0) bytes = 0;
    static_cast<void>(in.state.messages->reply(in, AmCategory::medium_reply, kPackedData,
                                               {&answer, sizeof answer, 0}, nullptr, {reply, bytes}));
  }

  static void data(Incoming& in, const std::byte* args, core::MutableBytes payload) noexcept {
    const auto answer = read<PackedData>(args);
    PieceTransfers& transfers = *in.state.vis;
    core::Op* op = in.state.ops.find(answer.token);
    // Late answers, and answers that nobody asked for, are dropped: token, peer and chunk must fit one another.
    if (op == nullptr || op->peer != in.source || answer.chunk >= transfers.chunks().size()) return;
    Chunk& chunk = transfers.chunks_[answer.chunk];
    if (chunk.owner == nullptr || chunk.owner->op != op || chunk.owner->plan != Plan::packed) return;
    auto code = static_cast<ErrorCode>(answer.code);
    if (code == ErrorCode::ok && payload.size() != chunk.bytes) code = ErrorCode::internal;
    if (code == ErrorCode::ok) transfers.scatter(chunk, payload);
    Transfer& t = *chunk.owner;
    transfers.give_back(chunk);
    --op->answers;
    in.state.ops.part_ended(*op, {code, in.source});
    transfers.answered(t);
  }
};

namespace {

template <auto body>
am::Callback callback() noexcept {
  return {
      [](void*, Incoming& in, const std::byte* args, core::MutableBytes payload) { body(in, args, payload); },
      nullptr};
}

}  // namespace

void add_packed_handlers(EndpointState& state) noexcept {
  am::Messages& m = *state.messages;
  m.add_internal(kPackedPut, AmCategory::medium_request, sizeof(PackedRequest),
                 callback<PackedTarget::put>());
  m.add_internal(kPackedGet, AmCategory::medium_request, sizeof(PackedRequest),
                 callback<PackedTarget::get>());
  m.add_internal(kPackedData, AmCategory::medium_reply, sizeof(PackedData), callback<PackedTarget::data>());
}

}  // namespace aqueduct::vis
