#include "am/messages.hpp"

#include "core/signals.hpp"

#include <algorithm>
#include <cstring>

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
    : state_(state),
      handlers_(kFirstUserHandler + static_cast<std::size_t>(state.config.number("handlers"))),
      peers_(state.ranks),
      credits_per_peer_(choose_credits(state.config, state.ranks)),
      outbox_(std::size_t{state.ranks} * credits_per_peer_, largest_packet(state) + core::kMostHeader),
      prepared_(static_cast<std::size_t>(state.config.number("prepared")), largest_packet(state)) {
  for (Peer& peer : peers_) peer.credits = static_cast<std::uint16_t>(credits_per_peer_);
  thanks_due_.reserve(state.ranks);
  thanks_now_.reserve(state.ranks);
  state.messages = this;
  state.inbox = this;
  state.layers.push_back(this);
}

Messages::~Messages() = default;

void Messages::add_internal(HandlerId id, AmCategory category, std::uint16_t args_bytes,
                            Callback callback) noexcept {
  handlers_[id] = {std::move(callback), category, args_bytes, 0, true};
}

Result<HandlerId> Messages::add(AmCategory category, std::uint16_t args_bytes, std::uint16_t signature,
                                Callback callback) noexcept {
  if (state_.in_handler) return ErrorCode::in_handler;
  if (next_user_ >= handlers_.size()) {
    state_.log.error("no room for another handler: AQUEDUCT_HANDLERS is {}; raise it",
                     state_.config.number("handlers"));
    return ErrorCode::refused;
  }
  handlers_[next_user_] = {std::move(callback), category, args_bytes, signature, true};
  return next_user_++;
}

Status Messages::check(AmCategory category, HandlerId id, const Args& args) const noexcept {
  if (id < handlers_.size()) [[likely]] {
    const Entry& entry = handlers_[id];
    if (entry.used && entry.category == category && entry.args_bytes == args.bytes &&
        entry.signature == args.signature) [[likely]] {
      return {};
    }
  }
  return ErrorCode::wrong_handler;
}

std::size_t Messages::room(Rank peer, bool with_target, std::size_t args_bytes) const noexcept {
  const std::size_t head =
      padded(sizeof(PacketHeader) + (with_target ? sizeof(LongTarget) : 0) + args_bytes);
  return state_.conduit_of[peer]->properties().max_packet - head;
}

std::size_t Messages::put_head(std::byte* head, PacketKind kind, AmCategory category, HandlerId handler,
                               const Args& args, const LongTarget* target, Bytes payload, Rank to) noexcept {
  // A packet gives back whatever credits its receiver is owed.
  const PacketHeader header{kind, category, handler, std::exchange(peers_[to].owed, std::uint16_t{0}),
                            args.bytes, static_cast<std::uint32_t>(payload.size()), 0};
  std::memcpy(head, &header, sizeof header);
  std::size_t bytes = sizeof header;
  if (target != nullptr) {
    std::memcpy(head + bytes, target, sizeof *target);
    bytes += sizeof *target;
  }
  std::memcpy(head + bytes, args.data, args.bytes);
  bytes += args.bytes;
  if (payload.empty()) return bytes;
  const std::size_t end = padded(bytes);
  std::memset(head + bytes, 0, end - bytes);
  return end;
}

Post Messages::send(Rank to, Bytes head, Bytes payload, Token token) noexcept {
  const Post post = state_.conduit_of[to]->send(to, head, payload, token);
  if (post.kind == Post::Kind::retry) {
    ++state_.statistics.retries;
  } else {
    ++state_.statistics.packets_sent;
    state_.statistics.payload_bytes_sent += payload.size();
    if (post.kind == Post::Kind::posted && (token == 0 || (token & kOutboxToken) != 0)) ++posted_;
  }
  return post;
}

