#include "am/messages.hpp"

#include "core/refuse.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace aqueduct::am {
namespace {

std::size_t largest_packet(const EndpointState& state) noexcept {
  std::size_t most = 0;
  if (state.near) most = std::max(most, state.near->properties().max_packet);
  if (state.far) most = std::max(most, state.far->properties().max_packet);
  return most;
}

}  // namespace

std::uint32_t Messages::choose_credits(const Config& config, Rank ranks) noexcept {
  if (const auto wanted = config.number("credits"); wanted > 0) return static_cast<std::uint32_t>(wanted);
  if (ranks <= 16) return 64;
  if (ranks <= 64) return 32;
  return ranks <= 1024 ? 16 : 4;
}

Messages::Messages(EndpointState& state)
    : EndpointInbox(state),
      handlers_(kFirstUserHandler + static_cast<std::size_t>(state.config.number("handlers"))),
      peers_(state.ranks),
      credits_per_peer_(choose_credits(state.config, state.ranks)),
      outbox_(std::size_t{state.ranks} * credits_per_peer_, largest_packet(state) + core::kMostHeader),
      prepared_(static_cast<std::size_t>(state.config.number("prepared")), largest_packet(state)),
      parallel_(state),
      patience_(state.ranks),
      busy_(state.busy) {
  for (Rank rank = 0; rank < state.ranks; ++rank) {
    Peer& peer = peers_[rank];
    peer.conduit = state.conduit_of[rank];
    peer.credits = static_cast<std::uint16_t>(credits_per_peer_);
    peer.copies = peer.conduit->properties().copies;
    peer.in_order = peer.conduit->properties().send_before_send;
    peer.return_at = static_cast<std::uint16_t>((credits_per_peer_ + 1) / 2);
    peer.room = static_cast<std::uint32_t>(room(rank, false, kMaxArgs));
    peer.quick = peer.copies ? peer.room : 0;
  }
  returns_due_.reserve(state.ranks);
  returns_now_.reserve(state.ranks);
  add_credit_returns();
  const Statistics& counts = state.statistics;
  state.add_statistics({{"packets_sent", "packets", &counts.packets_sent},
                        {"packets_received", "packets", &counts.packets_received},
                        {"payload_bytes_sent", "bytes", &counts.payload_bytes_sent},
                        {"retries", "packets", &counts.retries},
                        {"deferred", "replies", &counts.deferred},
                        {"handlers_run", "calls", &counts.handlers_run},
                        {"rejected", "packets", &counts.rejected}});
}

Messages::~Messages() = default;

void Messages::add_internal(HandlerId id, AmCategory category, std::uint16_t args_bytes,
                            Callback callback) noexcept {
  if (id >= kFirstUserHandler || handlers_[id].key != 0) {
    state_.log.error("handler {} of the library's own is {}: this is a bug in Aqueduct, please report it", id,
                     id >= kFirstUserHandler ? "beyond those that layers may have" : "taken already");
    layers_problem_ = ErrorCode::internal;
    return;
  }
  handlers_[id] = {key_of(category, args_bytes, 0), std::move(callback)};
}

HandlerId Messages::add_internal(AmCategory category, std::uint16_t args_bytes, Callback callback) noexcept {
  const HandlerId id = next_dealt_;
  if (id < kFirstUserHandler) ++next_dealt_;  // beyond the last one the registration fails
  add_internal(id, category, args_bytes, std::move(callback));
  return id;
}

