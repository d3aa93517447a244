#include "conduits/ofi/operations.hpp"

#include "conduits/ofi/errors.hpp"

#include <rdma/fi_errno.h>

#include <cstring>
#include <utility>

namespace aqueduct::conduits::ofi {

// A peer that completes nothing must leave room for the others, so it gets at most half of the requests.
Request* Operations::begin(Rank peer, Request::Kind kind, core::Token token) noexcept {
  Peer& to = peers_[peer];
  if (to.gone || to.in_flight >= requests_.available()) [[unlikely]]
    return nullptr;
  if (const int error = peers_.reach(peer); error != 0) [[unlikely]] {
    // Nothing can be sent to this peer, not even packets. Ranks that wait for it must learn of that, so it counts as
    // lost.
    if (!may_retry(error)) lost_.refused(peer, "to take its address", error);
    return nullptr;
  }
  if (kind != Request::Kind::packet) hints_.transfer_begins(peer);
  return requests_.acquire(peer, kind, token);
}

core::Post Operations::no_request(Rank peer) const noexcept {
  return peers_[peer].gone || lost_.is_suspected(peer) ? core::Post::failed(lost_.status_of(peer).code())
                                                       : core::Post::retry();
}

core::Post Operations::posted(Request& request, std::int64_t answer, const char* what) noexcept {
  if (answer == 0) [[likely]] {
    Peer& to = peers_[request.peer];
    ++to.in_flight;
    to.reached = true;
    to.refused_pings = 0;
    return core::Post::posted();
  }
  const Rank peer = request.peer;
  local_.give_back(request);
  request.result = nullptr;
  requests_.release(request);
  // A peer that waits for a packet would wait for ever if the packet were dropped: it is sent later, or the peer is
  // lost.
  const bool is_packet = request.kind == Request::Kind::packet;
  if (answer == -FI_EAGAIN) return core::Post::retry();
  if (is_packet && may_retry(answer)) return core::Post::retry(ErrorCode::no_memory);
  const ErrorCode why = is_packet ? ErrorCode::peer_lost : code_of(static_cast<int>(-answer));
  if (why == ErrorCode::peer_lost) {
    lost_.refused(peer, what, answer);
  } else {
    log_.error("ofi: rank {}: the provider refuses {} for rank {}: {}{}", me_, what, peer,
               provider_.library.text(answer),
               answer == -FI_EFAULT
                   ? ". The provider may need writable memory even for the source of a put: copy read-only "
                     "memory first"
                   : "");
  }
  return core::Post::failed(why);
}

int Operations::finish(Request& request, Status status, core::Inbox& inbox) noexcept {
  --peers_[request.peer].in_flight;
  local_.give_back(request);
  if (void* const result = std::exchange(request.result, nullptr);
      result != nullptr && status && !request.reported) {
    std::memcpy(result, request.slot, request.result_bytes);
  }
  const bool tell = request.kind != Request::Kind::packet && !request.reported;
  const core::Token token = request.token;
  requests_.release(request);
  if (!tell) return 0;
  inbox.completed(token, status);
  return 1;
}

}  // namespace aqueduct::conduits::ofi
