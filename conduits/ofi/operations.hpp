#pragma once

#include "conduits/ofi/local_buffers.hpp"
#include "conduits/ofi/lost_peers.hpp"
#include "conduits/ofi/peers.hpp"
#include "conduits/ofi/poll_hints.hpp"
#include "conduits/ofi/provider.hpp"
#include "conduits/ofi/requests.hpp"
#include "core/conduit.hpp"
#include "core/log.hpp"

#include <cstdint>

namespace aqueduct::conduits::ofi {

/// The outstanding operations: each has a request from its post to its completion, and counts against its peer.
class Operations {
 public:
  Operations(Requests& requests, Peers& peers, LostPeers& lost, PollHints& hints, LocalBuffers& local,
             const Provider& provider, Rank me, core::Log& log)
      : requests_(requests),
        peers_(peers),
        lost_(lost),
        hints_(hints),
        local_(local),
        provider_(provider),
        me_(me),
        log_(log) {}

  /// A request for a post to a peer. Null: `no_request` is the answer to the layers above.
  Request* begin(Rank peer, Request::Kind kind, core::Token token) noexcept;
  core::Post no_request(Rank peer) const noexcept;
  /// Takes libfabric's answer to the post of `what`. A refused request is freed.
  core::Post posted(Request& request, std::int64_t answer, const char* what) noexcept;
  /// Called when the provider no longer uses a request: frees it, and tells the layers above if they wait for it.
  /// Returns the number of calls of the inbox.
  int finish(Request& request, Status status, core::Inbox& inbox) noexcept;

 private:
  Requests& requests_;
  Peers& peers_;
  LostPeers& lost_;
  PollHints& hints_;
  LocalBuffers& local_;
  const Provider& provider_;
  Rank me_;
  core::Log& log_;
};

}  // namespace aqueduct::conduits::ofi
