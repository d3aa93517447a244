#include "conduits/ibv/messages.hpp"

#include "conduits/ibv/errors.hpp"

#include <cstring>

#include <arpa/inet.h>

namespace aqueduct::conduits::ibv {

core::Post Messages::send(Connection& connection, PacketHead::Kind what, core::Bytes header,
                          core::Bytes payload, OutstandingRequest::Kind kind, core::Token token) noexcept {
  if (!credits_.has(connection)) return core::Post::retry();
  OutstandingRequest* const entry = requests_.begin(connection, kind, token);
  if (entry == nullptr) return core::Post::retry();
  const std::uint64_t taken = connection.taken;
  const PacketHead head{static_cast<std::uint32_t>(taken), what};
  const std::size_t bytes = sizeof head + header.size() + payload.size();
  alignas(8) std::byte room[Burst::kMostBytes];
  std::byte* at = room;
  ibv_send_wr request{};
  request.opcode = IBV_WR_SEND;
  ibv_sge piece{0, static_cast<std::uint32_t>(bytes), 0};
  if (bytes <= requests_.inline_bytes()) {
    request.send_flags |= IBV_SEND_INLINE;
  } else {
    at = entry->bounce_buffer = buffers_.bounce_buffers().take();
    if (at == nullptr) {
      requests_.undo(connection);
      return core::Post::retry();
    }
    piece.lkey = buffers_.bounce_buffers().key();
  }
  std::memcpy(at, &head, sizeof head);
  if (!header.empty()) std::memcpy(at + sizeof head, header.data(), header.size());
  if (!payload.empty()) std::memcpy(at + sizeof head + header.size(), payload.data(), payload.size());
  piece.addr = reinterpret_cast<std::uint64_t>(at);
  request.sg_list = &piece;
  request.num_sge = 1;
  entry->bytes = piece.length;
  const core::Post post = requests_.launch(
      connection, request, entry->bounce_buffer != nullptr || kind != OutstandingRequest::Kind::packet);
  if (post.kind == core::Post::Kind::posted) {
    ++connection.sent;
    connection.reported = taken;
  }
  return post;
}

int Messages::take(Connection* connection, const ibv_wc& completion, core::Inbox& inbox) noexcept {
  ReceiveBuffers::Buffer& buffer = ReceiveBuffers::of_id(WorkId::index(completion.wr_id));
  if (connection == nullptr || connection->pair == nullptr || completion.status != IBV_WC_SUCCESS) {
    if (connection != nullptr && connection->pair != nullptr && completion.status != IBV_WC_WR_FLUSH_ERR) {
      env_.log.error("ibv: rank {}: a message of rank {} cannot be taken: {}. {}", env_.me, connection->peer,
                     env_.verbs.wc_status_str(completion.status), advice_for(completion.status));
      losses_.suspect(connection->peer, env_.verbs.wc_status_str(completion.status));
    }
    if (receive_.is_shared()) receive_.freed(buffer);
    return 0;
  }
  connection->ready = connection->connected;  // a peer that sends knows that my queue pair is connected
  connection->heard = true;
  credits_.taken(*connection, buffer);
  if (completion.opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
    const BesidePut beside = decode(::ntohl(completion.imm_data));
    connection->credits_came(beside.consumed);
    inbox.signalled(connection->peer, beside.signal);
    return 1;
  }
  PacketHead head;
  const std::size_t bytes = completion.byte_len;
  if (bytes < sizeof head) return 0;
  std::memcpy(&head, buffer.bytes, sizeof head);
  connection->credits_came(head.consumed);
  const core::Bytes packet{buffer.bytes + sizeof head, bytes - sizeof head};
  if (head.kind == PacketHead::Kind::greeting) return 0;
  if (head.kind == PacketHead::Kind::packet) {
    inbox.packet(connection->peer, packet);
    return 1;
  }
  Signal signal;
  if (packet.size() != sizeof signal) return 0;
  std::memcpy(&signal, packet.data(), sizeof signal);
  inbox.signalled(connection->peer, signal);
  return 1;
}

}  // namespace aqueduct::conduits::ibv
