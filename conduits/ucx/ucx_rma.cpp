#include "conduits/ucx/ucx_rma.hpp"

#include <aqueduct/copy_bytes.hpp>

#include <cstring>

namespace aqueduct::conduits::ucx {
Result<std::vector<std::byte>> Rma::register_segment(SegmentId id, core::MutableBytes memory) {
  const Entry entry(lock_);
  return segments_.add(id, memory);
}

void Rma::unregister_segment(SegmentId id) noexcept {
  const Entry entry(lock_);
  segments_.remove(id);
}

Result<std::uint64_t> Rma::import_key(Rank rank, core::Bytes key) {
  const Entry entry(lock_);
  return segments_.import(rank, key);
}

void Rma::forget_key(Rank, std::uint64_t key) noexcept {
  const Entry entry(lock_);
  segments_.forget(key);
}

core::Post Rma::put(Rank rank, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool inject,
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
  Operation* const operation = operations_.begin(peer, token);
  if (operation == nullptr) [[unlikely]]
    return core::Post::retry();
  // UCX does not say how its puts store a word: a card writes it whole, but soft RoCE and shared memory copy.
  if (!place.by_network || detail::is_word(place.address + offset, from.size())) {
    return put_messages_.put(peer, *operation, {&from, 1}, from.size(),
                             {{}, 0, 0, offset, 0, place.segment, 0});
  }
  if (inject) {
    std::memcpy(operation->inject(), from.data(), from.size());
    from = {operation->inject(), from.size()};
  }
  ucp_request_param_t param;
  param.op_attr_mask = 0;
  const ucs_status_ptr_t answer =
      ucp_.put_nbx(peer.ep, from.data(), from.size(), place.address + offset, place.rkey, &param);
  if (UCS_PTR_IS_ERR(answer)) [[unlikely]]
    return operations_.refused(peer, *operation, UCS_PTR_RAW_STATUS(answer));
  ++counts_.puts;
  if (answer != nullptr)
    ucp_.request_free(answer);  // UCX frees it when the put ends; a flush tells when that is
  flushes_.await(peer, *operation);
  return core::Post::posted();
}

core::Post Rma::get(Rank rank, std::uint64_t key, std::uint64_t offset, core::MutableBytes to,
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
  Operation* const operation = operations_.begin(peer, token);
  if (operation == nullptr) [[unlikely]]
    return core::Post::retry();
  const ucp_request_param_t param = param_for(*operation, Operations::on_got);
  operation->gets = 1;
  const ucs_status_ptr_t answer =
      ucp_.get_nbx(peer.ep, to.data(), to.size(), place.address + offset, place.rkey, &param);
  ++counts_.gets;
  if (UCS_PTR_IS_PTR(answer)) return core::Post::posted();
  if (UCS_PTR_IS_ERR(answer)) [[unlikely]]
    return operations_.refused(peer, *operation, UCS_PTR_RAW_STATUS(answer));
  operations_.release(*operation);
  return core::Post::done();
}

core::Post Rma::put_signal(Rank rank, std::uint64_t key, std::uint64_t offset, core::Bytes from,
                           Signal signal, core::Token token, bool unwaited) noexcept {
  const Entry entry(lock_);
  const RemoteKey& place = segments_.remote(key);
  if (rank == me_) {
    if (!delivery_.has_counter(signal.slot)) return core::Post::failed(ErrorCode::out_of_range);
    detail::move_bytes(reinterpret_cast<std::byte*>(place.address) + offset, from.data(), from.size());
    delivery_.defer_signal(me_, signal);
    return core::Post::done();
  }
  Peer& peer = peers_[rank];
  if (const core::Post way = peers_.reach(peer); way.kind != core::Post::Kind::done) [[unlikely]]
    return way;
  const bool late = unwaited && operations_.has_plenty();
  Operation* const operation = operations_.begin(peer, token);
  if (operation == nullptr) [[unlikely]]
    return core::Post::retry();
  const PutHead head{{}, 0, 0, offset, signal.add, place.segment, signal.slot};
  return late ? put_messages_.put_unwaited(peer, *operation, from, head)
              : put_messages_.put(peer, *operation, {&from, 1}, from.size(), head);
}

}  // namespace aqueduct::conduits::ucx
