#include "conduits/ibv/ibv_conduit.hpp"

#include <cstring>
#include <utility>

namespace aqueduct::conduits::ibv {
// The peer's adapter writes how many of my messages it has taken; packets that come from it may have said so before.
bool IbvConduit::has_credit(Link& link) noexcept {
  if (link.has_credit()) [[likely]]
    return true;
  link.credits_came(cells_.taken_by(link.peer));
  if (link.has_credit()) return true;
  lacks_credit_ = true;
  return false;
}

core::Post IbvConduit::send_message(Link& link, PacketHead::Kind what, core::Bytes header,
                                    core::Bytes payload, ibv_send_wr& request, Flight::Kind kind,
                                    core::Token token) noexcept {
  if (!has_credit(link)) return core::Post::retry();
  Flight* const flight = requests_.begin(link, kind, token);
  if (flight == nullptr) return core::Post::retry();
  const PacketHead head{link.taken, what};
  const std::size_t bytes = sizeof head + header.size() + payload.size();
  alignas(8) std::byte room[Burst::kMostBytes];
  std::byte* at = room;
  ibv_sge piece{0, static_cast<std::uint32_t>(bytes), 0};
  if (bytes <= requests_.inline_bytes()) {
    request.send_flags |= IBV_SEND_INLINE;
  } else {
    at = flight->slot = buffers_.slots().take();
    if (at == nullptr) {
      requests_.undo(link);
      return core::Post::retry();
    }
    piece.lkey = buffers_.slots().key();
  }
  std::memcpy(at, &head, sizeof head);
  if (!header.empty()) std::memcpy(at + sizeof head, header.data(), header.size());
  if (!payload.empty()) std::memcpy(at + sizeof head + header.size(), payload.data(), payload.size());
  piece.addr = reinterpret_cast<std::uint64_t>(at);
  request.sg_list = &piece;
  request.num_sge = 1;
  flight->bytes = piece.length;
  const core::Post post =
      requests_.launch(link, request, flight->slot != nullptr || kind != Flight::Kind::packet);
  if (post.kind == core::Post::Kind::posted) {
    ++link.sent;
    link.told = head.consumed;
  }
  return post;
}

core::Post IbvConduit::send(Rank to, core::Bytes header, core::Bytes payload, core::Token) noexcept {
  if (to == env_.me) return to_self_.packet(header, payload) ? core::Post::done() : core::Post::retry();
  Link* const link = reach(to);
  if (link == nullptr) [[unlikely]]
    return losses_.no_connection(to);
  if (!bounced_.empty() && bounced_.has(to)) [[unlikely]]
    return core::Post::retry();  // it would overtake them
  ibv_send_wr request{};
  request.opcode = IBV_WR_SEND;
  const core::Post post =
      send_message(*link, PacketHead::Kind::packet, header, payload, request, Flight::Kind::packet, 0);
  return post.kind == core::Post::Kind::posted ? core::Post::done() : post;
}

void IbvConduit::give_credits(Link& link) noexcept {
  if (link.ready && requests_.write_number(link, link.cell, link.cell_key, link.taken)) {
    link.told = link.taken;
  } else if (link.pair != nullptr) {
    owe(link);
  }
}

void IbvConduit::owe(Link& link) noexcept {
  if (!std::exchange(link.owing, true)) owing_.push_back(&link);
}

}  // namespace aqueduct::conduits::ibv
