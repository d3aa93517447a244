#include "conduits/ofi/errors.hpp"
#include "conduits/ofi/ofi_conduit.hpp"
#include "conduits/ofi/wire.hpp"

#include <rdma/fi_errno.h>

#include <cstring>
#include <utility>

namespace aqueduct::conduits::ofi {
// What a peer does not end must leave room for the others: half of what was free.
Request* OfiConduit::begin(Rank peer, Request::Kind kind, core::Token token) noexcept {
  Peer& to = peers_[peer];
  if (to.gone || to.in_flight >= requests_.left()) [[unlikely]]
    return nullptr;
  if (const int error = peers_.reach(peer); error != 0) [[unlikely]] {
    // Nothing can be said to it, packets neither: those who wait for it must learn that.
    if (!comes_again(error)) lost_.refused(peer, "to take its address", error);
    return nullptr;
  }
  if (targets_must_look_ && kind != Request::Kind::packet && peer != me_ &&
      !std::exchange(to.kept_awake, true)) {
    kept_awake_.push_back(peer);
  }
  return requests_.acquire(peer, kind, token);
}

core::Post OfiConduit::no_request(Rank peer) noexcept {
  return peers_[peer].gone || lost_.is_suspected(peer) ? core::Post::failed(lost_.status_of(peer).code())
                                                       : core::Post::retry();
}

core::Post OfiConduit::posted(Request& request, std::int64_t answer, const char* what) noexcept {
  if (answer == 0) [[likely]] {
    ++peers_[request.peer].in_flight;
    return core::Post::posted();
  }
  const Rank peer = request.peer;
  local_.give_back(request);
  request.result = nullptr;
  requests_.release(request);
  // What waits for a packet would wait for ever if one were dropped: it is sent, later, or the peer is lost.
  const bool is_packet = request.kind == Request::Kind::packet;
  if (answer == -FI_EAGAIN || (is_packet && comes_again(answer))) return core::Post::retry();
  const ErrorCode why = is_packet ? ErrorCode::peer_lost : code_of(static_cast<int>(-answer));
  if (why == ErrorCode::peer_lost) {
    lost_.refused(peer, what, answer);
  } else {
    log_.error("ofi: rank {}: the provider refuses {} for rank {}: {}", me_, what, peer,
               provider_.library.text(answer));
  }
  return core::Post::failed(why);
}

core::Post OfiConduit::send(Rank to, core::Bytes header, core::Bytes payload, core::Token) noexcept {
  if (to == me_) return to_self_.packet(header, payload) ? core::Post::done() : core::Post::retry();
  Request* const request = begin(to, Request::Kind::packet, 0);
  if (request == nullptr) [[unlikely]]
    return no_request(to);
  const std::size_t bytes = header.size() + payload.size();
  const PacketHead head{me_, static_cast<std::uint32_t>(bytes)};
  std::byte* const slot = request->slot;
  std::memcpy(slot, &head, sizeof head);
  std::memcpy(slot + sizeof head, header.data(), header.size());
  if (!payload.empty()) std::memcpy(slot + sizeof head + header.size(), payload.data(), payload.size());
  const auto answer = ::fi_send(objects_.ep.get(), slot, padded(sizeof head + bytes), request->descriptor,
                                peers_[to].at, &request->context);
  const core::Post post = posted(*request, answer, "a packet");
  return post.kind == core::Post::Kind::posted ? core::Post::done() : post;
}

// The put has arrived: now the packet that says so, whose completion is that of both.
void OfiConduit::send_signal(Request& request) noexcept {
  request.lent = false;
  request.order = UINT64_MAX;  // no copy any more
  const PacketHead head{me_, kIsSignal | static_cast<std::uint32_t>(sizeof(Signal))};
  std::memcpy(request.slot, &head, sizeof head);
  std::memcpy(request.slot + sizeof head, &request.signal, sizeof request.signal);
  const iovec bytes{request.slot, sizeof head + sizeof request.signal};
  fi_msg message{};
  message.msg_iov = &bytes;
  message.desc = &request.descriptor;
  message.iov_count = 1;
  message.addr = peers_[request.peer].at;
  message.context = &request.context;
  const auto answer = ::fi_sendmsg(objects_.ep.get(), &message, delivered_);
  if (answer == 0) {
    request.kind = Request::Kind::transfer;
    return;
  }
  if (!comes_again(answer)) lost_.refused(request.peer, "a signal", answer);
  request.next = unsent_;
  unsent_ = &request;
}

void OfiConduit::send_unsent() noexcept {
  for (Request* request = std::exchange(unsent_, nullptr); request != nullptr;) {
    Request* const next = request->next;
    send_signal(*request);
    request = next;
  }
}

}  // namespace aqueduct::conduits::ofi
