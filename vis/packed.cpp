#include "core/source_use.hpp"
#include "vis/accumulate.hpp"
#include "vis/describe.hpp"
#include "vis/kernels.hpp"
#include "vis/operation.hpp"
#include "vis/piece_transfers.hpp"

#include <bit>
#include <new>

namespace aqueduct::vis {
namespace {

/// Counts a request by the kind of its description.
void count(Statistics& statistics, const Description& said) noexcept {
  ++statistics.vis_messages;
  statistics.vis_description_bytes += said.bytes;
  ++(said.form == DescriptionKind::strided   ? statistics.vis_as_strides
     : said.form == DescriptionKind::indexed ? statistics.vis_as_offsets
                                             : statistics.vis_as_pieces);
}

Shape dense(std::uint64_t bytes) noexcept {
  Shape shape;
  shape.bytes = bytes;
  return shape;
}

}  // namespace

// Sends the contents of a stage as a medium request. A conduit that does not copy reads the stage after the call; the use
// of the stage then tells when it is free.
core::Post PieceTransfers::send(Transfer& t, HandlerId handler, const PackedRequest& request,
                                StagingBuffer& stage, std::size_t bytes) noexcept {
  core::SourceUse use;
  const bool copies = state_.conduit(t.peer).properties().copies;
  core::Post post = core::Post::retry();
  if (copies || use.take(state_, t.peer, nullptr, /*immediate=*/true)) {
    post = state_.messages->try_request(t.peer, AmCategory::medium_request, handler,
                                        {&request, sizeof request, 0}, nullptr, {stage.data(), bytes},
                                        use.taken() ? core::OpPool::token(*use.op()) : 0);
  }
  if (post.kind == core::Post::Kind::retry) refused_ = post;
  if (post.kind == core::Post::Kind::posted) {
    stage.op = use.keep();
  } else {
    use.give_up(state_, {});
  }
  staging_buffers_.give_back(stage);
  return post;
}

// Puts and accumulates: description and data in one packet, as long as there are credits and stages. The peer unpacks
// each packet in a handler and answers with a short reply, which ends one part of the operation.
PieceTransfers::Step PieceTransfers::put_packed(Transfer& t) noexcept {
  am::Messages& messages = *state_.messages;
  const std::size_t most = messages.room(t.peer, false, sizeof(PackedRequest));
  const std::uint64_t unit = t.what == What::accumulate ? atomic_bytes(t.type) : 1;
  const PacketRoom room{most, most, most, unit};
  const std::uint64_t total = t.about_there.bytes;
  while (t.there_at.remaining() != 0) {
    if (!t.op->outcome.ok()) return Step::over;
    if (messages.credits_left(t.peer) == 0) return Step::again;
    StagingBuffer* const stage = take_stage();
    if (stage == nullptr) return Step::again;
    const Cursor there = t.there_at;
    const Cursor here = t.here_at;
    const Description said = describe_pieces(t.there, total, t.there_at, room, stage->data());
    const std::size_t padded = am::padded(said.bytes);
    const Shape packed = dense(said.data);
    Cursor into(packed, said.data, reinterpret_cast<std::uintptr_t>(stage->data() + padded));
    copy_between(into, t.here_at, said.data);
    PackedRequest request{};
    request.token = core::OpPool::token(*t.op);
    request.base = t.there.base;
    request.segment = t.segment;
    request.data_bytes = static_cast<std::uint32_t>(said.data);
    request.description = said.bytes;
    request.form = said.form;
    if (t.what == What::accumulate) request.type = static_cast<std::uint8_t>(1 + static_cast<int>(t.type));
    Operation& operation = Operation::of(*t.op);
    const bool brings_signal = operation.has_signal && said.data == total;
    if (brings_signal) {
      request.slot = operation.signal.slot;
      request.add = operation.signal.add;
    }
    const core::Post post = send(t, kPackedPut, request, *stage, padded + said.data);
    if (post.kind == core::Post::Kind::retry) {
      t.there_at = there;
      t.here_at = here;
      return Step::again;
    }
    if (post.kind == core::Post::Kind::failed) {
      fail(t, {post.why, t.peer});
      return Step::over;
    }
    if (brings_signal)
      operation.has_signal = false;  // otherwise it is sent when all packets have been answered
    count(state_.statistics, said);
    ++t.op->parts;
    ++t.op->answers;
  }
  return Step::over;
}

// Gets: each request describes as many pieces as its answer can hold. The peer gathers them in a handler; here, the
// handler of the answer scatters the data. A chunk remembers where the answer belongs: it is taken before its request
// is sent, and freed by the answer's handler, or by the loss of the peer. Answers may arrive in any order.
PieceTransfers::Step PieceTransfers::get_packed(Transfer& t) noexcept {
  am::Messages& messages = *state_.messages;
  const PacketRoom room{messages.room(t.peer, false, sizeof(PackedRequest)),
                        messages.room(t.peer, false, sizeof(PackedData)), UINT64_MAX / 2, 1};
  const std::uint64_t total = t.about_there.bytes;
  while (t.there_at.remaining() != 0 && t.op->outcome.ok()) {
    if (std::popcount(t.chunks) >= kChunksOfOne) return Step::waits;
    if (messages.credits_left(t.peer) == 0) return Step::again;
    StagingBuffer* const stage = take_stage();
    if (stage == nullptr) return Step::again;
    Chunk* const chunk = take_chunk(t);
    if (chunk == nullptr) {
      staging_buffers_.give_back(*stage);
      return Step::again;
    }
    const Cursor there = t.there_at;
    const Description said = describe_pieces(t.there, total, t.there_at, room, stage->data());
    PackedRequest request{};
    request.token = core::OpPool::token(*t.op);
    request.base = t.there.base;
    request.segment = t.segment;
    request.data_bytes = static_cast<std::uint32_t>(said.data);
    request.description = said.bytes;
    request.chunk = static_cast<std::uint32_t>(chunk - chunks_.get());
    request.form = said.form;
    const core::Post post = send(t, kPackedGet, request, *stage, said.bytes);
    if (post.kind == core::Post::Kind::retry) {
      give_back(*chunk);
      t.there_at = there;
      return Step::again;
    }
    if (post.kind == core::Post::Kind::failed) {
      give_back(*chunk);
      fail(t, {post.why, t.peer});
      break;
    }
    count(state_.statistics, said);
    chunk->bytes = said.data;
    chunk->here = t.here_at;
    t.here_at.skip(said.data);
    ++t.op->parts;
    ++t.op->answers;
  }
  return t.chunks != 0 ? Step::waits : Step::over;
}

StagingBuffer* PieceTransfers::take_stage() noexcept {
  StagingBuffer* const stage = staging_buffers_.take();
  if (stage == nullptr && staging_buffers_.lacks_memory()) refused_ = core::Post::retry(ErrorCode::no_memory);
  return stage;
}

Chunk* PieceTransfers::take_chunk(Transfer& t) noexcept {
  if (chunks_ == nullptr) chunks_.reset(new (std::nothrow) Chunk[kMostChunks]);
  if (chunks_ == nullptr) refused_ = core::Post::retry(ErrorCode::no_memory);
  if (chunks_ == nullptr || chunks_taken_ == UINT64_MAX) return nullptr;
  const int place = std::countr_one(chunks_taken_);
  Chunk& chunk = chunks_[static_cast<std::size_t>(place)];
  chunk.owner = &t;
  chunks_taken_ |= std::uint64_t{1} << place;
  t.chunks |= std::uint64_t{1} << place;
  return &chunk;
}

void PieceTransfers::give_back(Chunk& chunk) noexcept {
  const std::uint64_t bit = std::uint64_t{1} << (&chunk - chunks_.get());
  chunks_taken_ &= ~bit;
  chunk.owner->chunks &= ~bit;
  chunk.owner = nullptr;
}

void PieceTransfers::scatter(Chunk& chunk, core::Bytes data) noexcept {
  const Shape packed = dense(chunk.bytes);
  Cursor from(packed, chunk.bytes, reinterpret_cast<std::uintptr_t>(data.data()));
  copy_between(chunk.here, from, chunk.bytes);
}

}  // namespace aqueduct::vis
