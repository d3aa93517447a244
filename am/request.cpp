#include "am/head.hpp"
#include "am/messages.hpp"
#include "am/quickly.hpp"
#include "core/entry.hpp"
#include "core/mapping.hpp"
#include "core/refuse.hpp"
#include "core/source_use.hpp"
#include "core/wait.hpp"

namespace aqueduct {

namespace am {
namespace {

std::string about(std::string_view what, Rank to) {
  return fmt::format("room to send {} to rank {}", what, to);
}

}  // namespace

void Messages::count_sent(const Post& post, std::size_t payload_bytes, Token token) noexcept {
  if (post.kind == Post::Kind::retry) {
    ++state_.statistics.retries;
    return;
  }
  ++state_.statistics.packets_sent;
  state_.statistics.payload_bytes_sent += payload_bytes;
  if (post.kind == Post::Kind::posted) [[unlikely]]
    count_posted(token);
}

Post Messages::try_request(Rank to, AmCategory category, HandlerId handler, const Args& args,
                           const LongTarget* target, Bytes payload, Token token) noexcept {
  Peer& peer = peers_[to];
  if (peer.lost) [[unlikely]]
    return Post::failed(ErrorCode::peer_lost);
  if (peer.credits == 0) [[unlikely]]
    return Post::retry();
  // The packet returns all credits that this rank owes the peer. They count as returned only if the packet leaves.
  Head head({PacketKind::request, category, handler, peer.owed, args.bytes,
             static_cast<std::uint32_t>(payload.size()), args.raw});
  if (target != nullptr) head.append(target, sizeof *target);
  head.append(args.data, args.bytes);
  const Post post = send_or_later(*peer.conduit, to, head.bytes(), payload, token);
  if (post.kind == Post::Kind::done || post.kind == Post::Kind::posted) [[likely]] {
    --peer.credits;
    peer.owed = 0;
  }
  count_sent(post, payload.size(), token);
  return post;
}

/// Whether the conduit has refused a packet for so long, without memory, that it is given up. `own`: the operations of the
/// request itself.
bool Messages::has_no_memory_for(Rank to, const Post& refused, core::MemoryPatience& patience,
                                 std::uint32_t own) noexcept {
  if (peers_[to].credits == 0) {  // the peer has not handled what it got
    patience.begin_again();
    return false;
  }
  return patience.is_over(state_, to, refused, state_.ops.in_flight() > own || !has_all_credits(to));
}

Status Messages::request(Rank to, AmCategory category, HandlerId handler, const Args& args,
                         const LongTarget* target, Bytes payload, const AmOptions& options) noexcept {
  if (state_.order.active()) [[unlikely]] {
    if (const Status status = wait_for_turn(to, options.immediate); !status) return status;
  }
  if (payload.empty() || peers_[to].copies) [[likely]] {
    const Post post = try_request(to, category, handler, args, target, payload, 0);
    if (post.kind == Post::Kind::done || post.kind == Post::Kind::posted) [[likely]]
      return {};
  }
  return request_slowly(to, category, handler, args, target, payload, options);
}

Status Messages::request_slowly(Rank to, AmCategory category, HandlerId handler, const Args& args,
                                const LongTarget* target, Bytes payload, const AmOptions& options) noexcept {
  // If the conduit does not copy the payload, an operation tells when the payload may be reused: the caller's source
  // event, or one for which this call waits.
  core::SourceUse source;
  if (!payload.empty() && !peers_[to].copies) {
    core::GroupRecord* const group =
        options.group != nullptr ? &aqueduct::detail::record_of(*options.group) : nullptr;
    if (group != nullptr && group->state != &state_) return ErrorCode::invalid_argument;
    const Status status = source.take(state_, to, options.source_event, options.immediate, group);
    if (!status) return status;
  }
  Post post = Post::retry();
  const Token token = source.taken() ? core::OpPool::token(*source.op()) : core::tokens::kNobody;
  core::MemoryPatience patience;
  auto sent = [&] {
    post = try_request(to, category, handler, args, target, payload, token);
    if (post.kind == Post::Kind::retry && has_no_memory_for(to, post, patience, source.taken() ? 1 : 0))
      post = Post::failed(ErrorCode::no_memory);
    return post.kind != Post::Kind::retry;
  };
  Status status;
  if (!sent()) [[unlikely]] {
    status = options.immediate
                 ? Status(ErrorCode::refused, to)
                 : core::wait_for_room(state_, sent, to, [&] { return about("an active message", to); });
  }
  if (status && post.kind == Post::Kind::failed) status = {post.why, to};
  if (!source.taken()) return status;

  if (!status) {
    source.give_up(state_, status);
    return status;
  }
  core::Op& op = *source.op();
  // The completion comes in a later poll, never inside `send`, so there is time to count the part that it ends.
  if (post.kind == Post::Kind::posted) ++op.parts, ++op.sends;
  state_.ops.part_ended(op, {});
  return source.hand_over(state_);
}

}  // namespace am

namespace detail {

std::shared_ptr<void> own_callable(void* callable, void (*destroy)(void*)) noexcept try {
  return {callable, destroy};  // without memory it calls `destroy`
} catch (const std::bad_alloc&) {
  return nullptr;
}

Result<HandlerId> register_callback(Endpoint& ep, AmCategory category, std::uint16_t args_bytes,
                                    std::uint16_t signature, Callback callback,
                                    const HandlerOptions& options) noexcept {
  if (callback.callable == nullptr) return ErrorCode::no_memory;
  core::Entry entry(ep.state());
  return ep.state().messages->add(category, args_bytes, signature, std::move(callback), options);
}

Status send_request(Endpoint& ep, Rank to, AmCategory category, HandlerId handler, Args args, Bytes payload,
                    GlobalPtr<std::byte> place, const AmOptions& options) noexcept {
  core::Entry entry(ep.state());
  EndpointState& state = ep.state();
  am::Messages& messages = *state.messages;
  if (to >= ep.ranks()) [[unlikely]]
    return core::refuse_rank(state, to);
  if (!messages.knows(category, handler, args)) [[unlikely]] {
    if (args.raw == 0)  // only the target knows its raw handlers
      return messages.refuse_handler(category, handler, args);
  }
  if (state.polling) [[unlikely]]
    return ErrorCode::in_handler;
  if (options.source_event != nullptr) [[unlikely]]
    *options.source_event = Event{};
  if (payload.data() == nullptr && !payload.empty()) [[unlikely]]
    return messages.refuse_null("a request", to, payload.size());
  if (am::is_long(category)) return messages.send_long(to, handler, args, payload, place, options);
  if (payload.size() > messages.medium_room(to)) [[unlikely]]
    return messages.refuse_size("a medium request", to, payload.size(), messages.medium_room(to));
  return messages.request(to, category, handler, args, nullptr, payload, options);
}

}  // namespace detail

namespace detail {

namespace {

/// send_message on an endpoint that guards itself: the same, within one Entry.
[[gnu::noinline]] bool send_message_guarded(Endpoint& ep, Rank to, MessageName name, std::uint64_t* head,
                                            Bytes payload) noexcept {
  EndpointState& state = ep.state();
  const core::Entry entry(state);
  if (to >= ep.ranks() || state.polling || state.order.active()) [[unlikely]]
    return false;
  return state.messages->request_quickly(to, name, head, payload);
}

}  // namespace

bool send_message(Endpoint& ep, Rank to, MessageName name, std::uint64_t* head, Bytes payload) noexcept {
  EndpointState& state = ep.state();
  if (state.guard.guards()) [[unlikely]]
    return send_message_guarded(ep, to, name, head, payload);
  if (to >= ep.ranks() || state.polling || state.order.active()) [[unlikely]]
    return false;
  return state.messages->request_quickly(to, name, head, payload);
}

}  // namespace detail

AmLimits am_limits(Endpoint& ep, Rank peer) noexcept {
  core::Entry entry(ep.state());
  auto& state = ep.state();
  if (peer >= ep.ranks()) return {};
  const auto& messages = *state.messages;
  const bool mapped = core::find_mapped(state, {peer, 0}, 1) != nullptr;
  return {am::kMaxArgs, messages.medium_room(peer), SIZE_MAX,
          mapped ? SIZE_MAX : messages.room(peer, true, am::kMaxArgs)};
}

}  // namespace aqueduct
