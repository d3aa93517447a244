#include "conduits/ibv/ibv_atomics.hpp"

namespace aqueduct::conduits::ibv {

core::AtomicSet Atomics::operations() const noexcept {
  core::AtomicSet set;
  if (!env_.sizes().atomics) return set;
  for (const AtomicType type : {AtomicType::i64, AtomicType::u64}) {
    for (const AtomicOp op : {AtomicOp::load, AtomicOp::add, AtomicOp::compare_swap}) set.add(op, type);
  }
  return set;
}

// Atomics on this rank's own words go through the adapter too: adapter and CPU atomics are not atomic to each other.
core::Post Atomics::atomic(Rank peer, std::uint64_t key, std::uint64_t offset, const detail::AtomicCall& call,
                           core::Token token) noexcept {
  const Key& remote = memory_.remote(key);
  if (!RemoteAccess::in_range(remote, offset, sizeof(std::uint64_t))) [[unlikely]]
    return access_.out_of_range(peer, remote, offset, sizeof(std::uint64_t), "atomic");
  if (!operations().has(call.op, call.type)) return core::Post::failed(ErrorCode::not_supported);
  if ((remote.at + offset) % sizeof(std::uint64_t) != 0) return core::Post::failed(ErrorCode::misaligned);
  Connection* const connection = connections_.reach(peer);
  if (connection == nullptr) [[unlikely]]
    return losses_.no_connection(peer);
  OutstandingRequest* const entry = requests_.begin(*connection, OutstandingRequest::Kind::atomic, token);
  if (entry == nullptr) [[unlikely]]
    return core::Post::retry();
  entry->offset = offset;
  entry->key = static_cast<std::uint32_t>(key);
  entry->bytes = sizeof(std::uint64_t);
  entry->result = call.result;
  entry->bounce_buffer = buffers_.bounce_buffers().take();
  if (entry->bounce_buffer == nullptr) {
    requests_.undo(*connection);
    return core::Post::retry();
  }
  Work work;
  work.piece = {reinterpret_cast<std::uint64_t>(entry->bounce_buffer), entry->bytes,
                buffers_.bounce_buffers().key()};
  work.request.sg_list = &work.piece;
  work.request.num_sge = 1;
  const bool swaps = call.op == AtomicOp::compare_swap;
  work.request.opcode = swaps ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_ATOMIC_FETCH_AND_ADD;
  work.request.wr.atomic.remote_addr = remote.at + offset;
  work.request.wr.atomic.rkey = remote.key;
  work.request.wr.atomic.compare_add = swaps ? call.expected : call.op == AtomicOp::load ? 0 : call.operand;
  work.request.wr.atomic.swap = call.operand;
  return requests_.launch(*connection, work.request, true);
}

}  // namespace aqueduct::conduits::ibv
