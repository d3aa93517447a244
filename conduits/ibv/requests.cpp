#include "conduits/ibv/requests.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace aqueduct::conduits::ibv {
namespace {

// Chosen: one request in this many is signaled; its completion ends the unsignaled ones before it.
constexpr std::uint32_t kSignalEvery = 31;

constexpr const char* kNoRoom = "the device has no room for what is owed to it";

}  // namespace

void Requests::set_inline_bytes(std::uint32_t bytes) noexcept {
  inline_bytes_ = std::min<std::uint32_t>(bytes, Burst::kMostBytes);
  if (env_.sizes().confirms) burst_bytes_ = inline_bytes_;
}

void Requests::undo(Link& link) noexcept {
  link.outstanding.undo();
  OutstandingRequest& entry = link.outstanding[link.outstanding.next()];
  buffers_.give_back(entry);
  entry.reads = false;
  ++unused_;
}

// If free places are few, every request is signaled: unsignaled ones could hold theirs for ever.
void Requests::name(Link& link, ibv_send_wr& request, bool signaled) noexcept {
  request.wr_id = WorkId::request(link.peer, link.outstanding.next() - 1);
  if (signaled || ++link.unsignaled >= std::min(kSignalEvery, env_.sizes().depth / 4) ||
      unused_ < env_.sizes().queue / 2) {
    request.send_flags |= IBV_SEND_SIGNALED;
    link.unsignaled = 0;
  }
}

// The device did not take the whole list. If only the newest request lacked room, the caller may retry; otherwise the
// peer is lost.
void Requests::refused(Link& link, int error, const ibv_send_wr* bad) noexcept {
  const bool only_newest = bad != nullptr && WorkId::number(bad->wr_id) == link.outstanding.next() - 1;
  if (error == ENOMEM && only_newest) return;
  env_.log.error("ibv: rank {}: {} does not take work for rank {}: {}", env_.me, env_.port.device, link.peer,
                 std::strerror(error));
  losses_.suspect(link.peer, std::strerror(error));
}

core::Post Requests::take_back(Link& link) noexcept {
  const bool lost = losses_.is_suspected(link.peer);
  undo(link);
  return lost ? core::Post::failed(losses_.status_of(link.peer).code()) : core::Post::retry();
}

core::Post Requests::launch(Link& link, ibv_send_wr& request, bool signaled) noexcept {
  if (must_confirm(link)) [[unlikely]]
    return launch_confirmed(link, request);
  const std::uint32_t unsignaled = link.unsignaled;
  const bool leads = burst_.link() == &link && !burst_.empty();
  name(link, request, signaled || leads);  // a burst before it is unsignaled
  ibv_send_wr* const first = leads ? burst_.take(&request) : &request;
  if (hand_over(link, first)) [[likely]]
    return core::Post::posted();
  link.unsignaled = unsignaled;
  return take_back(link);
}

core::Post Requests::launch_list(Link& link, ibv_send_wr& first, ibv_send_wr& newest) noexcept {
  Work read;
  if (must_confirm(link)) {
    add_confirmation(link, read);
    newest.next = &read.request;
  } else {
    newest.send_flags |= IBV_SEND_SIGNALED;
    link.unsignaled = 0;
  }
  if (burst_.link() == &link && !burst_.empty()) ring();
  return hand_over_promised(link, first);
}

// Requests that the device did not take end with the loss of the peer.
core::Post Requests::hand_over_promised(Link& link, ibv_send_wr& first) noexcept {
  if (!hand_over(link, &first)) losses_.suspect(link.peer, kNoRoom);
  return core::Post::posted();
}

void Requests::ring() noexcept {
  Link& link = *burst_.link();
  burst_.last().send_flags |= IBV_SEND_SIGNALED;
  link.unsignaled = 0;
  ibv_send_wr* const first = burst_.take(nullptr);
  // These puts were answered with `posted`. If the device lacks room for them, although it was counted, the peer is
  // lost.
  if (!hand_over(link, first)) losses_.suspect(link.peer, kNoRoom);
}

// A write of one number, or an empty one.
bool Requests::post_own(Link& link, std::uint64_t at, std::uint32_t key, std::uint64_t value,
                        bool has_value) noexcept {
  OutstandingRequest* const entry = begin(link, OutstandingRequest::Kind::own, 0);
  if (entry == nullptr) return false;
  ibv_send_wr request{};
  ibv_sge piece{reinterpret_cast<std::uint64_t>(&value), sizeof value, 0};
  request.opcode = IBV_WR_RDMA_WRITE;
  request.wr.rdma = {at, key};
  if (has_value) {
    request.sg_list = &piece;
    request.num_sge = 1;
    if (inline_bytes_ >= sizeof value) {
      request.send_flags = IBV_SEND_INLINE;
    } else {
      entry->bounce_buffer = buffers_.bounce_buffers().take();
      if (entry->bounce_buffer == nullptr) {
        undo(link);
        return false;
      }
      std::memcpy(entry->bounce_buffer, &value, sizeof value);
      piece = {reinterpret_cast<std::uint64_t>(entry->bounce_buffer), sizeof value,
               buffers_.bounce_buffers().key()};
    }
  }
  return launch(link, request, !has_value || entry->bounce_buffer != nullptr).kind ==
         core::Post::Kind::posted;
}

bool Requests::probe(Link& link, OutstandingRequest::Kind kind) noexcept {
  if (env_.sizes().confirms) return post_own(link, 0, 0, 0, false);
  OutstandingRequest* const entry = begin(link, OutstandingRequest::Kind::own, 0);
  if (entry == nullptr) return false;
  entry->kind = kind;
  entry->reads = !env_.sizes().in_order;
  Work read;
  fill_read_back(link, read);
  return launch(link, read.request, true).kind == core::Post::Kind::posted;
}

// -------------------------------------------------------------------------------------------------- confirmations

// On iWARP a write completes when its bytes have left, not when they have arrived. So each put is followed by a small
// read from the peer's memory. The peer's device works in order, so the read completes after the bytes have arrived,
// and then the put is over.

// Reads the counter into which this rank writes credit returns. The value is not used.
void Requests::fill_read_back(const Link& link, Work& read) const noexcept {
  read.piece = counters_.read_to(link.peer);
  read.request.sg_list = &read.piece;
  read.request.num_sge = 1;
  read.request.opcode = IBV_WR_RDMA_READ;
  read.request.wr.rdma = {link.counter, link.counter_key};
}

// The newest request of the link is a put. The read that will be posted behind it takes over its token. There is room,
// because `begin` keeps places in reserve.
void Requests::add_confirmation(Link& link, Work& read) noexcept {
  OutstandingRequest& put = link.outstanding[link.outstanding.next() - 1];
  put.kind = OutstandingRequest::Kind::part;
  --unused_;
  OutstandingRequest& confirmation = link.outstanding.begin(OutstandingRequest::Kind::put, put.token);
  confirmation.offset = put.offset;
  confirmation.key = put.key;
  confirmation.bytes = put.bytes;
  confirmation.reads = !env_.sizes().in_order;
  fill_read_back(link, read);
  name(link, read.request, true);
}

core::Post Requests::launch_confirmed(Link& link, ibv_send_wr& request) noexcept {
  Work read;
  name(link, request, false);
  add_confirmation(link, read);
  request.next = &read.request;
  return hand_over_promised(link, request);
}

}  // namespace aqueduct::conduits::ibv