Post Messages::try_request(Rank to, AmCategory category, HandlerId handler, const Args& args,
                           const LongTarget* target, Bytes payload, Token token) noexcept {
  Peer& peer = peers_[to];
  if (peer.credits == 0) return Post::retry();
  if (state_.lost[to]) [[unlikely]] return Post::failed(ErrorCode::peer_lost);
  alignas(8) std::byte head[kMaxHead];
  const std::uint16_t owed = peer.owed;
  const std::size_t bytes =
      put_head(head, PacketKind::request, category, handler, args, target, payload, to);
  const Post post = send(to, {head, bytes}, payload, token);
  if (post.kind == Post::Kind::retry || post.kind == Post::Kind::failed) [[unlikely]] {
    peer.owed = owed;
  } else {
    --peer.credits;
  }
  return post;
}

Status Messages::reply(Incoming& incoming, AmCategory category, HandlerId handler, const Args& args,
                       const LongTarget* target, Bytes payload) noexcept {
  const Rank to = incoming.source;
  incoming.replied = true;
  if (state_.lost[to]) [[unlikely]] return {ErrorCode::peer_lost, to};
  Peer& peer = peers_[to];
  ++peer.owed;  // the credit of the request that this answers
  alignas(8) std::byte head[kMaxHead];
  const std::size_t bytes = put_head(head, PacketKind::reply, category, handler, args, target, payload, to);
  const bool copies = payload.empty() || state_.conduit_of[to]->properties().copies;
  if (copies) {
    const Post post = send(to, {head, bytes}, payload, 0);
    if (post.kind == Post::Kind::failed) return {post.why, to};
    if (post.kind != Post::Kind::retry) return {};
  }
  const std::uint32_t place = outbox_.keep(to, {head, bytes}, payload);
  ++state_.statistics.deferred;
  outbox_.waiting().push_back(place);
  ++state_.busy;
  return {};
}

// Gives a peer its credits back, in a packet of their own, when nothing else is going there.
void Messages::thank(Rank to) noexcept {
  alignas(8) std::byte head[kMaxHead];
  const std::uint16_t owed = peers_[to].owed;
  const std::size_t bytes = put_head(head, PacketKind::credits, AmCategory::short_reply, 0, {nullptr, 0, 0},
                                     nullptr, {}, to);
  if (send(to, {head, bytes}, {}, 0).kind != Post::Kind::retry) return;
  peers_[to].owed = owed;
  if (std::find(thanks_due_.begin(), thanks_due_.end(), to) == thanks_due_.end()) {
    thanks_due_.push_back(to);
    ++state_.busy;
  }
}

void Messages::packet(Rank from, Bytes packet) noexcept {
  ++state_.statistics.packets_received;
  PacketHeader header;
  if (packet.size() < sizeof header) [[unlikely]] {
    reject(from, {}, "it is shorter than a header");
    return;
  }
  std::memcpy(&header, packet.data(), sizeof header);
  if (header.credits != 0) {
    const std::uint32_t now = peers_[from].credits + std::uint32_t{header.credits};
    peers_[from].credits = static_cast<std::uint16_t>(std::min(now, credits_per_peer_));
  }
  if (header.kind == PacketKind::credits) return;
  dispatch(from, header, packet);
}

