#pragma once

#include <aqueduct/rank.hpp>
#include <aqueduct/signal_types.hpp>
#include <aqueduct/status.hpp>

#include "core/post.hpp"

#include <cstddef>
#include <cstring>

namespace aqueduct::core {

/// Receives what a conduit finds. The conduit calls it inside
/// `poll` and `check_peers` only, on the thread that called these.
///
/// Before a call returns, it may run handlers of active messages. These call other functions of the same conduit, above
/// all `send`, but neither `poll` nor `check_peers`.
class Inbox {
 public:
  /// A packet has arrived. `packet` is the header, directly followed by the payload;
  /// it begins at a multiple of 8 bytes and need not stay valid after the call. The
  /// inbox takes every packet: credits bound how many a peer may have in flight.
  virtual void packet(Rank from, Bytes packet) noexcept = 0;
  /// A packet has arrived whose header and payload lie apart. The payload begins at a multiple of 64 bytes, and the 64 bytes
  /// before it belong to the packet too: the default copies the header there, so that the two lie together. For a conduit
  /// whose headers come by a faster way than its payloads.
  virtual void packet_in_parts(Rank from, Bytes header, MutableBytes payload) noexcept {
    std::byte* const start = payload.data() - header.size();
    std::memcpy(start, header.data(), header.size());
    packet(from, {start, header.size() + payload.size()});
  }
  /// The post with `token` has completed: its buffers may be reused. Called once for each answer `posted`, in any
  /// order. `status` is ok, or says why the operation failed; then nothing is promised about the target's memory.
  virtual void completed(Token token, Status status) noexcept = 0;
  /// The source of a put with a native signal, whose answer was `posted`, may be written again; `completed` follows. A
  /// conduit need not tell: the completion frees the source too.
  virtual void source_free(Token /*token*/) noexcept {}
  /// A peer's put with a native signal has arrived: its bytes are in place.
  virtual void signalled(Rank from, Signal signal) noexcept = 0;
  /// A peer has died or left. Called at most once for each peer, after the delivery of all that the peer sent before.
  /// Every operation that was posted to it still completes, before or after this call.
  /// The inbox may call `forget` for that peer before it returns.
  virtual void lost(Rank peer) noexcept = 0;

 protected:
  ~Inbox() = default;
};

}  // namespace aqueduct::core
