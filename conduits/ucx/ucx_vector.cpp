#include "conduits/ucx/ucx_vector.hpp"

#include <aqueduct/copy_bytes.hpp>

namespace aqueduct::conduits::ucx {

core::Post Vector::put_pieces(Rank rank, std::uint64_t key, std::span<const core::RemotePiece> to,
                              std::span<const core::Bytes> from, core::Token token) noexcept {
  if (const ErrorCode why = core::check_pieces(to, from, limits()); why != ErrorCode::ok)
    return core::Post::failed(why);
  const Entry entry(lock_);
  const RemoteKey& place = segments_.remote(key);
  const std::uint64_t offset = to.front().offset;
  if (rank == me_) {
    auto* at = reinterpret_cast<std::byte*>(place.address) + offset;
    for (const core::Bytes piece : from) {
      detail::move_bytes(at, piece.data(), piece.size());
      at += piece.size();
    }
    return core::Post::done();
  }
  Peer& peer = peers_[rank];
  if (const core::Post way = peers_.reach(peer); way.kind != core::Post::Kind::done) [[unlikely]]
    return way;
  Operation* const operation = operations_.begin(peer, token);
  if (operation == nullptr) [[unlikely]]
    return core::Post::retry();
  if (place.by_network) return put_by_network(peer, *operation, place, offset, from);
  return put_messages_.put(peer, *operation, from, to.front().bytes, {{}, 0, 0, offset, 0, place.segment, 0});
}

/// One flush completes all pieces. If UCX refuses a later piece, the operation fails with that only at the flush: UCX still reads
/// the earlier pieces.
core::Post Vector::put_by_network(Peer& peer, Operation& operation, const RemoteKey& place,
                                  std::uint64_t offset, std::span<const core::Bytes> from) noexcept {
  std::uint64_t at = place.address + offset;
  ucp_request_param_t param;
  param.op_attr_mask = 0;
  for (const core::Bytes& piece : from) {
    const ucs_status_ptr_t answer = ucp_.put_nbx(peer.ep, piece.data(), piece.size(), at, place.rkey, &param);
    if (UCS_PTR_IS_ERR(answer)) [[unlikely]] {
      if (&piece == from.data()) return operations_.refused(peer, operation, UCS_PTR_RAW_STATUS(answer));
      operation.outcome = peers_.status_of(peer.rank, UCS_PTR_RAW_STATUS(answer));
      break;
    }
    ++counts_.puts;
    if (answer != nullptr) ucp_.request_free(answer);
    at += piece.size();
  }
  flushes_.await(peer, operation);
  return core::Post::posted();
}

core::Post Vector::get_pieces(Rank rank, std::uint64_t key, std::span<const core::RemotePiece> from,
                              std::span<const core::MutableBytes> to, core::Token token) noexcept {
  if (const ErrorCode why = core::check_pieces(from, to, limits()); why != ErrorCode::ok)
    return core::Post::failed(why);
  const Entry entry(lock_);
  const RemoteKey& place = segments_.remote(key);
  std::uint64_t at = place.address + from.front().offset;
  if (rank == me_) {
    for (const core::MutableBytes piece : to) {
      detail::move_bytes(piece.data(), reinterpret_cast<const std::byte*>(at), piece.size());
      at += piece.size();
    }
    return core::Post::done();
  }
  Peer& peer = peers_[rank];
  if (const core::Post way = peers_.reach(peer); way.kind != core::Post::Kind::done) [[unlikely]]
    return way;
  Operation* const operation = operations_.begin(peer, token);
  if (operation == nullptr) [[unlikely]]
    return core::Post::retry();
  const ucp_request_param_t param = param_for(*operation, Operations::on_got);
  operation->gets = 0;
  for (const core::MutableBytes& piece : to) {
    const ucs_status_ptr_t answer = ucp_.get_nbx(peer.ep, piece.data(), piece.size(), at, place.rkey, &param);
    if (UCS_PTR_IS_ERR(answer)) [[unlikely]] {
      if (operation->gets == 0) return operations_.refused(peer, *operation, UCS_PTR_RAW_STATUS(answer));
      operation->outcome = peers_.status_of(rank, UCS_PTR_RAW_STATUS(answer));
      break;
    }
    ++counts_.gets;
    if (answer != nullptr) ++operation->gets;
    at += piece.size();
  }
  if (operation->gets != 0) return core::Post::posted();
  operations_.release(*operation);
  return core::Post::done();
}

}  // namespace aqueduct::conduits::ucx
