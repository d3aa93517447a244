#include "vis/kernels.hpp"
#include "vis/piece_transfers.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace aqueduct::vis {
namespace {

/// A bounding box: the bytes [lowest, end) of the peer's segment.
struct Box {
  std::uint64_t lowest = 0;
  std::uint64_t end = 0;
  std::uint64_t bytes = 0;  ///< sum of the pieces in it
};

/// The box around the next pieces: as many pieces as fit into a box of `most` bytes. Advances the cursor past them.
Box next_box(Cursor& there, std::uint64_t most) noexcept {
  Box box;
  while (there.remaining() != 0) {
    const Piece piece = there.run();
    const auto at = static_cast<std::uint64_t>(piece.offset);
    std::uint64_t bytes = std::min<std::uint64_t>(piece.bytes, most);
    const std::uint64_t lowest = box.bytes == 0 ? at : std::min(box.lowest, at);
    const std::uint64_t end = box.bytes == 0 ? at + bytes : std::max(box.end, at + bytes);
    if (end - lowest > most) break;
    box.lowest = lowest;
    box.end = end;
    box.bytes += bytes;
    there.step(bytes);
    if (bytes != piece.bytes) break;
  }
  return box;
}

}  // namespace

// A box is fetched by a single operation of the network. So its get is begun as a whole, or refused as a whole.
std::uint64_t PieceTransfers::most_in_box(Rank peer) const noexcept {
  core::Conduit& conduit = state_.conduit(peer);
  if (conduit.rma() == nullptr) return staging_buffers_.bytes();
  return std::min<std::uint64_t>(staging_buffers_.bytes(), conduit.properties().max_transfer);
}

// Gets a whole bounding box into a buffer, then copies the pieces out of it. For gets only: a put of a whole box would
// overwrite what other ranks write between the pieces.
//
// A chunk and its buffer are held from the post of the get until this function finds it done, in a later step.
PieceTransfers::Step PieceTransfers::get_box(Transfer& t) noexcept {
  // The boxes that have arrived, in any order. Moving the cursor to the buffer makes its places addresses in it.
  for (std::uint64_t left = t.chunks; left != 0; left &= left - 1) {
    Chunk& chunk = chunks_[static_cast<std::size_t>(std::countr_zero(left))];
    if (chunk.op->done.load(std::memory_order_acquire) == 0) continue;
    const Status status = state_.ops.collect(*std::exchange(chunk.op, nullptr));
    if (status) {
      chunk.there.move(reinterpret_cast<std::uintptr_t>(chunk.stage->data()) - chunk.lowest);
      copy_between(chunk.here, chunk.there, chunk.bytes);
    } else {
      fail(t, status);
    }
    staging_buffers_.give_back(*chunk.stage);
    give_back(chunk);
  }
  // Then the next boxes, while there is a chunk, an operation and a buffer for each.
  while (t.there_at.remaining() != 0 && t.op->outcome.ok()) {
    Chunk* const chunk = std::popcount(t.chunks) < kChunksOfOne ? take_chunk(t) : nullptr;
    core::Op* const op = chunk != nullptr ? state_.ops.acquire(core::kGroup, t.peer, false) : nullptr;
    StagingBuffer* const stage = op != nullptr ? take_stage() : nullptr;
    const auto drop = [&] {
      if (op != nullptr) {
        state_.ops.part_ended(*op, {});
        static_cast<void>(state_.ops.collect(*op));
      }
      if (stage != nullptr) staging_buffers_.give_back(*stage);
      if (chunk != nullptr) give_back(*chunk);
    };
    if (stage == nullptr) {
      drop();
      return Step::again;
    }
    const Cursor there = t.there_at;
    const Box box = next_box(t.there_at, most_in_box(t.peer));
    const Status status = rma_.get(stage->data(), {t.peer, box.lowest, t.segment}, box.end - box.lowest,
                                   Completion::group, true, nullptr, {rma::WordPromise::whole, op})
                              .status;
    if (!status) {
      drop();
      t.there_at = there;
      if (status.code() == ErrorCode::refused) return Step::again;
      fail(t, status);
      break;
    }
    chunk->op = op;
    chunk->stage = stage;
    chunk->lowest = box.lowest;
    chunk->bytes = box.bytes;
    chunk->there = there;
    chunk->here = t.here_at;
    t.here_at.skip(box.bytes);
    state_.ops.part_ended(*op, {});
  }
  // Nothing calls back when a box arrives. So the transfer stays queued, and polls for its boxes, while one is in
  // flight.
  return t.chunks != 0 ? Step::again : Step::over;
}

}  // namespace aqueduct::vis
