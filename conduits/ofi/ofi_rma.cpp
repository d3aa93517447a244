#include "conduits/ofi/ofi_rma.hpp"

#include <aqueduct/copy_bytes.hpp>

#include "conduits/ofi/wire.hpp"

#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace aqueduct::conduits::ofi {

Result<std::vector<std::byte>> Rma::register_segment(SegmentId id, core::MutableBytes memory) {
  return registrations_.add_segment(id, memory);
}

void Rma::unregister_segment(SegmentId id) noexcept {
  local_.invalidate(registrations_.segment(id));
  registrations_.remove_segment(id);
}

Result<std::uint64_t> Rma::import_key(Rank peer, core::Bytes key) { return registrations_.import(peer, key); }

// Where the provider wants local buffers registered: a small source is copied to the request's slot, a buffer inside a segment
// is registered already, and any other is registered while the transfer lasts.
core::Post Rma::write(Request& request, std::uint64_t key, std::uint64_t offset, core::Bytes from,
                      bool inject, std::uint64_t data, std::uint64_t flags) noexcept {
  iovec local{const_cast<std::byte*>(from.data()), from.size()};
  void* descriptor = nullptr;
  std::int64_t answer = 0;
  if (inject || (local_.needed() && from.size() <= slot_bytes_)) {
    if (!from.empty()) std::memcpy(request.slot, from.data(), from.size());
    local.iov_base = request.slot;
    descriptor = request.descriptor;
  } else if (local_.needed() && !local_.lend(request, from, core::LocalUse::read, descriptor, answer)) {
    return operations_.posted(request, answer, "to register a local buffer");
  }
  request.uses_caller_memory = local.iov_base != request.slot && !provider_.quirks->completes_at_post;
  const RemoteKey& remote = registrations_.remote(key);
  const fi_rma_iov there{remote.base + offset, from.size(), remote.key};
  fi_msg_rma message{};
  message.msg_iov = &local;
  message.desc = &descriptor;
  message.iov_count = 1;
  message.addr = peers_[request.peer].at;
  message.rma_iov = &there;
  message.rma_iov_count = 1;
  message.context = &request.context;
  message.data = data;
  // `delivered_`: the put completes when its bytes are in the target's memory, not when they have left.
  answer = ::fi_writemsg(ep_, &message, flags | delivered_);
  return operations_.posted(request, answer, "a put");
}

core::Post Rma::put_to_self(std::uint64_t key, std::uint64_t offset, core::Bytes from) noexcept {
  const core::MutableBytes to = registrations_.segment(registrations_.remote(key).id);
  if (offset > to.size() || from.size() > to.size() - offset)
    return core::Post::failed(ErrorCode::out_of_range);
  detail::move_bytes(to.data() + offset, from.data(), from.size());
  return core::Post::done();
}

core::Post Rma::put(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool inject,
                    core::Token token) noexcept {
  if (from.empty()) return core::Post::done();  // not every provider completes an empty put
  if (peer == me_) return put_to_self(key, offset, from);
  Request* const request = operations_.begin(peer, Request::Kind::transfer, token);
  if (request == nullptr) [[unlikely]]
    return operations_.no_request(peer);
  return write(*request, key, offset, from, inject, 0, 0);
}

core::Post Rma::put_signal(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from,
                           Signal signal, core::Token token) noexcept {
  if (peer == me_) {
    if (!to_self_.has_room_for_signal())
      return core::Post::retry();  // checked before the copy: `retry` means that nothing happened
    const core::Post post = from.empty() ? core::Post::done() : put_to_self(key, offset, from);
    if (post.kind == core::Post::Kind::done) static_cast<void>(to_self_.signal(signal));
    return post;
  }
  const auto data = provider_.signals ? encode({me_, signal}) : std::nullopt;
  Request* const request =
      operations_.begin(peer, data ? Request::Kind::transfer : Request::Kind::put_then_signal, token);
  if (request == nullptr) [[unlikely]]
    return operations_.no_request(peer);
  if (data && !from.empty()) return write(*request, key, offset, from, false, *data, FI_REMOTE_CQ_DATA);
  request->signal = signal;
  if (!from.empty()) return write(*request, key, offset, from, false, 0, 0);
  const core::Post post = operations_.posted(*request, 0, "a signal");
  messages_.send_signal(*request);
  return post;
}

core::Post Rma::get(Rank peer, std::uint64_t key, std::uint64_t offset, core::MutableBytes to,
                    core::Token token) noexcept {
  if (to.empty()) return core::Post::done();
  const RemoteKey& remote = registrations_.remote(key);
  if (peer == me_) {
    const core::MutableBytes from = registrations_.segment(remote.id);
    if (offset > from.size() || to.size() > from.size() - offset)
      return core::Post::failed(ErrorCode::out_of_range);
    detail::move_bytes(to.data(), from.data() + offset, to.size());
    return core::Post::done();
  }
  Request* const request = operations_.begin(peer, Request::Kind::fetch, token);
  if (request == nullptr) [[unlikely]]
    return operations_.no_request(peer);
  std::byte* place = to.data();
  void* descriptor = nullptr;
  std::int64_t answer = 0;
  if (local_.needed() && to.size() <= slot_bytes_) {
    place = request->slot;
    descriptor = request->descriptor;
    request->result = to.data();
    request->result_bytes = static_cast<std::uint32_t>(to.size());
  } else if (local_.needed() && !local_.lend(*request, to, core::LocalUse::write, descriptor, answer)) {
    return operations_.posted(*request, answer, "to register a local buffer");
  }
  request->uses_caller_memory = place != request->slot && !provider_.quirks->completes_at_post;
  answer = ::fi_read(ep_, place, to.size(), descriptor, peers_[peer].at, remote.base + offset, remote.key,
                     &request->context);
  return operations_.posted(*request, answer, "a get");
}

}  // namespace aqueduct::conduits::ofi
