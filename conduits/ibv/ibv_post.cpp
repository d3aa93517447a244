#include "conduits/ibv/ibv_conduit.hpp"
#include "conduits/ibv/work_id.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

namespace aqueduct::conduits::ibv {
namespace {

// Chosen: of so many work requests one tells its end, and the end of those before it.
constexpr std::uint32_t kQuiet = 31;

}  // namespace

void IbvConduit::undo(Link& link) noexcept {
  link.flights.undo();
  Flight& flight = link.flights[link.flights.next()];
  buffers_.give_back(flight);
  flight.reads = false;
  ++left_;
}

// Where room is short every one tells its end: what is quiet might hold it for ever.
void IbvConduit::name(Link& link, ibv_send_wr& request, bool tells) noexcept {
  request.wr_id = WorkId::flight(link.peer, link.flights.next() - 1);
  if (tells || ++link.quiet >= std::min(kQuiet, env_.sizes().depth / 4) || left_ < env_.sizes().queue / 2) {
    request.send_flags |= IBV_SEND_SIGNALED;
    link.quiet = 0;
  }
}

// The device has not taken all of a list. If it lacks room for the newest only, there will be room; else the peer is lost.
void IbvConduit::refused(Link& link, int error, const ibv_send_wr* bad) noexcept {
  const bool only_newest = bad != nullptr && WorkId::number(bad->wr_id) == link.flights.next() - 1;
  if (error == ENOMEM && only_newest) return;
  env_.log.error("ibv: rank {}: {} does not take work for rank {}: {}", env_.me, env_.port.device, link.peer,
                 std::strerror(error));
  losses_.suspect(link.peer, std::strerror(error));
}

core::Post IbvConduit::take_back(Link& link) noexcept {
  const bool lost = losses_.is_suspected(link.peer);
  undo(link);
  return lost ? core::Post::failed(losses_.status_of(link.peer).code()) : core::Post::retry();
}

core::Post IbvConduit::launch(Link& link, ibv_send_wr& request, bool tells) noexcept {
  if (must_confirm(link)) [[unlikely]]
    return launch_confirmed(link, request);
  const std::uint32_t quiet = link.quiet;
  const bool leads = burst_.link() == &link && !burst_.empty();
  name(link, request, tells || leads);  // what is held before it has no end of its own
  ibv_send_wr* const first = leads ? burst_.take(&request) : &request;
  if (hand_over(link, first)) [[likely]]
    return core::Post::posted();
  link.quiet = quiet;
  return take_back(link);
}

// What is held goes, with one doorbell; the last tells the end of all.
void IbvConduit::ring() noexcept {
  Link& link = *burst_.link();
  burst_.last().send_flags |= IBV_SEND_SIGNALED;
  link.quiet = 0;
  ibv_send_wr* const first = burst_.take(nullptr);
  // They have been promised: if there is no room although it was counted, nothing can be said for the peer any more.
  if (!hand_over(link, first)) losses_.suspect(link.peer, "the device has no room for what is owed to it");
}

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
  Flight* const flight = begin(link, kind, token);
  if (flight == nullptr) return core::Post::retry();
  const PacketHead head{link.taken, what};
  const std::size_t bytes = sizeof head + header.size() + payload.size();
  alignas(8) std::byte room[Burst::kMostBytes];
  std::byte* at = room;
  ibv_sge piece{0, static_cast<std::uint32_t>(bytes), 0};
  if (bytes <= inline_bytes_) {
    request.send_flags |= IBV_SEND_INLINE;
  } else {
    at = flight->slot = buffers_.slots().take();
    if (at == nullptr) {
      undo(link);
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
  const core::Post post = launch(link, request, flight->slot != nullptr || kind != Flight::Kind::packet);
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

// A write of the conduit's own: of one number to the peer's memory, or of nothing, which shows that the peer is there.
bool IbvConduit::post_own(Link& link, std::uint64_t at, std::uint32_t key, std::uint64_t value,
                          bool has_value) noexcept {
  Flight* const flight = begin(link, Flight::Kind::own, 0);
  if (flight == nullptr) return false;
  ibv_send_wr request{};
  ibv_sge piece{reinterpret_cast<std::uint64_t>(&value), sizeof value, 0};
  request.opcode = IBV_WR_RDMA_WRITE;
  request.wr.rdma = {at, key};
  if (has_value) {
    request.sg_list = &piece;
    request.num_sge = 1;
    if (inline_bytes_ >= sizeof value) {
      request.send_flags = IBV_SEND_INLINE;
    } else {
      flight->slot = buffers_.slots().take();
      if (flight->slot == nullptr) {
        undo(link);
        return false;
      }
      std::memcpy(flight->slot, &value, sizeof value);
      piece = {reinterpret_cast<std::uint64_t>(flight->slot), sizeof value, buffers_.slots().key()};
    }
  }
  return launch(link, request, !has_value || flight->slot != nullptr).kind == core::Post::Kind::posted;
}

void IbvConduit::give_credits(Link& link) noexcept {
  if (link.ready && post_own(link, link.cell, link.cell_key, link.taken, true)) {
    link.told = link.taken;
  } else if (link.pair != nullptr) {
    owe(link);
  }
}

void IbvConduit::owe(Link& link) noexcept {
  if (!std::exchange(link.owing, true)) owing_.push_back(&link);
}

}  // namespace aqueduct::conduits::ibv
