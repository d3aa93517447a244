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
  inline_bytes_ = std::min<std::uint32_t>({bytes, inline_bytes_, Burst::kMostBytes});
  if (env_.sizes().confirms) burst_bytes_ = inline_bytes_;
}

void Requests::undo(Connection& connection) noexcept {
  connection.outstanding.undo();
  OutstandingRequest& entry = connection.outstanding[connection.outstanding.next()];
  buffers_.give_back(entry);
  entry.reads = false;
  ++unused_;
}

// If free places are few, every request is signaled: unsignaled ones could hold theirs for ever.
void Requests::name(Connection& connection, ibv_send_wr& request, bool signaled) noexcept {
  request.wr_id = WorkId::request(connection.peer, connection.outstanding.next() - 1);
  if (signaled || ++connection.unsignaled >= std::min(kSignalEvery, env_.sizes().depth / 4) ||
      unused_ < env_.sizes().queue / 2) {
    request.send_flags |= IBV_SEND_SIGNALED;
    connection.unsignaled = 0;
  }
}

// The device did not take the whole list. If only the newest request lacked room, the caller may retry; otherwise the
// peer is lost.
void Requests::refused(Connection& connection, int error, const ibv_send_wr* bad) noexcept {
  const bool only_newest = bad != nullptr && WorkId::number(bad->wr_id) == connection.outstanding.next() - 1;
  if (error == ENOMEM && only_newest) return;
  env_.log.error("ibv: rank {}: {} does not take work for rank {}: {}", env_.me, env_.port.device,
                 connection.peer, std::strerror(error));
  losses_.suspect(connection.peer, std::strerror(error));
}

core::Post Requests::take_back(Connection& connection) noexcept {
  const bool lost = losses_.is_suspected(connection.peer);
  undo(connection);
  return lost ? core::Post::failed(losses_.status_of(connection.peer).code()) : core::Post::retry();
}

core::Post Requests::launch(Connection& connection, ibv_send_wr& request, bool signaled) noexcept {
  if (must_confirm(connection)) [[unlikely]]
    return launch_confirmed(connection, request);
  const std::uint32_t unsignaled = connection.unsignaled;
  const bool leads = burst_.connection() == &connection && !burst_.empty();
  name(connection, request, signaled || leads);  // a burst before it is unsignaled
  ibv_send_wr* const first = leads ? burst_.take(&request) : &request;
  if (hand_over(connection, first)) [[likely]]
    return core::Post::posted();
  // A burst that was taken without this request has no completion: a later one, or a probe, must end it.
  connection.unsignaled = unsignaled + (leads ? 1 : 0);
  return take_back(connection);
}

core::Post Requests::launch_list(Connection& connection, ibv_send_wr& first, ibv_send_wr& newest) noexcept {
  Work read;
  if (must_confirm(connection)) {
    add_confirmation(connection, read);
    newest.next = &read.request;
  } else {
    newest.send_flags |= IBV_SEND_SIGNALED;
    connection.unsignaled = 0;
  }
  if (burst_.connection() == &connection && !burst_.empty()) ring();
  return hand_over_promised(connection, first);
}

// Requests that the device did not take end with the loss of the peer.
core::Post Requests::hand_over_promised(Connection& connection, ibv_send_wr& first) noexcept {
  if (!hand_over(connection, &first)) losses_.suspect(connection.peer, kNoRoom);
  return core::Post::posted();
}

void Requests::ring() noexcept {
  Connection& connection = *burst_.connection();
  burst_.last().send_flags |= IBV_SEND_SIGNALED;
  connection.unsignaled = 0;
  ibv_send_wr* const first = burst_.take(nullptr);
  // These puts were answered with `posted`. If the device lacks room for them, although it was counted, the peer is
  // lost.
  if (!hand_over(connection, first)) losses_.suspect(connection.peer, kNoRoom);
}

// They are the connection's newest requests, since whatever is posted to it takes the burst along.
void Requests::drop_held() noexcept {
  for (std::size_t i = 0; i < burst_.count(); ++i) undo(*burst_.connection());
  static_cast<void>(burst_.take(nullptr));
}

// A write of one number, or an empty one.
bool Requests::post_own(Connection& connection, std::uint64_t at, std::uint32_t key, std::uint64_t value,
                        bool has_value) noexcept {
  OutstandingRequest* const entry = begin(connection, OutstandingRequest::Kind::own, 0);
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
        undo(connection);
        return false;
      }
      std::memcpy(entry->bounce_buffer, &value, sizeof value);
      piece = {reinterpret_cast<std::uint64_t>(entry->bounce_buffer), sizeof value,
               buffers_.bounce_buffers().key()};
    }
  }
  return launch(connection, request, !has_value || entry->bounce_buffer != nullptr).kind ==
         core::Post::Kind::posted;
}

bool Requests::probe(Connection& connection, OutstandingRequest::Kind kind) noexcept {
  if (env_.sizes().confirms) return post_own(connection, 0, 0, 0, false);
  OutstandingRequest* const entry = begin(connection, OutstandingRequest::Kind::own, 0);
  if (entry == nullptr) return false;
  entry->kind = kind;
  entry->reads = !env_.sizes().in_order;
  Work read;
  fill_read_back(connection, read);
  return launch(connection, read.request, true).kind == core::Post::Kind::posted;
}

// -------------------------------------------------------------------------------------------------- confirmations

// On iWARP a write completes when its bytes have left, not when they have arrived. So each put is followed by a small
// read from the peer's memory. The peer's device works in order, so the read completes after the bytes have arrived,
// and then the put is over.

// Reads the counter into which this rank writes credit returns. The value is not used.
void Requests::fill_read_back(const Connection& connection, Work& read) const noexcept {
  read.piece = counters_.read_to(connection.peer);
  read.request.sg_list = &read.piece;
  read.request.num_sge = 1;
  read.request.opcode = IBV_WR_RDMA_READ;
  read.request.wr.rdma = {connection.counter, connection.counter_key};
}

// The newest request of the connection is a put. The read that will be posted behind it takes over its token. There is
// room, because `begin` keeps places in reserve.
void Requests::add_confirmation(Connection& connection, Work& read) noexcept {
  OutstandingRequest& put = connection.outstanding[connection.outstanding.next() - 1];
  put.kind = OutstandingRequest::Kind::part;
  --unused_;
  OutstandingRequest& confirmation = connection.outstanding.begin(OutstandingRequest::Kind::put, put.token);
  confirmation.offset = put.offset;
  confirmation.key = put.key;
  confirmation.bytes = put.bytes;
  confirmation.reads = !env_.sizes().in_order;
  fill_read_back(connection, read);
  name(connection, read.request, true);
}

core::Post Requests::launch_confirmed(Connection& connection, ibv_send_wr& request) noexcept {
  Work read;
  name(connection, request, false);
  add_confirmation(connection, read);
  request.next = &read.request;
  return hand_over_promised(connection, request);
}

}  // namespace aqueduct::conduits::ibv
