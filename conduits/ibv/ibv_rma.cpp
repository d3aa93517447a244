#include "conduits/ibv/ibv_rma.hpp"

#include <aqueduct/copy_bytes.hpp>

namespace aqueduct::conduits::ibv {

Result<std::vector<std::byte>> Rma::register_segment(SegmentId id, core::MutableBytes memory) {
  auto key = memory_.add_segment(id, memory);
  if (key) rails_.add_segment(id, memory, *key);
  return key;
}

void Rma::unregister_segment(SegmentId id) noexcept {
  rails_.remove_segment(id);
  buffers_.invalidate(memory_.segment(id));
  memory_.remove_segment(id);
}

Result<std::uint64_t> Rma::import_key(Rank peer, core::Bytes key) {
  const std::size_t first = first_part_of(key);
  auto handle = memory_.import(peer, key.first(first));
  if (handle) rails_.import(*handle, key.subspan(first));
  return handle;
}

core::Post Rma::put_to_self(const Key& key, std::uint64_t offset, core::Bytes from) noexcept {
  detail::move_bytes(memory_.segment(key.id).data() + offset, from.data(), from.size());
  return core::Post::done();
}

core::Post Rma::put(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool inject,
                    core::Token token) noexcept {
  const Key& remote = memory_.remote(key);
  if (!RemoteAccess::in_range(remote, offset, from.size())) [[unlikely]]
    return access_.out_of_range(peer, remote, offset, from.size(), "put");
  if (peer == me_) return put_to_self(remote, offset, from);
  if (from.size() - 1 >= requests_.most_short()) return put_long(peer, key, offset, from, inject, token);
  Connection* const connection = reach(peer);
  if (connection == nullptr) [[unlikely]]
    return losses_.no_connection(peer);
  const auto result = requests_.put_short(*connection, remote, key, offset, from, inject, token);
  if (result == Requests::ShortPut::posted) [[likely]]
    return core::Post::posted();
  return result == Requests::ShortPut::no_room ? core::Post::retry() : requests_.take_back(*connection);
}

// A put that is too long to be inline, or empty.
core::Post Rma::put_long(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool inject,
                         core::Token token) noexcept {
  if (from.empty()) return core::Post::done();
  if (from.size() > striping_.most_whole() && !inject) {  // an inject copies the bytes now, so it is not cut
    const core::MutableBytes bytes(const_cast<std::byte*>(from.data()), from.size());
    if (const auto post = striping_.post(peer, key, offset, bytes, IBV_WR_RDMA_WRITE, token)) return *post;
  }
  Connection* const connection = reach(peer);
  if (connection == nullptr) return losses_.no_connection(peer);
  OutstandingRequest* const entry = requests_.begin(*connection, OutstandingRequest::Kind::put, token);
  if (entry == nullptr) return core::Post::retry();
  requests_.note_put(*connection);
  Work work;
  work.request.opcode = IBV_WR_RDMA_WRITE;
  const core::Post post = access_.write(*connection, *entry, key, offset, from, inject, work, true);
  if (post.kind != core::Post::Kind::failed) [[likely]]
    return post;
  const BouncedTransfer whole = BouncedTransfer::put(peer, key, offset, from, token);
  return bounced_.or_bounce(post, {&whole, 1});
}

core::Post Rma::put_signal(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from,
                           Signal signal, core::Token token) noexcept {
  const Key& remote = memory_.remote(key);
  if (!from.empty() && !RemoteAccess::in_range(remote, offset, from.size())) [[unlikely]]
    return access_.out_of_range(peer, remote, offset, from.size(), "put");
  if (peer == me_) {
    if (!to_self_.has_room_for_signal())
      return core::Post::retry();  // checked before the bytes are copied, so that nothing has happened
    static_cast<void>(put_to_self(remote, offset, from));
    static_cast<void>(to_self_.signal(signal));
    return core::Post::done();
  }
  Connection* const connection = reach(peer);
  if (connection == nullptr) [[unlikely]]
    return losses_.no_connection(peer);
  if (bounced_.has(peer)) [[unlikely]]
    return core::Post::retry();  // it would overtake the bounced bytes
  const core::Post post = access_.write_and_signal(*connection, key, offset, from, signal, token);
  if (post.kind != core::Post::Kind::failed) [[likely]]
    return post;
  BouncedTransfer whole = BouncedTransfer::put(peer, key, offset, from, token);
  whole.signal = signal;
  return bounced_.or_bounce(post, {&whole, 1});
}

core::Post Rma::get(Rank peer, std::uint64_t key, std::uint64_t offset, core::MutableBytes to,
                    core::Token token) noexcept {
  if (to.empty()) return core::Post::done();
  const Key& remote = memory_.remote(key);
  if (!RemoteAccess::in_range(remote, offset, to.size())) [[unlikely]]
    return access_.out_of_range(peer, remote, offset, to.size(), "get");
  if (peer == me_) {
    detail::move_bytes(to.data(), memory_.segment(remote.id).data() + offset, to.size());
    return core::Post::done();
  }
  if (to.size() > striping_.most_whole()) {
    if (const auto post = striping_.post(peer, key, offset, to, IBV_WR_RDMA_READ, token)) return *post;
  }
  if (sizes_.intact(remote.at + offset, to.size()) < to.size()) [[unlikely]] {
    const core::RemotePiece from{offset, to.size()};
    return vector_.get_pieces(peer, key, {&from, 1}, {&to, 1}, token);
  }
  Connection* const connection = reach(peer);
  if (connection == nullptr) [[unlikely]]
    return losses_.no_connection(peer);
  OutstandingRequest* const entry = requests_.begin(*connection, OutstandingRequest::Kind::get, token);
  if (entry == nullptr) [[unlikely]]
    return core::Post::retry();
  Work work;
  work.request.opcode = IBV_WR_RDMA_READ;
  const core::Post post = access_.read(*connection, *entry, key, offset, to, work);
  if (post.kind != core::Post::Kind::failed) [[likely]]
    return post;
  const BouncedTransfer whole = BouncedTransfer::get(peer, key, offset, to, token);
  return bounced_.or_bounce(post, {&whole, 1});
}

}  // namespace aqueduct::conduits::ibv
