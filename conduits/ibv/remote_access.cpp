#include "conduits/ibv/remote_access.hpp"

#include <cstring>

#include <arpa/inet.h>

namespace aqueduct::conduits::ibv {

core::Post RemoteAccess::out_of_range(Rank peer, const Key& key, std::uint64_t offset, std::size_t bytes,
                                      const char* what) const noexcept {
  env_.log.error("ibv: rank {}: a {} of {} bytes at offset {} is beyond rank {}'s segment {} of {} bytes",
                 env_.me, what, bytes, offset, peer, key.id, key.bytes);
  return core::Post::failed(ErrorCode::out_of_range);
}

core::Post RemoteAccess::write(Connection& connection, OutstandingRequest& entry, std::uint64_t key,
                               std::uint64_t offset, core::Bytes from, bool inject, Work& work,
                               bool signaled) noexcept {
  const Key& remote = memory_.remote(key);
  entry.offset = offset;
  entry.key = static_cast<std::uint32_t>(key);
  entry.bytes = static_cast<std::uint32_t>(from.size());
  work.request.wr.rdma = {remote.at + offset, remote.key};
  if (from.empty()) {
    work.request.num_sge = 0;
  } else if (from.size() <= requests_.inline_bytes()) {
    work.piece = {reinterpret_cast<std::uint64_t>(from.data()), entry.bytes, 0};
    work.request.sg_list = &work.piece;
    work.request.num_sge = 1;
    work.request.send_flags |= IBV_SEND_INLINE;
  } else if (inject) {
    entry.bounce_buffer = buffers_.bounce_buffers().take();
    if (entry.bounce_buffer == nullptr) {
      requests_.undo(connection);
      return core::Post::retry();
    }
    std::memcpy(entry.bounce_buffer, from.data(), from.size());
    work.piece = {reinterpret_cast<std::uint64_t>(entry.bounce_buffer), entry.bytes,
                  buffers_.bounce_buffers().key()};
    work.request.sg_list = &work.piece;
    work.request.num_sge = 1;
  } else if (const Lent lent = buffers_.lend(entry, from, true, work); lent.kind != Lent::Kind::done) {
    requests_.undo(connection);
    return lent.post();
  }
  return requests_.launch(connection, work.request, signaled);
}

core::Post RemoteAccess::read(Connection& connection, OutstandingRequest& entry, std::uint64_t key,
                              std::uint64_t offset, core::MutableBytes to, Work& work) noexcept {
  const Key& remote = memory_.remote(key);
  entry.offset = offset;
  entry.key = static_cast<std::uint32_t>(key);
  entry.bytes = static_cast<std::uint32_t>(to.size());
  work.request.wr.rdma = {remote.at + offset, remote.key};
  if (const Lent lent = buffers_.lend(entry, to, false, work); lent.kind != Lent::Kind::done) {
    requests_.undo(connection);
    return lent.post();
  }
  if (entry.bounce_buffer != nullptr) entry.result = to.data();
  entry.reads = !env_.sizes().in_order;
  return requests_.launch(connection, work.request, true);
}

// A write with immediate data, which carries the signal. If the device has none, or the signal's numbers are too large
// for it: a write, and a message behind it.
core::Post RemoteAccess::write_and_signal(Connection& connection, std::uint64_t key, std::uint64_t offset,
                                          core::Bytes from, Signal signal, core::Token token) noexcept {
  Work work;
  const std::uint64_t taken = connection.taken;
  const auto lowest = static_cast<std::uint32_t>(taken);
  if (const auto data = env_.sizes().immediate ? encode(signal, lowest) : std::nullopt) {
    if (!credits_.has(connection)) return core::Post::retry();
    OutstandingRequest* const entry = requests_.begin(connection, OutstandingRequest::Kind::put, token);
    if (entry == nullptr) return core::Post::retry();
    work.request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
    work.request.imm_data = ::htonl(*data);
    const core::Post post = write(connection, *entry, key, offset, from, false, work, true);
    if (post.kind == core::Post::Kind::posted) {
      ++connection.sent;
      if (connection.peer_counts) connection.reported = taken;
    }
    return post;
  }
  // Both are posted or none: the message must have room before the write is posted.
  if (!credits_.has(connection) || !requests_.has_room_for_two(connection) ||
      buffers_.bounce_buffers().room() < 2)
    return core::Post::retry();
  if (!from.empty()) {
    OutstandingRequest* const entry = requests_.begin(connection, OutstandingRequest::Kind::part, 0);
    if (entry == nullptr) return core::Post::retry();
    work.request.opcode = IBV_WR_RDMA_WRITE;
    const core::Post post = write(connection, *entry, key, offset, from, false, work, false);
    if (post.kind != core::Post::Kind::posted) return post;
  }
  const core::Bytes bytes = std::as_bytes(std::span(&signal, 1));
  const core::Post post =
      messages_.send(connection, PacketHead::Kind::signal, bytes, {}, OutstandingRequest::Kind::put, token);
  // If this is refused, the caller repeats the whole operation: the bytes are written twice, which does no harm.
  return post;
}

}  // namespace aqueduct::conduits::ibv
