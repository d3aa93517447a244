#include <aqueduct/copy_bytes.hpp>

#include "conduits/udp/udp_conduit.hpp"
#include "core/apply_atomic.hpp"
#include "core/word_signal.hpp"

#include <cstring>

namespace aqueduct::conduits::udp {
namespace {

/// The key of a segment, as peers receive and keep it. Packets name a segment by its number, because the owner knows
/// its address; with the size an initiator can check bounds.
struct Key {
  SegmentId id = 0;
  std::uint64_t bytes = 0;

  // Chosen: 2^20 segments are the most that AQUEDUCT_SEGMENTS allows; longer ones than 16 TiB go by messages.
  static constexpr int kBytesBits = 44;

  bool fits() const noexcept {
    return id < 1u << (64 - kBytesBits) && bytes < std::uint64_t{1} << kBytesBits;
  }
  std::uint64_t number() const noexcept { return std::uint64_t{id} << kBytesBits | bytes; }
  static Key of(std::uint64_t number) noexcept {
    return {static_cast<SegmentId>(number >> kBytesBits), number & ((std::uint64_t{1} << kBytesBits) - 1)};
  }
  bool holds(std::uint64_t offset, std::uint64_t count) const noexcept {
    return count == 0 || (offset <= bytes && count <= bytes - offset);
  }
};

using Source = Connection::Source;

/// A put with a signal reads its source during the call, up to max_inject_signal.
Source source_of(core::Bytes from) noexcept {
  return from.size() <= kMostCopied ? Source::copied : Source::in_place;
}

}  // namespace

Result<std::vector<std::byte>> UdpConduit::register_segment(SegmentId id, core::MutableBytes memory) {
  const Key key{id, memory.size()};
  if (!key.fits()) return ErrorCode::not_supported;
  const Entry entry(*this);
  if (id >= segments_.size()) segments_.resize(id + std::size_t{1});
  segments_[id] = memory;
  const std::uint64_t number = key.number();
  std::vector<std::byte> exported(sizeof number);
  std::memcpy(exported.data(), &number, sizeof number);
  return exported;
}

void UdpConduit::unregister_segment(SegmentId id) noexcept {
  const Entry entry(*this);
  if (id >= segments_.size() || segments_[id].empty()) return;
  segments_[id] = {};
  transport_.finish_replies(id, poll_others());
}

Result<std::uint64_t> UdpConduit::import_key(Rank, core::Bytes key) {
  std::uint64_t number = 0;
  if (key.size() != sizeof number) return ErrorCode::not_supported;
  std::memcpy(&number, key.data(), sizeof number);
  return number;
}

core::Post UdpConduit::beyond(const char* call, Rank peer, std::uint64_t key, std::uint64_t offset,
                              std::size_t bytes) noexcept {
  log_.error(
      "udp: {} of {} bytes at offset {} of segment {} of rank {}, which has {} bytes there: compare with "
      "segment_bytes()",
      call, bytes, offset, Key::of(key).id, peer, Key::of(key).bytes);
  return core::Post::failed(ErrorCode::out_of_range);
}

core::Post UdpConduit::put_to_self(std::uint64_t key, std::uint64_t offset, core::Bytes from) noexcept {
  if (!from.empty()) {
    const core::MutableBytes to = segment(Key::of(key).id);
    if (offset > to.size() || from.size() > to.size() - offset)
      return core::Post::failed(ErrorCode::out_of_range);
    detail::move_bytes(to.data() + offset, from.data(), from.size());
  }
  return core::Post::done();
}

core::Post UdpConduit::put(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool inject,
                           core::Token token) noexcept {
  if (!Key::of(key).holds(offset, from.size())) return beyond("put", peer, key, offset, from.size());
  if (peer == me_) return put_to_self(key, offset, from);
  return post(peer, [&](Connection& connection) {
    return connection.put(Key::of(key).id, offset, from, nullptr, token,
                          inject ? Source::copied : Source::in_place);
  });
}

core::Post UdpConduit::put_signal(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from,
                                  Signal what, core::Token token) noexcept {
  return put_signal(peer, key, offset, from, what, token, Connection::Answer::soon);
}

core::Post UdpConduit::put_signal_unwaited(Rank peer, std::uint64_t key, std::uint64_t offset,
                                           core::Bytes from, Signal what, core::Token token) noexcept {
  return put_signal(peer, key, offset, from, what, token, Connection::Answer::any_time);
}

core::Post UdpConduit::put_signal(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from,
                                  Signal what, core::Token token, Connection::Answer answer) noexcept {
  if (!Key::of(key).holds(offset, from.size())) return beyond("put", peer, key, offset, from.size());
  if (peer == me_) {
    const Entry entry(*this);
    if (!make_room(0, 0, 1)) return no_room_for_self();
    const core::Post post = put_to_self(key, offset, from);
    if (post.kind == core::Post::Kind::done) deferred_.signalled(me_, what);
    return post;
  }
  return post(peer, [&](Connection& connection) {
    return connection.put(Key::of(key).id, offset, from, &what, token, source_of(from), answer);
  });
}

core::Post UdpConduit::put_signal_word(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from,
                                       const core::RemoteWord& word, core::Token token) noexcept {
  if (!Key::of(key).holds(offset, from.size())) return beyond("put", peer, key, offset, from.size());
  if (!Key::of(word.key).holds(word.offset, sizeof(std::uint64_t)))
    return beyond("signal", peer, word.key, word.offset, sizeof(std::uint64_t));
  if (peer == me_) {
    core::Post post = put_to_self(key, offset, from);
    if (post.kind != core::Post::Kind::done) return post;
    const ErrorCode why = core::apply_signal(segment(Key::of(word.key).id), word.offset, word.op, word.value);
    return why == ErrorCode::ok ? post : core::Post::failed(why);
  }
  const Announcement signal{Announcement::Kind::word, word.op, Key::of(word.key).id, word.offset, word.value};
  return post(peer, [&](Connection& connection) {
    return connection.put_announced(Key::of(key).id, offset, from, signal, token, source_of(from));
  });
}

core::Post UdpConduit::update(Rank peer, std::uint64_t key, std::uint64_t offset,
                              const detail::AtomicCall& call, core::Token token) noexcept {
  const std::size_t bytes = core::bytes_of(call.type);
  if (!Key::of(key).holds(offset, bytes)) return beyond("atomic", peer, key, offset, bytes);
  if (peer == me_) {
    const core::MutableBytes mine = segment(Key::of(key).id);
    if (offset > mine.size() || bytes > mine.size() - offset)
      return core::Post::failed(ErrorCode::out_of_range);
    core::apply_atomic(call.op, call.type, call.operand, 0, mine.data() + offset);
    return core::Post::done();
  }
  return post(
      peer, [&](Connection& connection) { return connection.update(Key::of(key).id, offset, call, token); });
}

void UdpConduit::begin_redirect(core::Redirect& redirect) noexcept {
  const Entry entry(*this);
  core::Redirect*& first = transport_.common().redirects;
  redirect.next = first;
  first = &redirect;
}

void UdpConduit::end_redirect(core::Redirect& redirect) noexcept {
  const Entry entry(*this);
  core::Redirect** at = &transport_.common().redirects;
  while (*at != &redirect) at = &(*at)->next;
  *at = redirect.next;
}

core::Post UdpConduit::get(Rank peer, std::uint64_t key, std::uint64_t offset, core::MutableBytes to,
                           core::Token token) noexcept {
  if (to.empty()) return core::Post::done();
  if (!Key::of(key).holds(offset, to.size())) return beyond("get", peer, key, offset, to.size());
  if (peer == me_) {
    const core::MutableBytes from = segment(Key::of(key).id);
    if (offset > from.size() || to.size() > from.size() - offset)
      return core::Post::failed(ErrorCode::out_of_range);
    detail::move_bytes(to.data(), from.data() + offset, to.size());
    return core::Post::done();
  }
  return post(peer,
              [&](Connection& connection) { return connection.get(Key::of(key).id, offset, to, token); });
}

}  // namespace aqueduct::conduits::udp
