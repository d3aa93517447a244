#include "conduits/ofi/errors.hpp"
#include "conduits/ofi/ofi_conduit.hpp"
#include "conduits/ofi/wire.hpp"

#include <rdma/fi_errno.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace aqueduct::conduits::ofi {
namespace {

/// Whether a completion's flags say that it ends what this rank posted, other than room for what arrives.
bool is_of_mine(std::uint64_t flags) noexcept {
  constexpr std::uint64_t kPosted = FI_SEND | FI_READ | FI_WRITE | FI_RMA | FI_ATOMIC;
  constexpr std::uint64_t kArriving = FI_RECV | FI_MULTI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE;
  return (flags & kPosted) != 0 && (flags & kArriving) == 0;
}

// Chosen: so many completions, then the caller has its turn.
constexpr std::size_t kBatch = 16;

}  // namespace

int OfiConduit::poll(core::Inbox& inbox) noexcept {
  int calls = to_self_.empty() ? 0 : to_self_.deliver(me_, inbox);
  std::array<fi_cq_data_entry, kBatch> batch;
  const std::int64_t found =
      queue_is_broken_ ? -FI_EAGAIN : ::fi_cq_read(objects_.cq.get(), batch.data(), batch.size());
  for (std::int64_t i = 0; i < found; ++i) calls += take(batch[static_cast<std::size_t>(i)], inbox);
  if (found < 0 && found != -FI_EAGAIN) [[unlikely]]
    calls += take_error(found, inbox);
  if (receive_.waits() && !queue_is_broken_) [[unlikely]] {
    if (const int error = receive_.repost(); error != 0) give_up("room for what arrives", error);
  }
  if (messages_.has_unsent()) [[unlikely]]
    messages_.send_unsent();
  if (hints_.counts_poll()) [[unlikely]]
    calls += hints_.round(messages_);
  // What a lost peer had sent before is taken first.
  if (found < std::int64_t{kBatch} && lost_.has_news()) [[unlikely]]
    calls += lose(inbox);
  if (lost_.is_due()) [[unlikely]]
    calls += lost_.end_requests(inbox);
  return calls;
}

int OfiConduit::take(const fi_cq_data_entry& entry, core::Inbox& inbox) noexcept {
  if (Request* const request = requests_.of(entry.op_context)) return ended(*request, {}, inbox);
  if ((entry.flags & FI_REMOTE_CQ_DATA) != 0) {
    const Announcement what = decode(entry.data);
    if (what.from >= peers_.count()) {
      log_.error("ofi: rank {}: a signal of rank {}, which this job does not have, was dropped", me_,
                 what.from);
      return 0;
    }
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

void OfiConduit::refill(void* context) noexcept {
  if (const int error = receive_.filled(context); error != 0) give_up("room for what arrives", error);
}

int OfiConduit::take_packet(const std::byte* bytes, std::size_t length, core::Inbox& inbox) noexcept {
  PacketHead head;
  if (length >= sizeof head) std::memcpy(&head, bytes, sizeof head);
  const std::size_t body = head.bytes & ~kIsSignal;
  if (length < sizeof head || body > length - sizeof head || body > properties_.max_packet ||
      head.from >= peers_.count()) {
    log_.error("ofi: rank {}: {} bytes that are no packet of this job were dropped (rank {}, {} bytes)", me_,
               length, head.from, head.bytes);
    return 0;
  }
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

int OfiConduit::ended(Request& request, Status status, core::Inbox& inbox) noexcept {
  const bool gone = peers_[request.peer].gone;
  if (request.kind == Request::Kind::announced && status && !gone) {
    messages_.send_signal(request);
    return 0;
  }
  if (gone && (request.kind == Request::Kind::announced || !status)) status = lost_.status_of(request.peer);
  return operations_.finish(request, status, inbox);
}

int OfiConduit::take_error(std::int64_t found, core::Inbox& inbox) noexcept {
  fi_cq_err_entry entry{};
  if (found == -FI_EAVAIL) found = ::fi_cq_readerr(objects_.cq.get(), &entry, 0);
  if (found < 1) {
    if (found != 0 && found != -FI_EAGAIN && found != -FI_EINTR) give_up("the completion queue", found);
    return 0;
  }
  char room[128];
  const char* const text =
      ::fi_cq_strerror(objects_.cq.get(), entry.prov_errno, entry.err_data, room, sizeof room);
  const int error = std::abs(entry.err);  // shm's are of either sign
  const ErrorCode why = error == ESRCH ? ErrorCode::peer_lost : code_of(error);
  Request* request = requests_.of(entry.op_context);
  if (entry.op_context == nullptr && provider_.known->copies_at_once) request = oldest_copy();
  if (request == nullptr) {
    // Whose it was is not said: one of those that wait would wait for ever.
    if (entry.op_context == nullptr && is_of_mine(entry.flags)) {
      give_up("the completion queue", error);
      return 0;
    }
    // Of a rank that ended as it sent, or of a stranger: it is not said of whom.
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
  const bool is_packet = request->kind == Request::Kind::packet;  // what waits for it would do so for ever
  if (why != ErrorCode::peer_lost && !request->told) {
    log_.error("ofi: rank {}: {} rank {} failed: {} ({})", me_, is_packet ? "a packet to" : "an operation on",
               peer, provider_.library.text(entry.err), text);
  }
  if (why == ErrorCode::peer_lost || is_packet) lost_.suspect(peer, text);
  return ended(*request, {why, peer}, inbox);
}

// shm does not say which copy failed (of a dead peer's memory, above all). It does them in order, at the call, and tells
// their ends in that order: what came before has ended.
Request* OfiConduit::oldest_copy() noexcept {
  Request* oldest = nullptr;
  requests_.for_each([&](Request& request) {
    const bool copies =
        request.in_use && request.kind != Request::Kind::packet && request.order != UINT64_MAX;
    if (copies && (oldest == nullptr || request.order < oldest->order)) oldest = &request;
  });
  return oldest;
}

// Nothing arrives or ends any more.
void OfiConduit::give_up(std::string_view what, std::int64_t error) noexcept {
  queue_is_broken_ = true;
  const char* const text = provider_.library.text(error);
  log_.error("ofi: rank {}: {} of {} fails: {}; all peers are taken for lost", me_, what, provider_.name(),
             text);
  lost_.suspect_all(text);
}

// Ends what was posted to lost peers.
int OfiConduit::lose(core::Inbox& inbox) noexcept {
  const std::size_t suspects = lost_.mark_gone();
  const int calls = messages_.end_unsent(inbox) + lost_.end_requests(inbox);
  return calls + lost_.report(suspects, inbox);
}

}  // namespace aqueduct::conduits::ofi
