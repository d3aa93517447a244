#include "conduits/ibv/bounced_transfers.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace aqueduct::conduits::ibv {

core::Post BouncedTransfers::or_bounce(core::Post post, std::span<const BouncedTransfer> transfer) noexcept {
  if (post.kind != core::Post::Kind::failed || post.why != ErrorCode::no_memory) return post;
  if (waiting_.room() < transfer.size()) return core::Post::retry();
  if (!std::exchange(warned_, true)) {
    env_.log.warn(
        "ibv: rank {}: {} bytes of local memory outside segments cannot be registered: such transfers go by "
        "way of "
        "buffers, in pieces, which is slower. Use memory of segments, or `ulimit -l unlimited` before the "
        "job "
        "starts, or raise AQUEDUCT_IBV_PINNED",
        env_.me, transfer.back().bytes_left);
  }
  for (const BouncedTransfer& one : transfer) waiting_.add(one);
  post_pieces();
  return core::Post::posted();
}

void BouncedTransfers::post_pieces() noexcept {
  while (!waiting_.empty()) {
    BouncedTransfer& one = waiting_.front();
    // After a failure the peer is suspected, and the next poll ends all its operations.
    const core::Post post = one.bytes_left > 0 ? post_piece(one) : post_signal(one);
    if (post.kind != core::Post::Kind::posted) return;
    if (one.bytes_left == 0 && !one.signal) waiting_.end_front();
  }
}

core::Post BouncedTransfers::post_piece(BouncedTransfer& one) noexcept {
  Connection& connection = *connections_.find(one.peer);
  const Key& remote = memory_.remote(one.key);
  std::size_t bytes = std::min(one.bytes_left, buffers_.bounce_buffers().most_bytes());
  if (one.gets) bytes = env_.sizes().intact(remote.at + one.offset, bytes);
  std::byte* bounce_buffer = buffers_.bounce_buffers().take(bytes);
  if (bounce_buffer == nullptr)
    bounce_buffer =
        buffers_.bounce_buffers().take(bytes = std::min(bytes, buffers_.bounce_buffers().bytes()));
  if (bounce_buffer == nullptr) return core::Post::retry();
  OutstandingRequest* const entry = requests_.begin(connection, OutstandingRequest::Kind::part, 0);
  if (entry == nullptr) {
    buffers_.bounce_buffers().give_back(bounce_buffer);
    return core::Post::retry();
  }
  entry->bounce_buffer = bounce_buffer;
  entry->offset = one.offset;
  entry->key = static_cast<std::uint32_t>(one.key);
  entry->bytes = static_cast<std::uint32_t>(bytes);
  if (one.gets) {
    entry->result = one.local;
    entry->reads = !env_.sizes().in_order;
  } else {
    std::memcpy(bounce_buffer, one.local, bytes);
  }
  if (one.token && !one.signal && bytes == one.bytes_left) {
    entry->kind = one.ends;
    entry->token = *one.token;
  }
  Work work;
  work.request.opcode = one.gets ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
  work.request.wr.rdma = {remote.at + one.offset, remote.key};
  work.piece = {reinterpret_cast<std::uint64_t>(bounce_buffer), entry->bytes,
                buffers_.bounce_buffers().key()};
  work.request.sg_list = &work.piece;
  work.request.num_sge = 1;
  const core::Post post = requests_.launch(connection, work.request, true);
  if (post.kind == core::Post::Kind::posted) {
    one.offset += bytes;
    one.local += bytes;
    one.bytes_left -= bytes;
  }
  return post;
}

core::Post BouncedTransfers::post_signal(BouncedTransfer& one) noexcept {
  const core::Post post = access_.write_and_signal(*connections_.find(one.peer), one.key, one.offset, {},
                                                   *one.signal, *one.token);
  if (post.kind == core::Post::Kind::posted) one.signal.reset();
  return post;
}

}  // namespace aqueduct::conduits::ibv
