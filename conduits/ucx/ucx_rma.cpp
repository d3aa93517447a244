#include <aqueduct/copy_bytes.hpp>

#include "conduits/ucx/ucx_conduit.hpp"

#include <cstring>

// UCX ends a put when its source is free, and says with a flush of the connection that bytes are in place. So puts gather
// from one poll to the next, and one flush ends all of them (decision 26).

namespace aqueduct::conduits::ucx {
namespace {

// Chosen: while some flushes are on their way, later puts gather for the next one.
constexpr unsigned kMostFlushes = 4;

}  // namespace

Result<std::vector<std::byte>> UcxConduit::register_segment(SegmentId id, core::MutableBytes memory) {
  const Entry entry(lock_);
  return segments_.add(id, memory);
}

void UcxConduit::unregister_segment(SegmentId id) noexcept {
  const Entry entry(lock_);
  segments_.remove(id);
}

Result<std::uint64_t> UcxConduit::import_key(Rank rank, core::Bytes key) {
  const Entry entry(lock_);
  return segments_.import(rank, key);
}

core::Post UcxConduit::put(Rank rank, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool inject,
                           core::Token token) noexcept {
  if (from.empty()) return core::Post::done();
  const Entry entry(lock_);
  const RemoteKey& place = segments_.remote(key);
  if (rank == me_) {
    detail::move_bytes(reinterpret_cast<std::byte*>(place.address) + offset, from.data(), from.size());
    return core::Post::done();
  }
  Peer& peer = peers_[rank];
  if (const core::Post way = peers_.reach(peer); way.kind != core::Post::Kind::done) [[unlikely]]
    return way;
  Pending* const pending = operations_.begin(peer, token);
  if (pending == nullptr) [[unlikely]]
    return core::Post::retry();
  if (!place.by_network) {
    return put_by_message(peer, *pending, {&from, 1}, from.size(), {{}, 0, 0, offset, 0, place.segment, 0});
  }
  if (inject) {
    std::memcpy(pending->inject(), from.data(), from.size());
    from = {pending->inject(), from.size()};
  }
  ucp_request_param_t param;
  param.op_attr_mask = 0;
  const ucs_status_ptr_t answer =
      ucp_.put_nbx(peer.ep, from.data(), from.size(), place.address + offset, place.rkey, &param);
  if (UCS_PTR_IS_ERR(answer)) [[unlikely]]
    return operations_.refused(peer, *pending, UCS_PTR_RAW_STATUS(answer));
  ++counts_.puts;
  if (answer != nullptr) ucp_.request_free(answer);  // when it ends; the flush says when that is
  await_flush(peer, *pending);
  return core::Post::posted();
}

/// A put that UCX has taken ends with the next flush of its connection.
void UcxConduit::await_flush(Peer& peer, Pending& put) noexcept {
  put.next = std::exchange(peer.puts, &put);
  make_dirty(peer);
}

core::Post UcxConduit::get(Rank rank, std::uint64_t key, std::uint64_t offset, core::MutableBytes to,
                           core::Token token) noexcept {
  if (to.empty()) return core::Post::done();
  const Entry entry(lock_);
  const RemoteKey& place = segments_.remote(key);
  if (rank == me_) {
    detail::move_bytes(to.data(), reinterpret_cast<const std::byte*>(place.address) + offset, to.size());
    return core::Post::done();
  }
  Peer& peer = peers_[rank];
  if (const core::Post way = peers_.reach(peer); way.kind != core::Post::Kind::done) [[unlikely]]
    return way;
  Pending* const pending = operations_.begin(peer, token);
  if (pending == nullptr) [[unlikely]]
    return core::Post::retry();
  const ucp_request_param_t param = param_for(*pending, Operations::on_got);
  pending->gets = 1;
  const ucs_status_ptr_t answer =
      ucp_.get_nbx(peer.ep, to.data(), to.size(), place.address + offset, place.rkey, &param);
  ++counts_.gets;
  if (UCS_PTR_IS_PTR(answer)) return core::Post::posted();
  if (UCS_PTR_IS_ERR(answer)) [[unlikely]]
    return operations_.refused(peer, *pending, UCS_PTR_RAW_STATUS(answer));
  operations_.give(*pending);
  return core::Post::done();
}

void UcxConduit::flush_dirty() noexcept {
  // Puts that end here may be followed by others at once, which belong to the next round.
  dirty_.swap(flushing_);
  for (const Rank rank : flushing_) {
    Peer& peer = peers_[rank];
    peer.is_dirty = false;
    if (!flush(peer)) make_dirty(peer);
  }
  flushing_.clear();
}

void UcxConduit::make_dirty(Peer& peer) noexcept {
  if (peer.is_dirty) return;
  peer.is_dirty = true;
  dirty_.push_back(peer.rank);
}

/// True: nothing is left to flush there.
bool UcxConduit::flush(Peer& peer) noexcept {
  if (peer.gone) return true;
  if (peer.flushes >= kMostFlushes) return false;
  const ucp_request_param_t param = param_for(*peer.puts, Operations::on_flushed);
  const ucs_status_ptr_t answer = ucp_.ep_flush_nbx(peer.ep, &param);
  if (UCS_PTR_IS_ERR(answer) && no_room(UCS_PTR_RAW_STATUS(answer))) return false;
  Pending* const puts = std::exchange(peer.puts, nullptr);
  ++counts_.flushes;
  if (UCS_PTR_IS_PTR(answer)) {
    ++peer.flushes;
  } else {
    operations_.end_puts(puts, peers_.status_of(peer.rank, UCS_PTR_RAW_STATUS(answer)));
  }
  return true;
}

}  // namespace aqueduct::conduits::ucx
