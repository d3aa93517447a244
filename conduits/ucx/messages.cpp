#include "conduits/ucx/messages.hpp"

#include <algorithm>
#include <cstring>

namespace aqueduct::conduits::ucx {

core::Post Messages::send(Peer& peer, MessageId id, core::Bytes header, core::Bytes payload) noexcept {
  if (const core::Post way = peers_.reach(peer); way.kind != core::Post::Kind::done) [[unlikely]]
    return way;
  // One peer that takes nothing must leave room for the others, and so must several.
  if (peer.packets >= std::min(most_packets_each_, packets_.available())) [[unlikely]]
    return core::Post::retry();
  PacketBuffer* const packet = packets_.acquire(peer.rank);
  if (packet == nullptr) [[unlikely]]
    return core::Post::retry();
  const PacketHead head = filter_.own_head();
  std::byte* at = packet->bytes;
  std::memcpy(at, &head, sizeof head);
  std::memcpy(at += sizeof head, header.data(), header.size());
  at += header.size();
  if (!payload.empty()) std::memcpy(at, payload.data(), payload.size());
  ucp_request_param_t param;
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  param.flags = UCP_AM_SEND_FLAG_EAGER;
  param.cb.send = on_sent;
  param.user_data = packet;
  const std::size_t bytes = sizeof head + header.size() + payload.size();
  const ucs_status_ptr_t answer = ucp_.am_send_nbx(peer.ep, id, nullptr, 0, packet->bytes, bytes, &param);
  ++(id == kPacket ? counts_.packets : counts_.answers);
  if (UCS_PTR_IS_PTR(answer)) {
    ++peer.packets;
    return core::Post::done();
  }
  packets_.release(*packet);
  if (answer == nullptr) [[likely]]
    return core::Post::done();
  const ucs_status_t status = UCS_PTR_RAW_STATUS(answer);
  const ErrorCode why = peers_.code_of(peer, status, "a message");
  if (why == ErrorCode::ok) return retry_of(status);
  peers_.fail(peer, status);
  return core::Post::failed(why);
}

void Messages::on_sent(void* request, ucs_status_t status, void* user_data) {
  auto& packet = *static_cast<PacketBuffer*>(user_data);
  Messages& self = *packet.owner;
  Peer& peer = self.peers_[packet.peer];
  --peer.packets;
  // UCX does not always call on_failure when the connection has failed.
  if (status != UCS_OK) self.peers_.fail(peer, status);
  self.packets_.release(packet);
  self.ucp_.request_free(request);
}

ucs_status_t Messages::on_packet(void* arg, const void*, std::size_t header_bytes, void* data,
                                 std::size_t bytes, const ucp_am_recv_param_t* param) {
  auto& self = *static_cast<Messages*>(arg);
  if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0 || header_bytes != 0) {
    self.filter_.reject("a message of another form than a packet's");
    return UCS_OK;
  }
  self.arrived(static_cast<const std::byte*>(data), bytes);
  return UCS_OK;
}

void Messages::arrived(const std::byte* data, std::size_t bytes) noexcept {
  PacketHead head;
  if (bytes < sizeof head || bytes - sizeof head > max_packet_) {
    filter_.reject("a packet that is too long or has no head");
    return;
  }
  std::memcpy(&head, data, sizeof head);
  if (!filter_.is_ours(head)) return;
  const core::Bytes packet(data + sizeof head, bytes - sizeof head);
  if (!delivery_.is_polled()) return arrived_aside(head.from, packet);
  delivery_.packet(head.from, packet);
}

/// Outside of a poll: the owner computes, or ends.
void Messages::arrived_aside(Rank from, core::Bytes packet) noexcept {
  const auto memory = [this](SegmentId id) { return segments_.of(id); };
  const auto send_answer = [this](Rank to, core::Bytes answer) {
    return send(peers_[to], kPacket, core::header_of_answer(answer), core::rest_of_answer(answer)).kind;
  };
  const bool served = aside_answers_.serve(aside_, from, packet, memory, send_answer);
  if (served && packet.empty()) return;
  if (!delivery_.defer_packet(from, packet, {})) peers_.fail(peers_[from], UCS_ERR_NO_MEMORY);
}

void Messages::send_aside_answers() noexcept {
  aside_answers_.send_again([this](Rank to, core::Bytes answer) {
    return send(peers_[to], kPacket, core::header_of_answer(answer), core::rest_of_answer(answer)).kind;
  });
}

}  // namespace aqueduct::conduits::ucx
