#include <aqueduct/copy_bytes.hpp>

#include "am/head.hpp"
#include "am/messages.hpp"
#include "am/packet_parts.hpp"
#include "am/quickly.hpp"
#include "core/entry.hpp"
#include "core/mapping.hpp"
#include "core/refuse.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

// The receiving side of active messages: packets that arrive, and the replies of their handlers. All of it runs inside
// poll, so nothing here may wait. A handler that runs outside the lock (am/parallel.hpp) is replaced in the table by a
// function that queues the message, so nothing here looks for it.

namespace aqueduct {

namespace am {
namespace {

constexpr const char* kNoHandler =
    "no such handler is registered here: register the same handlers in the same order on every rank, before "
    "the first "
    "message";

}  // namespace

bool Messages::is_for_program(Bytes packet) noexcept {
  PacketHeader header;
  if (packet.size() < sizeof header) return false;
  std::memcpy(&header, packet.data(), sizeof header);
  return header.kind != PacketKind::credits && (header.raw != 0 || header.handler >= kFirstUserHandler);
}

void Messages::packet(Rank from, Bytes packet) noexcept {
  ++state_.statistics.packets_received;
  PacketHeader header;
  if (packet.size() < sizeof header) [[unlikely]]
    return reject(from, packet, "it is shorter than a header");
  std::memcpy(&header, packet.data(), sizeof header);
  take(from, header, InOnePiece{packet});
}

void Messages::packet_in_parts(Rank from, Bytes head, core::MutableBytes payload) noexcept {
  ++state_.statistics.packets_received;
  PacketHeader header;
  if (head.size() < sizeof header) [[unlikely]]
    return reject(from, head, "it is shorter than a header");
  std::memcpy(&header, head.data(), sizeof header);
  take(from, header, InTwoPieces{head, payload});
}

template <class Packet>
[[gnu::always_inline]] inline void Messages::take(Rank from, const PacketHeader& header,
                                                  const Packet& packet) noexcept {
  Peer& peer = peers_[from];
  // A peer that returns more credits than it was given must not raise the bound on what this rank has in flight.
  if (header.credits != 0) {
    const std::uint32_t credits = peer.credits + std::uint32_t{header.credits};
    peer.credits = static_cast<std::uint16_t>(std::min(credits, peer.lost ? 0 : credits_per_peer_));
  }
  if (header.kind == PacketKind::credits) [[unlikely]]
    return;
  Incoming incoming{state_, from, header.kind == PacketKind::request};
  if (const char* why = run_handler(incoming, header, packet)) [[unlikely]]
    reject(from, packet.start(), why);
  // A request without a reply returns its credit too, even if it was rejected: otherwise
  // its sender would run out of credits. The credit travels with the next packet to that
  // peer, or with others in a packet of its own once half of the credits are owed.
  if (!incoming.is_request || incoming.replied) return;
  if (++peer.owed >= peer.return_at) [[unlikely]]
    return_credits(from);
}

/// Runs the message's handler. Checks every number and length of the packet first, since a peer may be faulty. Returns
/// null, or the reason why the message is dropped.
template <class Packet>
[[gnu::always_inline]] inline const char* Messages::run_handler(Incoming& incoming,
                                                                const PacketHeader& header,
                                                                const Packet& packet) noexcept {
  if (header.raw != 0) [[unlikely]]
    return run_raw(incoming, packet);
  if (header.handler >= count_) [[unlikely]]
    return kNoHandler;
  const Entry& entry = handlers_[header.handler];
  if (static_cast<std::uint32_t>(entry.key) != wire_key(header.category, header.args_bytes) ||
      is_request(header.category) != incoming.is_request) [[unlikely]] {
    if (entry.key == 0) return kNoHandler;
    return "the handler registered here under that number is of another category or argument size: register "
           "the same "
           "handlers in the same order on every rank, before the first message";
  }
  PacketParts parts;
  if (const char* why = find_parts(state_, header, packet, parts)) [[unlikely]]
    return why;
  ++state_.statistics.handlers_run;
  state_.in_handler = true;
  entry.callback.run(entry.callback.callable.get(), incoming, parts.args, parts.payload);
  state_.in_handler = false;
  return nullptr;
}

// As the end of `take`. Out of line: the handler ran outside the lock.
void Messages::owe_credit(Rank to) noexcept {
  Peer& peer = peers_[to];
  if (peer.lost) return;
  if (++peer.owed >= peer.return_at) return_credits(to);
}

Status Messages::reply(Incoming& incoming, AmCategory category, HandlerId handler, const Args& args,
                       const LongTarget* target, Bytes payload) noexcept {
  const Rank to = incoming.source;
  Peer& peer = peers_[to];
  incoming.replied = true;
  if (peer.lost) [[unlikely]]
    return {ErrorCode::peer_lost, to};
  // The reply returns the request's credit. There is one exception: the conduit does not copy, so it reads the payload
  // from a place of the outbox, perhaps until after the reply has arrived. The credit then returns when the place is
  // free. Otherwise the requester could have more requests in flight than there are places.
  const bool lends = !payload.empty() && !peer.copies;
  const std::uint16_t owed = std::exchange(peer.owed, std::uint16_t{0});
  Head head({PacketKind::reply, category, handler, static_cast<std::uint16_t>(owed + (lends ? 0 : 1)),
             args.bytes, static_cast<std::uint32_t>(payload.size()), args.raw});
  if (target != nullptr) head.append(target, sizeof *target);
  head.append(args.data, args.bytes);
  if (!lends) [[likely]] {
    const Post post = send_or_later(*peer.conduit, to, head.bytes(), payload, 0);
    count_sent(post, payload.size(), 0);
    if (post.kind == Post::Kind::failed) [[unlikely]]
      return {post.why, to};
    if (post.kind != Post::Kind::retry) [[likely]]
      return {};
  }
  // A handler cannot wait for room in the conduit, so the reply is kept in the outbox. A correct peer always finds a
  // place there: it has no more requests in flight than credits.
  if (peer.kept == credits_per_peer_) [[unlikely]] {
    peer.owed = static_cast<std::uint16_t>(peer.owed + owed);  // from earlier requests
    ++state_.statistics.rejected;
    return {ErrorCode::refused, to};
  }
  ++peer.kept;
  outbox_.waiting().push_back(outbox_.keep(to, head.bytes(), payload, lends));
  ++state_.statistics.deferred;
  look_busy();
  return {};
}

// Returns the owed credits to a peer in a packet of their own. Without it a peer to which this rank sends no other
// packets would run out of credits. If there is no room, `advance` tries again.
void Messages::return_credits(Rank to) noexcept {
  Peer& peer = peers_[to];
  const Head head({PacketKind::credits, AmCategory::short_reply, 0, peer.owed, 0, 0, 0});
  const Post post = send_or_later(*peer.conduit, to, head.bytes(), {}, 0);
  count_sent(post, 0, 0);
  if (post.kind != Post::Kind::retry) [[likely]] {
    peer.owed = 0;
    return;
  }
  found_no_room(to, post);
  if (std::find(returns_due_.begin(), returns_due_.end(), to) == returns_due_.end()) {
    returns_due_.push_back(to);
    look_busy();
  }
}

}  // namespace am

namespace detail {

namespace {

/// send_answer on an endpoint that guards itself: the same, within one Entry.
[[gnu::noinline]] bool send_answer_guarded(Incoming& incoming, MessageName name, std::uint64_t* head,
                                           Bytes payload) noexcept {
  const core::Entry entry(incoming.state);
  return incoming.state.messages->reply_quickly(incoming, name, head, payload);
}

}  // namespace

bool send_answer(Incoming& incoming, MessageName name, std::uint64_t* head, Bytes payload) noexcept {
  EndpointState& state = incoming.state;
  if (state.guard.guards()) [[unlikely]]
    return send_answer_guarded(incoming, name, head, payload);
  return state.messages->reply_quickly(incoming, name, head, payload);
}

Status send_reply(Incoming& incoming, AmCategory category, HandlerId handler, Args args, Bytes payload,
                  GlobalPtr<std::byte> place) noexcept {
  core::Entry entry(incoming.state);
  EndpointState& state = incoming.state;
  am::Messages& messages = *state.messages;
  const Rank to = incoming.source;
  if (!incoming.is_request || incoming.replied) [[unlikely]]
    return ErrorCode::invalid_argument;
  if (incoming.is_raw != (args.raw != 0)) [[unlikely]]
    return ErrorCode::wrong_handler;
  if (!messages.knows(category, handler, args)) [[unlikely]] {
    if (args.raw == 0)  // only the target knows its raw handlers
      return messages.refuse_handler(category, handler, args);
  }
  if (payload.data() == nullptr && !payload.empty()) [[unlikely]]
    return messages.refuse_null("a reply", to, payload.size());
  if (!am::is_long(category)) [[likely]] {
    if (payload.size() > messages.medium_room(to)) [[unlikely]]
      return messages.refuse_size("a medium reply", to, payload.size(), messages.medium_room(to));
    return messages.reply(incoming, category, handler, args, nullptr, payload);
  }
  if (place.rank() != to) return ErrorCode::invalid_argument;
  if (auto part = state.segments.check(place, payload.size()); !part)
    return core::refuse_place(state, place, payload.size(), part.status());
  const am::LongTarget target{place.offset(), payload.size(), place.segment(), 0};
  // If the requester's segment is mapped here, the payload is copied there at once, and the packet has none.
  if (std::byte* there = core::find_mapped(state, place, payload.size());
      there != nullptr && !payload.empty()) {
    // A negotiated payload is there already.
    if (there != payload.data()) copy_bytes(there, payload.data(), payload.size());
    return messages.reply(incoming, category, handler, args, &target, {});
  }
  if (const std::size_t limit = messages.room(to, true, am::kMaxArgs); payload.size() > limit)
    return messages.refuse_size("a long reply", to, payload.size(), limit);
  return messages.reply(incoming, category, handler, args, &target, payload);
}

Rank source_of(const Incoming& incoming) noexcept { return incoming.source; }

}  // namespace detail

}  // namespace aqueduct
