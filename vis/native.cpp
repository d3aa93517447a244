#include "vis/piece_transfers.hpp"

#include <algorithm>
#include <array>

namespace aqueduct::vis {
namespace {

/// Chosen: pieces in one call, even if the conduit takes more. The lists are on the stack.
constexpr std::size_t kMostListed = 128;
/// Chosen: calls in flight at once.
constexpr std::uint32_t kMostCalls = 32;

}  // namespace

// Gives the conduit lists of pieces. Each call takes as many pieces as the limits allow on either side; pieces that
// follow each other in memory become one. Completions carry the token of the transfer's operation.
PieceTransfers::Step PieceTransfers::native(Transfer& t) noexcept {
  core::Conduit& conduit = state_.conduit(t.peer);
  core::NativeVector& vector = *conduit.vector();
  const std::size_t most_here = std::min(vector.most_local(), kMostListed);
  const std::size_t most_there = std::min(vector.most_remote(), kMostListed);
  const std::uint64_t most = conduit.properties().max_transfer;
  std::array<core::RemotePiece, kMostListed> there;
  std::array<core::MutableBytes, kMostListed> here;
  while (t.there_at.remaining() != 0) {
    if (!t.op->outcome.ok()) return Step::over;
    if (t.op->parts > kMostCalls) return Step::again;
    const Cursor there_before = t.there_at;
    const Cursor here_before = t.here_at;
    std::size_t n_there = 0;
    std::size_t n_here = 0;
    for (std::uint64_t sum = 0; t.there_at.remaining() != 0 && sum < most;) {
      const Piece far = t.there_at.run();
      const Piece own = t.here_at.run();
      const std::uint64_t bytes = std::min({std::uint64_t{far.bytes}, std::uint64_t{own.bytes}, most - sum});
      const auto offset = static_cast<std::uint64_t>(far.offset);
      auto* const place = reinterpret_cast<std::byte*>(own.offset);
      // Both lists must have room for the piece; otherwise it belongs to the next call.
      const bool grows_there = n_there != 0 && there[n_there - 1].offset + there[n_there - 1].bytes == offset;
      const bool grows_here = n_here != 0 && here[n_here - 1].data() + here[n_here - 1].size() == place;
      if ((!grows_there && n_there == most_there) || (!grows_here && n_here == most_here)) break;
      if (grows_there) {
        there[n_there - 1].bytes += bytes;
      } else {
        there[n_there++] = {offset, bytes};
      }
      if (grows_here) {
        here[n_here - 1] = {here[n_here - 1].data(), here[n_here - 1].size() + bytes};
      } else {
        here[n_here++] = {place, bytes};
      }
      t.there_at.step(bytes);
      t.here_at.step(bytes);
      sum += bytes;
    }
    core::Post post = core::Post::retry();
    const core::Token token = core::OpPool::token(*t.op);
    if (t.what == What::get) {
      post = vector.get_pieces(t.peer, t.key, std::span(there).first(n_there), std::span(here).first(n_here),
                               token);
    } else {
      std::array<core::Bytes, kMostListed> from;
      std::copy_n(here.begin(), n_here, from.begin());
      post = vector.put_pieces(t.peer, t.key, std::span(there).first(n_there), std::span(from).first(n_here),
                               token);
    }
    if (post.kind == core::Post::Kind::retry) {
      refused_ = post;
      t.there_at = there_before;
      t.here_at = here_before;
      return Step::again;
    }
    if (post.kind == core::Post::Kind::failed) {
      fail(t, {post.why, t.peer});
      return Step::over;
    }
    if (post.kind == core::Post::Kind::posted) ++t.op->parts;
  }
  return Step::over;
}

}  // namespace aqueduct::vis
