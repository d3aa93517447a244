#include "conduits/ofi/completions.hpp"

#include "conduits/ofi/errors.hpp"
#include "conduits/ofi/wire.hpp"
#include "core/backoff.hpp"

#include <rdma/fi_errno.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

namespace aqueduct::conduits::ofi {
namespace {

/// Whether a completion's flags say that it ends an operation of this rank, not a receive buffer.
bool is_of_mine(std::uint64_t flags) noexcept {
  constexpr std::uint64_t kPosted = FI_SEND | FI_READ | FI_WRITE | FI_RMA | FI_ATOMIC;
  constexpr std::uint64_t kArriving = FI_RECV | FI_MULTI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE;
  return (flags & kPosted) != 0 && (flags & kArriving) == 0;
}

// Chosen: completions that one poll takes.
constexpr std::size_t kBatch = 16;
// Chosen: how long `drain` waits for outstanding operations.
constexpr std::chrono::milliseconds kLinger{500};

}  // namespace

bool Completions::read(core::Inbox& inbox, int& calls) noexcept {
  std::array<fi_cq_data_entry, kBatch> batch;
  const std::int64_t found = is_broken_ ? -FI_EAGAIN : ::fi_cq_read(cq_, batch.data(), batch.size());
  for (std::int64_t i = 0; i < found; ++i) calls += take(batch[static_cast<std::size_t>(i)], inbox);
  if (found < 0 && found != -FI_EAGAIN) [[unlikely]]
    calls += take_error(found, inbox);
  if (receive_.waits() && !is_broken_) [[unlikely]] {
    if (const int error = receive_.repost(); error != 0) give_up("room for what arrives", error);
  }
  return found == -FI_EAGAIN || is_broken_;
}

int Completions::take(const fi_cq_data_entry& entry, core::Inbox& inbox) noexcept {
  if (Request* const request = requests_.of(entry.op_context)) return ended(*request, {}, inbox);
  if ((entry.flags & FI_REMOTE_CQ_DATA) != 0) {
    const CqData what = decode(entry.data);
    if (what.from >= peers_.count()) {
      log_.error("ofi: rank {}: a signal of rank {}, which this job does not have, was dropped", me_,
                 what.from);
      return 0;
    }
    peers_[what.from].heard = true;
    inbox.signalled(what.from, what.signal);
    return 1;
  }
  const bool landed = receive_.owns(entry.op_context);
  const auto* bytes = static_cast<const std::byte*>(entry.buf);
  if (landed) bytes = receive_.place_of(entry.op_context, bytes);
  const int calls = entry.len != 0 && bytes != nullptr ? take_packet(bytes, entry.len, inbox) : 0;
  if (landed && receive_.ends(entry.flags)) refill(entry.op_context);
  return calls;
}

void Completions::refill(void* context) noexcept {
  if (const int error = receive_.filled(context); error != 0) give_up("room for what arrives", error);
}

int Completions::take_packet(const std::byte* bytes, std::size_t length, core::Inbox& inbox) noexcept {
  PacketHead head;
  if (length >= sizeof head) std::memcpy(&head, bytes, sizeof head);
  const std::size_t body = head.bytes & ~kIsSignal;
  if (length < sizeof head || body > length - sizeof head || body > max_packet_ ||
      head.from >= peers_.count()) {
    log_.error("ofi: rank {}: {} bytes that are no packet of this job were dropped (rank {}, {} bytes)", me_,
               length, head.from, head.bytes);
    return 0;
  }
  peers_[head.from].heard = true;
  const std::byte* start = bytes + sizeof head;
  if ((head.bytes & kIsSignal) != 0) {
    if (body == 0) {
      hints_.arrived();
      return 1;
    }
    Signal signal;
    if (body != sizeof signal) return 0;
    std::memcpy(&signal, start, sizeof signal);
    inbox.signalled(head.from, signal);
    return 1;
  }
  if (reinterpret_cast<std::uintptr_t>(start) % 8 != 0) [[unlikely]] {
    start = static_cast<std::byte*>(std::memcpy(aligned_.data(), start, body));
  }
  inbox.packet(head.from, {start, body});
  return 1;
}

int Completions::ended(Request& request, Status status, core::Inbox& inbox) noexcept {
  const bool gone = peers_[request.peer].gone;
  if (request.kind == Request::Kind::put_then_signal && status && !gone) {
    messages_.send_signal(request);
    return 0;
  }
  if (gone && (request.kind == Request::Kind::put_then_signal || !status))
    status = lost_.status_of(request.peer);
  return operations_.finish(request, status, inbox);
}

int Completions::take_error(std::int64_t found, core::Inbox& inbox) noexcept {
  fi_cq_err_entry entry{};
  if (found == -FI_EAVAIL) found = ::fi_cq_readerr(cq_, &entry, 0);
  if (found < 1) {
    if (found != 0 && found != -FI_EAGAIN && found != -FI_EINTR) give_up("the completion queue", found);
    return 0;
  }
  char room[128];
  const char* const text = ::fi_cq_strerror(cq_, entry.prov_errno, entry.err_data, room, sizeof room);
  const int error = std::abs(entry.err);  // shm's errors have either sign
  const ErrorCode why = error == ESRCH ? ErrorCode::peer_lost : code_of(error);
  Request* request = requests_.of(entry.op_context);
  if (entry.op_context == nullptr && provider_.quirks->completes_at_post) request = oldest_copy();
  if (request == nullptr) {
    // The error does not say which operation failed, so that one would never end.
    if (entry.op_context == nullptr && is_of_mine(entry.flags)) {
      give_up("the completion queue", error);
      return 0;
    }
    // The sender is a rank that ended while it sent, or a stranger. libfabric does not tell which.
    if (error != FI_ECANCELED) {
      log_.error(
          "ofi: rank {}: something that arrived is lost: {} ({}); if no rank ended, its sender waits for "
          "good",
          me_, provider_.library.text(entry.err), text);
    }
    if (receive_.owns(entry.op_context) && receive_.ends(entry.flags)) refill(entry.op_context);
    return 0;
  }
  const Rank peer = request->peer;
  // Without this the peer would wait for ever for a packet that was dropped.
  const bool is_packet = request->kind == Request::Kind::packet;
  if (why != ErrorCode::peer_lost && !request->reported) {
    log_.error("ofi: rank {}: {} rank {} failed: {} ({})", me_, is_packet ? "a packet to" : "an operation on",
               peer, provider_.library.text(entry.err), text);
  }
  if (why == ErrorCode::peer_lost || is_packet) lost_.suspect(peer, text);
  return ended(*request, {why, peer}, inbox);
}

// shm does not say which copy failed (mostly one from or to a dead peer's memory). It copies at the call, and completes
// in the order of the calls, so that all copies before the failed one have ended.
Request* Completions::oldest_copy() noexcept {
  Request* oldest = nullptr;
  requests_.for_each([&](Request& request) {
    const bool copies =
        request.in_use && request.kind != Request::Kind::packet && request.order != UINT64_MAX;
    if (copies && (oldest == nullptr || request.order < oldest->order)) oldest = &request;
  });
  return oldest;
}

// Nothing arrives or completes any more.
void Completions::give_up(std::string_view what, std::int64_t error) noexcept {
  is_broken_ = true;
  const char* const text = provider_.library.text(error);
  log_.error("ofi: rank {}: {} of {} fails: {}; all peers are taken for lost", me_, what, provider_.name(),
             text);
  lost_.suspect_all();
}

// Peers may wait for this rank's packets and puts, which must leave before the connections close. The results of its
// gets are not needed any more.
bool Completions::is_awaited(const Request& request) const noexcept {
  return request.in_use && !request.reported && request.kind != Request::Kind::fetch &&
         !peers_[request.peer].gone;
}

void Completions::drain() noexcept {
  lost_.mark_gone();
  const auto until = clock_.now() + kLinger;
  const auto any_awaited = [&] {
    bool any = false;
    requests_.for_each([&](const Request& request) { any = any || is_awaited(request); });
    return any;
  };
  core::Pacing pacing;
  pacing.yield_at_most = kLinger;
  core::Backoff backoff(pacing, clock_);  // the peers that it waits for may need this core
  while (!is_broken_ && any_awaited()) {
    if (clock_.now() >= until) return;
    if (messages_.has_unsent()) messages_.send_unsent();
    lost_.mark_gone();
    if (!drain_batch()) return;
    static_cast<void>(backoff.next());
  }
}

/// False: the queue has failed.
bool Completions::drain_batch() noexcept {
  std::array<fi_cq_data_entry, kBatch> batch;
  const auto found = ::fi_cq_read(cq_, batch.data(), batch.size());
  for (std::int64_t i = 0; i < found; ++i) {
    Request* const request = requests_.of(batch[static_cast<std::size_t>(i)].op_context);
    if (request == nullptr) continue;
    if (request->kind == Request::Kind::put_then_signal && is_awaited(*request)) {
      messages_.send_signal(*request);  // the put has arrived; its signal has not
    } else {
      requests_.release(*request);
    }
  }
  if (found >= 0 || found == -FI_EAGAIN) return true;
  fi_cq_err_entry error{};
  if (found != -FI_EAVAIL || ::fi_cq_readerr(cq_, &error, 0) < 1) return false;
  if (Request* const request = requests_.of(error.op_context)) requests_.release(*request);
  return true;
}

}  // namespace aqueduct::conduits::ofi
