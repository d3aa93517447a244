#include "conduits/ofi/messages.hpp"

#include "conduits/ofi/errors.hpp"
#include "conduits/ofi/wire.hpp"

#include <cstring>
#include <utility>

namespace aqueduct::conduits::ofi {

core::Post Messages::send(Rank to, core::Bytes header, core::Bytes payload) noexcept {
  if (to == me_) return to_self_.packet(header, payload) ? core::Post::done() : core::Post::retry();
  Request* const request = operations_.begin(to, Request::Kind::packet, 0);
  if (request == nullptr) [[unlikely]]
    return operations_.no_request(to);
  const std::size_t bytes = header.size() + payload.size();
  const PacketHead head{me_, static_cast<std::uint32_t>(bytes)};
  std::byte* const slot = request->slot;
  std::memcpy(slot, &head, sizeof head);
  std::memcpy(slot + sizeof head, header.data(), header.size());
  if (!payload.empty()) std::memcpy(slot + sizeof head + header.size(), payload.data(), payload.size());
  const auto answer = ::fi_send(ep_, slot, padded(sizeof head + bytes), request->descriptor, peers_[to].at,
                                &request->context);
  const core::Post post = operations_.posted(*request, answer, "a packet");
  return post.kind == core::Post::Kind::posted ? core::Post::done() : post;
}

/// False: the provider does not take it now. If this conduit itself has no room, that says nothing of the peer.
bool Messages::send_head(Rank to, std::uint32_t bytes) noexcept {
  Request* const request = operations_.begin(to, Request::Kind::packet, 0);
  if (request == nullptr) return true;
  const PacketHead head{me_, bytes};
  const std::size_t body = bytes & ~kIsSignal;
  std::memcpy(request->slot, &head, sizeof head);
  std::memset(request->slot + sizeof head, 0, body);
  const auto answer = ::fi_send(ep_, request->slot, sizeof head + body, request->descriptor, peers_[to].at,
                                &request->context);
  return operations_.posted(*request, answer, "a packet").kind != core::Post::Kind::retry;
}

void Messages::send_signal(Request& request) noexcept {
  request.uses_caller_memory = false;
  request.order = UINT64_MAX;  // Completions::oldest_copy passes over it
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
  const auto answer = ::fi_sendmsg(ep_, &message, delivered_);
  if (answer == 0) {
    request.kind = Request::Kind::transfer;
    return;
  }
  if (!may_retry(answer)) lost_.refused(request.peer, "a signal", answer);
  request.next = unsent_;
  unsent_ = &request;
}

void Messages::send_unsent() noexcept {
  for (Request* request = std::exchange(unsent_, nullptr); request != nullptr;) {
    Request* const next = request->next;
    send_signal(*request);
    request = next;
  }
}

int Messages::end_unsent(core::Inbox& inbox) noexcept {
  Request* ending = nullptr;
  for (Request* request = std::exchange(unsent_, nullptr); request != nullptr;) {
    Request* const next = request->next;
    Request*& list = peers_[request->peer].gone ? ending : unsent_;
    request->next = list;
    list = request;
    request = next;
  }
  int calls = 0;
  while (ending != nullptr) {
    Request& request = *std::exchange(ending, ending->next);
    calls += operations_.finish(request, lost_.status_of(request.peer), inbox);
  }
  return calls;
}

}  // namespace aqueduct::conduits::ofi
