#include <aqueduct/copy_bytes.hpp>

#include "conduits/ibv/errors.hpp"
#include "conduits/ibv/ibv_conduit.hpp"
#include "conduits/ibv/work_id.hpp"

#include <cerrno>
#include <cstring>

#include <arpa/inet.h>

namespace aqueduct::conduits::ibv {

Result<std::vector<std::byte>> IbvConduit::register_segment(SegmentId id, core::MutableBytes memory) {
  auto key = memory_.add_segment(id, memory);
  if (key) rails_.add_segment(id, memory, *key);
  return key;
}

void IbvConduit::unregister_segment(SegmentId id) noexcept {
  rails_.remove_segment(id);
  buffers_.invalidate(memory_.segment(id));
  memory_.remove_segment(id);
}

Result<std::uint64_t> IbvConduit::import_key(Rank peer, core::Bytes key) {
  const std::size_t first = first_part_of(key);
  auto handle = memory_.import(peer, key.first(first));
  if (handle) rails_.import(*handle, key.subspan(first));
  return handle;
}

void IbvConduit::out_of_range(Rank peer, const Key& key, std::uint64_t offset, std::size_t bytes,
                              const char* what) noexcept {
  env_.log.error("ibv: rank {}: a {} of {} bytes at offset {} is beyond rank {}'s segment {} of {} bytes",
                 env_.me, what, bytes, offset, peer, key.id, key.bytes);
}

core::Post IbvConduit::write(Link& link, Flight& flight, std::uint64_t key, std::uint64_t offset,
                             core::Bytes from, bool inject, Work& work, bool tells) noexcept {
  const Key& remote = memory_.remote(key);
  flight.offset = offset;
  flight.key = static_cast<std::uint32_t>(key);
  flight.bytes = static_cast<std::uint32_t>(from.size());
  work.request.wr.rdma = {remote.at + offset, remote.key};
  if (from.empty()) {
    work.request.num_sge = 0;
  } else if (from.size() <= requests_.inline_bytes()) {
    work.piece = {reinterpret_cast<std::uint64_t>(from.data()), flight.bytes, 0};
    work.request.sg_list = &work.piece;
    work.request.num_sge = 1;
    work.request.send_flags |= IBV_SEND_INLINE;
  } else if (inject) {
    flight.slot = buffers_.slots().take();
    if (flight.slot == nullptr) {
      requests_.undo(link);
      return core::Post::retry();
    }
    std::memcpy(flight.slot, from.data(), from.size());
    work.piece = {reinterpret_cast<std::uint64_t>(flight.slot), flight.bytes, buffers_.slots().key()};
    work.request.sg_list = &work.piece;
    work.request.num_sge = 1;
  } else if (const Lent lent = buffers_.lend(flight, from, true, work); lent.kind != Lent::Kind::done) {
    requests_.undo(link);
    return lent.post();
  }
  return requests_.launch(link, work.request, tells);
}

core::Post IbvConduit::put_to_self(const Key& key, std::uint64_t offset, core::Bytes from) noexcept {
  detail::move_bytes(memory_.segment(key.id).data() + offset, from.data(), from.size());
  return core::Post::done();
}

core::Post IbvConduit::put(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool inject,
                           core::Token token) noexcept {
  const Key& remote = memory_.remote(key);
  if (!in_range(peer, remote, offset, from.size(), "put")) return core::Post::failed(ErrorCode::out_of_range);
  if (peer == env_.me) return put_to_self(remote, offset, from);
  if (from.size() - 1 >= requests_.most_short()) return put_long(peer, key, offset, from, inject, token);
  Link* const link = connections_.reach(peer);
  if (link == nullptr) [[unlikely]]
    return losses_.no_connection(peer);
  return requests_.put_short(*link, remote, key, offset, from, inject, token);
}

// Of more than a request itself holds, or of nothing.
core::Post IbvConduit::put_long(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from,
                                bool inject, core::Token token) noexcept {
  if (from.empty()) return core::Post::done();
  if (is_large(from.size()) && !inject) {  // which copies the bytes now
    const core::MutableBytes bytes(const_cast<std::byte*>(from.data()), from.size());
    if (const auto post = deal(peer, key, offset, bytes, IBV_WR_RDMA_WRITE, token)) return *post;
  }
  Link* const link = connections_.reach(peer);
  if (link == nullptr) return losses_.no_connection(peer);
  Flight* const flight = requests_.begin(*link, Flight::Kind::put, token);
  if (flight == nullptr) return core::Post::retry();
  requests_.note_put(*link);
  Work work;
  work.request.opcode = IBV_WR_RDMA_WRITE;
  const core::Post post = write(*link, *flight, key, offset, from, inject, work, true);
  if (post.kind != core::Post::Kind::failed) [[likely]]
    return post;
  const Bounced whole = Bounced::put(peer, key, offset, from, token);
  return or_bounce(post, {&whole, 1});
}

core::Post IbvConduit::put_signal(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from,
                                  Signal signal, core::Token token) noexcept {
  const Key& remote = memory_.remote(key);
  if (!from.empty() && !in_range(peer, remote, offset, from.size(), "put")) {
    return core::Post::failed(ErrorCode::out_of_range);
  }
  if (peer == env_.me) {
    if (!to_self_.has_room_for_signal())
      return core::Post::retry();  // before the bytes: nothing has happened
    static_cast<void>(put_to_self(remote, offset, from));
    static_cast<void>(to_self_.signal(signal));
    return core::Post::done();
  }
  Link* const link = connections_.reach(peer);
  if (link == nullptr) [[unlikely]]
    return losses_.no_connection(peer);
  if (!bounced_.empty() && bounced_.has(peer)) [[unlikely]]
    return core::Post::retry();  // it would overtake them
  const core::Post post = announce(*link, key, offset, from, signal, token);
  if (post.kind != core::Post::Kind::failed) [[likely]]
    return post;
  Bounced whole = Bounced::put(peer, key, offset, from, token);
  whole.signal = signal;
  return or_bounce(post, {&whole, 1});
}

// One write that brings the signal along, or, if the device has no such thing or the signal's numbers are too large for it, a
// message behind the write.
core::Post IbvConduit::announce(Link& link, std::uint64_t key, std::uint64_t offset, core::Bytes from,
                                Signal signal, core::Token token) noexcept {
  Work work;
  const std::uint32_t taken = link.taken;
  if (const auto data = env_.sizes().immediate ? encode(signal, taken) : std::nullopt) {
    if (!credits_.has(link)) return core::Post::retry();
    Flight* const flight = requests_.begin(link, Flight::Kind::put, token);
    if (flight == nullptr) return core::Post::retry();
    work.request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
    work.request.imm_data = ::htonl(*data);
    const core::Post post = write(link, *flight, key, offset, from, false, work, true);
    if (post.kind == core::Post::Kind::posted) {
      ++link.sent;
      if (link.peer_counts) link.told = taken;
    }
    return post;
  }
  // Both or neither: there must be room for the message before the write goes.
  if (!credits_.has(link) || !requests_.has_room_for_two(link) || buffers_.slots().room() < 2)
    return core::Post::retry();
  if (!from.empty()) {
    Flight* const flight = requests_.begin(link, Flight::Kind::part, 0);
    if (flight == nullptr) return core::Post::retry();
    work.request.opcode = IBV_WR_RDMA_WRITE;
    const core::Post post = write(link, *flight, key, offset, from, false, work, false);
    if (post.kind != core::Post::Kind::posted) return post;
  }
  const core::Bytes bytes = std::as_bytes(std::span(&signal, 1));
  const core::Post post = messages_.send(link, PacketHead::Kind::signal, bytes, {}, Flight::Kind::put, token);
  // The bytes have gone: it comes again, and they with it, which does no harm.
  return post;
}

core::Post IbvConduit::get(Rank peer, std::uint64_t key, std::uint64_t offset, core::MutableBytes to,
                           core::Token token) noexcept {
  if (to.empty()) return core::Post::done();
  const Key& remote = memory_.remote(key);
  if (!in_range(peer, remote, offset, to.size(), "get")) return core::Post::failed(ErrorCode::out_of_range);
  if (peer == env_.me) {
    detail::move_bytes(to.data(), memory_.segment(remote.id).data() + offset, to.size());
    return core::Post::done();
  }
  if (is_large(to.size())) {
    if (const auto post = deal(peer, key, offset, to, IBV_WR_RDMA_READ, token)) return *post;
  }
  Link* const link = connections_.reach(peer);
  if (link == nullptr) [[unlikely]]
    return losses_.no_connection(peer);
  Flight* const flight = requests_.begin(*link, Flight::Kind::get, token);
  if (flight == nullptr) [[unlikely]]
    return core::Post::retry();
  Work work;
  work.request.opcode = IBV_WR_RDMA_READ;
  const core::Post post = read(*link, *flight, key, offset, to, work);
  if (post.kind != core::Post::Kind::failed) [[likely]]
    return post;
  const Bounced whole = Bounced::get(peer, key, offset, to, token);
  return or_bounce(post, {&whole, 1});
}

core::Post IbvConduit::read(Link& link, Flight& flight, std::uint64_t key, std::uint64_t offset,
                            core::MutableBytes to, Work& work) noexcept {
  const Key& remote = memory_.remote(key);
  flight.offset = offset;
  flight.key = static_cast<std::uint32_t>(key);
  flight.bytes = static_cast<std::uint32_t>(to.size());
  work.request.wr.rdma = {remote.at + offset, remote.key};
  if (const Lent lent = buffers_.lend(flight, to, false, work); lent.kind != Lent::Kind::done) {
    requests_.undo(link);
    return lent.post();
  }
  if (flight.slot != nullptr) flight.result = to.data();
  flight.reads = !env_.sizes().in_order;
  return requests_.launch(link, work.request, true);
}

}  // namespace aqueduct::conduits::ibv
