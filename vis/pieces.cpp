#include "vis/accumulate.hpp"
#include "vis/piece_transfers.hpp"

#include <algorithm>
#include <cstring>

namespace aqueduct::vis {
namespace {

/// Chosen: operations in flight at once. Beyond some tens, more of them make no network faster.
constexpr std::uint32_t kMostPieces = 64;

/// A range that is contiguous on both sides.
struct Both {
  std::uint64_t there;
  std::byte* here;
  std::uint64_t bytes;
};

/// The next range that is contiguous on both sides, at most `most` bytes. Pieces that follow each other in memory are
/// merged. Advances both cursors past it.
Both next_run(Transfer& t, std::uint64_t most) noexcept {
  Both both{static_cast<std::uint64_t>(t.there_at.run().offset),
            reinterpret_cast<std::byte*>(t.here_at.run().offset), 0};
  while (t.there_at.remaining() != 0 && both.bytes < most) {
    const Piece there = t.there_at.run();
    const Piece here = t.here_at.run();
    if (static_cast<std::uint64_t>(there.offset) != both.there + both.bytes ||
        reinterpret_cast<std::byte*>(here.offset) != both.here + both.bytes)
      break;
    const std::uint64_t now =
        std::min({std::uint64_t{there.bytes}, std::uint64_t{here.bytes}, most - both.bytes});
    t.there_at.step(now);
    t.here_at.step(now);
    both.bytes += now;
  }
  return both;
}

}  // namespace

// One put or get for each run. They are members of a group, which is the transfer's own operation. The group ends with its
// last member.
PieceTransfers::Step PieceTransfers::pieces(Transfer& t) noexcept {
  const std::uint64_t most = state_.conduit(t.peer).rma() != nullptr
                                 ? state_.conduit(t.peer).properties().max_transfer
                                 : std::uint64_t{1} << 30;
  while (t.there_at.remaining() != 0) {
    if (!t.op->outcome.ok()) return Step::over;
    if (t.op->parts > kMostPieces) return Step::again;
    const Cursor there = t.there_at;
    const Cursor here = t.here_at;
    const Both run = next_run(t, most);
    const GlobalPtr<std::byte> at{t.peer, run.there, t.segment};
    const rma::PartOf mine{rma::WordPromise::any, t.op};
    const Begun begun = t.what == What::put
                            ? rma_.put(at, run.here, run.bytes, Completion::group,
                                       {SourceReuse::at_completion, nullptr, true}, nullptr, nullptr, mine)
                            : rma_.get(run.here, at, run.bytes, Completion::group, true, nullptr, mine);
    const Status status = begun.status;
    if (status.code() == ErrorCode::refused) {
      t.there_at = there;
      t.here_at = here;
      return Step::again;
    }
    if (!status) {
      fail(t, status);
      return Step::over;
    }
  }
  return Step::over;
}

// An accumulate where the network does the job's atomics of this type: one atomic for each element.
PieceTransfers::Step PieceTransfers::atomics(Transfer& t) noexcept {
  const std::size_t width = atomic_bytes(t.type);
  while (t.there_at.remaining() != 0) {
    if (!t.op->outcome.ok()) return Step::over;
    if (t.op->parts > kMostPieces) return Step::again;
    const GlobalPtr<std::byte> at{t.peer, static_cast<std::uint64_t>(t.there_at.run().offset), t.segment};
    aqueduct::detail::AtomicCall call{AtomicOp::add, t.type};
    std::memcpy(&call.operand, reinterpret_cast<const std::byte*>(t.here_at.run().offset), width);
    const Status status = rma_.atomic(at, call, Completion::group, {.immediate = true}, t.op).status;
    if (status.code() == ErrorCode::refused) return Step::again;
    if (!status) {
      fail(t, status);
      return Step::over;
    }
    t.there_at.step(width);
    t.here_at.step(width);
  }
  return Step::over;
}

}  // namespace aqueduct::vis