Result<HandlerId> Messages::add(AmCategory category, std::uint16_t args_bytes, std::uint16_t signature,
                                Callback callback, const HandlerOptions& options) noexcept try {
  if (state_.in_child()) return ErrorCode::invalid_argument;
  if (state_.in_handler) return ErrorCode::in_handler;
  if (next_user_ >= handlers_.size()) {
    state_.log.error("no room for another handler: AQUEDUCT_HANDLERS is {}; raise it",
                     state_.config.number("handlers"));
    return ErrorCode::refused;
  }
  // With one thread there is nothing to run beside.
  if (options.parallel && state_.guard.shared())
    callback = parallel_.queue_for(std::move(callback), args_bytes, is_long(category));
  handlers_[next_user_] = {key_of(category, args_bytes, signature), std::move(callback)};
  return static_cast<HandlerId>(next_user_++);
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

std::size_t Messages::room(Rank peer, bool with_target, std::size_t args_bytes) const noexcept {
  const std::size_t head = padded(sizeof(PacketHeader) + (with_target ? sizeof(LongTarget) : 0) + args_bytes);
  return state_.conduit_of[peer]->properties().max_packet - head;
}

void Messages::reject(Rank from, Bytes packet, std::string_view why) noexcept {
  ++state_.statistics.rejected;
  PacketHeader header{};
  if (packet.size() >= sizeof header) std::memcpy(&header, packet.data(), sizeof header);
  if (header.raw != 0) {
    const RawSpace* const space = raw_spaces_.find(raw_space(header));
    state_.log.error(
        "a raw message from rank {} for number {} of the handler space {} (category {}, {} bytes of words, "
        "tag "
        "{}) was dropped: {}. The sender is not told. Create the space and register the number on this rank "
        "before the first message",
        from, raw_number(header), space != nullptr ? std::string_view(space->name) : "without a name here",
        static_cast<int>(header.category), header.args_bytes, raw_tag(header), why);
    return;
  }
  state_.log.error(
      "a message from rank {} for handler {} (category {}, {} bytes of arguments) was dropped: {}. The "
      "sender is "
      "not told",
      from, header.handler, static_cast<int>(header.category), header.args_bytes, why);
}

Status Messages::refuse_null(const char* what, Rank to, std::size_t bytes) noexcept {
  state_.log.error("{} to rank {}: a null pointer to a payload of {} bytes", what, to, bytes);
  return {ErrorCode::invalid_argument, to};
}

Status Messages::refuse_handler(AmCategory category, HandlerId handler, const Args& args) noexcept {
  constexpr const char* kNames[] = {"short request", "medium request", "long request",
                                    "short reply",   "medium reply",   "long reply"};
  const auto number = static_cast<std::size_t>(category);
  if (!core::names_refusal(state_)) return ErrorCode::wrong_handler;
  const bool exists = handler < handlers_.size() && handlers_[handler].key != 0;
  state_.log.error("a {} with {} bytes of arguments to handler {}: {}",
                   number < std::size(kNames) ? kNames[number] : "message", args.bytes, handler,
                   exists ? "it was registered here for another category or argument struct"
                          : "no handler is registered here under this number");
  return ErrorCode::wrong_handler;
}

Status Messages::refuse_size(const char* what, Rank to, std::size_t bytes, std::size_t limit) noexcept {
  if (core::names_refusal(state_))
    state_.log.error("{} to rank {}: a payload of {} bytes; the limit is {} (am_limits)", what, to, bytes,
                     limit);
  return {ErrorCode::too_large, to};
}

Status Messages::refuse_words(const char* what, Rank to, std::size_t words) noexcept {
  constexpr std::size_t kWords = kMaxArgs / sizeof(std::uint32_t);
  if (!core::names_refusal(state_)) return ErrorCode::too_large;
  if (to == kNoRank)
    state_.log.error("{} with {} words of arguments; the limit is {} (am_limits). Put more into the payload",
                     what, words, kWords);
  else
    state_.log.error(
        "{} to rank {} with {} words of arguments; the limit is {} (am_limits). Put more into the payload",
        what, to, words, kWords);
  return ErrorCode::too_large;
}

void Messages::advance() noexcept {
  if (!returns_due_.empty()) {
    returns_now_.swap(returns_due_);
    for (Rank peer : returns_now_) {
      if (peers_[peer].owed != 0 && !state_.lost[peer]) return_credits(peer);
      if (peers_[peer].owed == 0) patience_[peer].begin_again();
    }
    returns_now_.clear();
  }
  send_kept();
  look_busy();
}

void Messages::send_kept() noexcept {
  auto& waiting = outbox_.waiting();
  if (waiting.empty()) return;
  // One attempt for each reply. After the first retry of a peer its other
  // replies are skipped; the replies to other peers are still sent.
  ++pass_;
  std::size_t kept = 0;
  for (const std::uint32_t place : waiting) {
    const Rank to = outbox_[place].to;
    Peer& peer = peers_[to];
    if (peer.full_at != pass_) {
      const Bytes payload = outbox_.payload(place);
      // Only a lent payload occupies its place until its completion. The place of another reply is free at once: the
      // requester may have the reply, and use the returned credit, before the completion comes.
      const bool lent = outbox_[place].owes;
      const Token token = lent ? core::tokens::of_kept(place) : core::tokens::kNobody;
      const Post post = send_or_later(*peer.conduit, to, outbox_.head(place), payload, token);
      count_sent(post, payload.size(), token);
      if (post.kind != Post::Kind::retry) {
        patience_[to].begin_again();
        if (!lent || post.kind != Post::Kind::posted) free_place(place);
        continue;
      }
      peer.full_at = pass_;
      found_no_room(to, post);
    }
    waiting[kept++] = place;
  }
  waiting.resize(kept);
}

/// Of a reply or of returned credits, which wait for room. To drop them would let the peer wait for ever.
void Messages::found_no_room(Rank to, const Post& refused) noexcept {
  const bool in_flight = state_.ops.in_flight() != 0 || !has_all_credits(to);
  if (patience_[to].is_over(state_, to, refused, in_flight, core::MemoryPatience::Loss::peer)) give_up(to);
}

void Messages::free_place(std::uint32_t place) noexcept {
  const Outbox::Entry entry = outbox_[place];
  outbox_.free(place);
  --peers_[entry.to].kept;
  if (!entry.owes || peers_[entry.to].lost) return;
  if (++peers_[entry.to].owed >= peers_[entry.to].return_at) return_credits(entry.to);
}

void Messages::peer_lost(Rank peer) noexcept {
  peers_[peer].lost = true;
  peers_[peer].credits = 0;
  auto& waiting = outbox_.waiting();
  const auto gone = std::remove_if(waiting.begin(), waiting.end(), [&](std::uint32_t place) {
    if (outbox_[place].to != peer) return false;
    outbox_.free(place);
    --peers_[peer].kept;
    return true;
  });
  waiting.erase(gone, waiting.end());
  look_busy();
}

void Messages::describe(std::string& text, Rank peer) const {
  if (peer < state_.ranks) {
    text += fmt::format("; {} of {} request credits left there", peers_[peer].credits, credits_per_peer_);
  }
  if (!outbox_.waiting().empty())
    text += fmt::format("; {} replies kept back here", outbox_.waiting().size());
  if (const auto& queue = state_.handlers; queue.queued() + queue.running() != 0)
    text += fmt::format("; {} parallel handlers run, and {} messages wait for a thread", queue.running(),
                        queue.queued());
}

}  // namespace aqueduct::am
