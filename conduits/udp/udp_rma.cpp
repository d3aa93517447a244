#include "conduits/udp/udp_conduit.hpp"

#include <cstring>

namespace aqueduct::conduits::udp {

// A key is the segment's number: a peer's packets name it, and this side knows where it lies.
Result<std::vector<std::byte>> UdpConduit::register_segment(SegmentId id, core::MutableBytes memory) {
  const Entry entry(*this);
  if (id >= segments_.size()) segments_.resize(id + std::size_t{1});
  segments_[id] = memory;
  std::vector<std::byte> key(sizeof id);
  std::memcpy(key.data(), &id, sizeof id);
  return key;
}

void UdpConduit::unregister_segment(SegmentId id) noexcept {
  const Entry entry(*this);
  if (id >= segments_.size() || segments_[id].empty()) return;
  segments_[id] = {};
  engine_.finish_replies();
}

Result<std::uint64_t> UdpConduit::import_key(Rank, core::Bytes key) {
  SegmentId id = 0;
  if (key.size() != sizeof id) return ErrorCode::not_supported;
  std::memcpy(&id, key.data(), sizeof id);
  return std::uint64_t{id};
}

core::Post UdpConduit::put_to_self(std::uint64_t key, std::uint64_t offset, core::Bytes from) noexcept {
  if (!from.empty()) {
    const core::MutableBytes to = segment(static_cast<std::uint32_t>(key));
    if (offset > to.size() || from.size() > to.size() - offset)
      return core::Post::failed(ErrorCode::out_of_range);
    std::memmove(to.data() + offset, from.data(), from.size());
  }
  return core::Post::done();
}

core::Post UdpConduit::put(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool,
                           core::Token token) noexcept {
  if (peer == me_) return put_to_self(key, offset, from);
  return post(peer, [&](Link& link) {
    return link.put(static_cast<std::uint32_t>(key), offset, from, nullptr, token);
  });
}

core::Post UdpConduit::put_signal(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from,
                                  Signal what, core::Token token) noexcept {
  if (peer == me_) {
    const core::Post post = put_to_self(key, offset, from);
    if (post.kind == core::Post::Kind::done) {
      const Entry entry(*this);
      held_.signalled(me_, what);
    }
    return post;
  }
  return post(peer, [&](Link& link) {
    return link.put(static_cast<std::uint32_t>(key), offset, from, &what, token);
  });
}

core::Post UdpConduit::get(Rank peer, std::uint64_t key, std::uint64_t offset, core::MutableBytes to,
                           core::Token token) noexcept {
  if (to.empty()) return core::Post::done();
  if (peer == me_) {
    const core::MutableBytes from = segment(static_cast<std::uint32_t>(key));
    if (offset > from.size() || to.size() > from.size() - offset)
      return core::Post::failed(ErrorCode::out_of_range);
    std::memmove(to.data(), from.data() + offset, to.size());
    return core::Post::done();
  }
  return post(peer, [&](Link& link) { return link.get(static_cast<std::uint32_t>(key), offset, to, token); });
}

}  // namespace aqueduct::conduits::udp
