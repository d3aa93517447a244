#include "vis/engine.hpp"
#include "vis/kernels.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace aqueduct::vis {
namespace {

struct Box {
  std::uint64_t lowest = 0;
  std::uint64_t end = 0;
  std::uint64_t bytes = 0;  ///< of the pieces in it
};

/// The pieces that come next, as many as lie within `most` bytes; the cursor goes on behind them.
Box next_box(Cursor& there, std::uint64_t most) noexcept {
  Box box;
  while (there.left() != 0) {
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

// One operation of the network: so that it is begun whole, or not at all.
std::uint64_t Engine::most_in_box(Rank peer) const noexcept {
  core::Conduit& conduit = state_.conduit(peer);
  if (conduit.rma() == nullptr) return stages_.bytes();
  return std::min<std::uint64_t>(stages_.bytes(), conduit.properties().max_transfer);
}

// Gets all that lies between pieces that are near one another, and keeps the pieces. Only of gets: to write what lies
// between would undo what others write there.
Engine::Step Engine::get_box(Transfer& t) noexcept {
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
    stages_.give_back(*chunk.stage);
    give_back(chunk);
  }
  while (t.there_at.left() != 0 && t.op->outcome.ok()) {
    Chunk* const chunk = std::popcount(t.chunks) < kChunksOfOne ? take_chunk(t) : nullptr;
    core::Op* const op =
        chunk != nullptr ? state_.ops.acquire(core::kGroup, t.peer, false) : nullptr;
    Stage* const stage = op != nullptr ? stages_.take() : nullptr;
    const auto drop = [&] {
      if (op != nullptr) {
        state_.ops.part_ended(*op, {});
        static_cast<void>(state_.ops.collect(*op));
      }
      if (stage != nullptr) stages_.give_back(*stage);
      if (chunk != nullptr) give_back(*chunk);
    };
    if (stage == nullptr) {
      drop();
      return Step::again;
    }
    const Cursor there = t.there_at;
    const Box box = next_box(t.there_at, most_in_box(t.peer));
    core::Op* const region = std::exchange(state_.region, op);
    const Status status =
        rma_.get(stage->data(), {t.peer, box.lowest, t.segment}, box.end - box.lowest, Ending::group, true)
            .status;
    state_.region = region;
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
  // Nothing calls back when a box has come: it is looked for as long as there is one.
  return t.chunks != 0 ? Step::again : Step::over;
}

}  // namespace aqueduct::vis