void Messages::dispatch(Rank from, const PacketHeader& header, Bytes packet) noexcept {
  const bool request = header.kind == PacketKind::request;
  Incoming incoming{state_, from, request};
  if (header.handler >= handlers_.size() || !handlers_[header.handler].used) [[unlikely]] {
    reject(from, header, "no such handler is registered here");
  } else if (const Entry& entry = handlers_[header.handler];
             entry.category != header.category || entry.args_bytes != header.args_bytes ||
             is_request(entry.category) != request) [[unlikely]] {
    reject(from, header, "the handler registered here under that number is of another category or argument size");
  } else {
    std::size_t at = sizeof header;
    const bool with_target = is_long(header.category);
    const std::size_t args_at = at + (with_target ? sizeof(LongTarget) : 0);
    const std::size_t args_end = args_at + header.args_bytes;
    const std::size_t payload_at = header.payload_bytes != 0 ? padded(args_end) : args_end;
    if (packet.size() != payload_at + header.payload_bytes) [[unlikely]] {
      reject(from, header, "its lengths do not add up");
      return;
    }
    MutableBytes payload{const_cast<std::byte*>(packet.data()) + payload_at, header.payload_bytes};
    if (with_target) {
      LongTarget target;
      std::memcpy(&target, packet.data() + at, sizeof target);
      const auto part = state_.segments.check({state_.rank, target.offset, target.segment}, target.bytes);
      if (!part || (header.payload_bytes != 0 && header.payload_bytes != target.bytes)) [[unlikely]] {
        reject(from, header, "its target is outside the segment");
        return;
      }
      std::byte* place = state_.segments[target.segment].mine.data() + target.offset;
      if (!payload.empty()) std::memcpy(place, payload.data(), payload.size());
      payload = {place, static_cast<std::size_t>(target.bytes)};
    }
    ++state_.statistics.handlers_run;
    state_.in_handler = true;
    entry.callback.run(entry.callback.callable.get(), incoming, packet.data() + args_at, payload);
    state_.in_handler = false;
  }
  if (!request || incoming.replied) return;
  Peer& peer = peers_[from];
  if (++peer.owed * 2u >= credits_per_peer_) thank(from);
}

void Messages::reject(Rank from, const PacketHeader& header, std::string_view why) noexcept {
  ++state_.statistics.rejected;
  state_.log.error(
      "a message from rank {} for handler {} (category {}, {} bytes of arguments) was dropped: {}. Register "
      "the same handlers in the same order on every rank, before the first message",
      from, header.handler, static_cast<int>(header.category), header.args_bytes, why);
}

void Messages::completed(Token token, Status status) noexcept {
  if (token == 0 || (token & kOutboxToken) != 0) {
    --posted_;
    if (token != 0) outbox_.free(static_cast<std::uint32_t>(token));
    return;
  }
  core::Op* op = state_.ops.find(token);
  if (op == nullptr) return;
  if (op->sends != 0) {  // a packet whose payload was lent to the conduit
    if (--op->sends == 0 && op->begun == op->bytes) state_.ops.source_free(*op, status);
  }
  state_.ops.part_ended(*op, status);
}

void Messages::signalled(Rank, Signal signal) noexcept { core::raise(state_, signal); }

void Messages::lost(Rank peer) noexcept { state_.peer_lost(peer); }

void Messages::advance() noexcept {
  if (!thanks_due_.empty()) {
    thanks_now_.swap(thanks_due_);
    for (Rank peer : thanks_now_) {
      --state_.busy;
      if (peers_[peer].owed != 0 && !state_.lost[peer]) thank(peer);
    }
    thanks_now_.clear();
  }
  auto& waiting = outbox_.waiting();
  if (waiting.empty()) return;
  // Each of the oldest replies gets its chance; a peer without room holds up nobody else's.
  std::size_t kept = 0;
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const std::uint32_t place = waiting[i];
    auto& entry = outbox_[place];
    Post post = Post::retry();
    if (i < 64 || kept < 8) post = send(entry.to, outbox_.head(place), outbox_.payload(place), kOutboxToken | place);
    if (post.kind == Post::Kind::retry) {
      waiting[kept++] = place;
      continue;
    }
    --state_.busy;
    if (post.kind != Post::Kind::posted) outbox_.free(place);
  }
  waiting.resize(kept);
}

void Messages::peer_lost(Rank peer) noexcept {
  auto& waiting = outbox_.waiting();
  const auto gone = std::remove_if(waiting.begin(), waiting.end(), [&](std::uint32_t place) {
    if (outbox_[place].to != peer) return false;
    outbox_.free(place);
    --state_.busy;
    return true;
  });
  waiting.erase(gone, waiting.end());
}

void Messages::describe(std::string& text, Rank peer) const {
  if (peer < state_.ranks) {
    text += fmt::format("; {} of {} request credits left there", peers_[peer].credits, credits_per_peer_);
  }
  if (!outbox_.waiting().empty()) text += fmt::format("; {} replies kept back here", outbox_.waiting().size());
}

}  // namespace aqueduct::am
