#pragma once

#include <aqueduct/global_ptr.hpp>
#include <aqueduct/rank.hpp>
#include <aqueduct/status.hpp>

#include "core/post.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace aqueduct::core {

/// Puts and gets that the network does itself, between any memory of this process and registered segments of peers.
///
/// The bytes that `register_segment` returns travel to the peers once. A peer gives them to its own `import_key` at the
/// first use of the segment, and names the segment by the handle from then on.
///
/// In every operation `key` is a handle for a segment of that `peer`, `offset` and length lie inside the peer's part,
/// and the length is 1 to max_transfer bytes: the layers above check this.
class NativeRma {
 public:
  virtual ~NativeRma() = default;
  /// Lets peers put to and get from `memory`, which is not empty. Returns the bytes that peers need.
  /// Called before `connect` for the segments that a job begins with, and after it for others.
  /// Errors: not_supported (the reference layer serves this segment), no_memory (the log names the limit to raise). Any
  ///         error but not_supported makes the creation of the segment fail.
  virtual Result<std::vector<std::byte>> register_segment(SegmentId id, MutableBytes memory) = 0;
  /// Ends the registration. Does nothing if `id` is not registered.
  virtual void unregister_segment(SegmentId id) noexcept = 0;
  /// Returns a handle for a peer's segment. `key` is what the peer's `register_segment` returned. Called once for each.
  /// Errors: not_supported (the reference layer serves this peer's part), peer_lost.
  virtual Result<std::uint64_t> import_key(Rank peer, Bytes key) = 0;
  /// Gives back a handle. The peer has unregistered the segment or will, and no operation that was posted here still
  /// uses the handle.
  virtual void forget_key(Rank /*peer*/, std::uint64_t /*key*/) noexcept {}

  /// Writes `from` to the peer's segment.
  ///
  /// Completion:  the bytes are in the target's memory; it is not enough that they have left.
  /// Lifetime:    `from` until completion; with `inject`, which is set
  ///              for at most max_inject bytes, only during the call.
  virtual Post put(Rank peer, std::uint64_t key, std::uint64_t offset, Bytes from, bool inject,
                   Token token) noexcept = 0;
  /// Reads from the peer's segment.
  ///
  /// Completion:  `to` holds the bytes.
  /// Lifetime:    `to` until completion.
  virtual Post get(Rank peer, std::uint64_t key, std::uint64_t offset, MutableBytes to,
                   Token token) noexcept = 0;
};

/// A range of a peer's segment.
struct RemotePiece {
  std::uint64_t offset = 0;
  std::size_t bytes = 0;
};

/// Puts and gets of several pieces in one operation of the network: lists of local pieces, of remote pieces, or both.
/// Transfers beyond the limits go in other ways, which the layers above choose: one operation a piece, or packets.
class NativeVector {
 public:
  virtual ~NativeVector() = default;
  /// The most local pieces in one call: at least 2.
  virtual std::size_t most_local() const noexcept = 0;
  /// The most remote pieces in one call: at least 1.
  virtual std::size_t most_remote() const noexcept = 0;
  /// Writes the bytes of the pieces `from`, in order, to the pieces `to`, in order.
  ///
  /// Requires:    both lists have the same number of bytes in all, at most max_transfer; no piece is empty.
  /// Completion:  as of NativeRma::put.
  /// Lifetime:    the lists only during the call; the memory that they name until completion.
  virtual Post put_pieces(Rank peer, std::uint64_t key, std::span<const RemotePiece> to,
                          std::span<const Bytes> from, Token token) noexcept = 0;
  /// Reads the pieces `from` into the pieces `to`: the reverse of put_pieces, with the same rules.
  virtual Post get_pieces(Rank peer, std::uint64_t key, std::span<const RemotePiece> from,
                          std::span<const MutableBytes> to, Token token) noexcept = 0;
};

}  // namespace aqueduct::core
