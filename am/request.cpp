#include "am/messages.hpp"
#include "core/wait.hpp"

namespace aqueduct {

namespace am {
namespace {

std::string about(std::string_view what, Rank to) {
  return fmt::format("room to send {} to rank {}", what, to);
}

}  // namespace

Status Messages::request(Rank to, AmCategory category, HandlerId handler, const Args& args,
                         const LongTarget* target, Bytes payload, const AmOptions& options) noexcept {
  // Only a conduit that does not copy needs an operation to tell when the payload is free: the caller's own, or
  // one that is waited for here.
  core::Op* op = nullptr;
  bool waits = options.source_event == nullptr;
  if (!payload.empty() && !state_.conduit_of[to]->properties().copies) {
    if (!waits) op = state_.ops.acquire(core::Op::Kind::source, to, true);
    waits = op == nullptr;
    auto place = [&] { return (op = state_.ops.acquire(core::Op::Kind::source, to, false)) != nullptr; };
    if (op == nullptr && !place()) {
      if (options.immediate) return {ErrorCode::refused, to};
      const Status status = core::wait_until(state_, place, to, [&] { return about("an active message", to); });
      if (!status) return status;
    }
    op->by_packets = true;
  }
  Post post = Post::retry();
  const Token token = op != nullptr ? core::OpPool::token(*op) : 0;
  auto sent = [&] {
    if (state_.lost[to]) {
      post = Post::failed(ErrorCode::peer_lost);
      return true;
    }
    post = try_request(to, category, handler, args, target, payload, token);
    return post.kind != Post::Kind::retry;
  };
  Status status;
  if (!sent()) [[unlikely]] {
    status = options.immediate
                 ? Status(ErrorCode::refused, to)
                 : core::wait_until(state_, sent, to, [&] { return about("an active message", to); });
  }
  if (status && post.kind == Post::Kind::failed) status = {post.why, to};
  if (op == nullptr) return status;

  if (status && post.kind == Post::Kind::posted) ++op->parts, ++op->sends;
  state_.ops.part_ended(*op, status);
  if (!status || op->parts == 0) {
    static_cast<void>(state_.ops.collect(*op));
    return status;
  }
  Event source(op);
  if (waits) return state_.face.wait(source);
  *options.source_event = std::move(source);
  return {};
}

}  // namespace am

namespace detail {

Result<HandlerId> register_callback(Endpoint& ep, AmCategory category, std::uint16_t args_bytes,
                                    std::uint16_t signature, Callback callback) noexcept {
  return ep.state().messages->add(category, args_bytes, signature, std::move(callback));
}

Status send_request(Endpoint& ep, Rank to, AmCategory category, HandlerId handler, Args args, Bytes payload,
                    GlobalPtr<std::byte> place, const AmOptions& options) noexcept {
  EndpointState& state = ep.state();
  am::Messages& messages = *state.messages;
  if (to >= state.ranks) [[unlikely]] return ErrorCode::out_of_range;
  if (const Status status = messages.check(category, handler, args); !status) [[unlikely]] return status;
  if (state.polling) [[unlikely]] return ErrorCode::in_handler;
  if (options.source_event != nullptr) *options.source_event = Event{};
  if (am::is_long(category)) return messages.send_long(to, handler, args, payload, place, options);
  if (payload.size() > messages.room(to, false, am::kMaxArgs)) [[unlikely]] return {ErrorCode::too_large, to};
  return messages.request(to, category, handler, args, nullptr, payload, options);
}

Status send_reply(Incoming& incoming, AmCategory category, HandlerId handler, Args args, Bytes payload,
                  GlobalPtr<std::byte> place) noexcept {
  EndpointState& state = incoming.state;
  am::Messages& messages = *state.messages;
  const Rank to = incoming.source;
  if (!incoming.is_request || incoming.replied) return ErrorCode::invalid_argument;
  if (const Status status = messages.check(category, handler, args); !status) return status;
  if (!am::is_long(category)) {
    if (payload.size() > messages.room(to, false, am::kMaxArgs)) return {ErrorCode::too_large, to};
    return messages.reply(incoming, category, handler, args, nullptr, payload);
  }
  if (place.rank() != to) return ErrorCode::invalid_argument;
  if (auto part = state.segments.check(place, payload.size()); !part) return part.status();
  const am::LongTarget target{place.offset(), payload.size(), place.segment(), 0};
  // Where the requester's segment is mapped here, the payload goes there at once and the packet says so.
  if (std::byte* there = state.face.local(place, payload.size()); there != nullptr && !payload.empty()) {
    std::memcpy(there, payload.data(), payload.size());
    return messages.reply(incoming, category, handler, args, &target, {});
  }
  if (payload.size() > messages.room(to, true, am::kMaxArgs)) return {ErrorCode::too_large, to};
  return messages.reply(incoming, category, handler, args, &target, payload);
}

Rank source_of(const Incoming& incoming) noexcept { return incoming.source; }

}  // namespace detail

AmLimits am_limits(Endpoint& ep, Rank peer) noexcept {
  auto& state = ep.state();
  if (peer >= state.ranks) return {};
  const auto& messages = *state.messages;
  const bool mapped = state.face.local(GlobalPtr<std::byte>{peer, 0}, 1) != nullptr;
  return {am::kMaxArgs, messages.room(peer, false, am::kMaxArgs), SIZE_MAX,
          mapped ? SIZE_MAX : messages.room(peer, true, am::kMaxArgs)};
}

}  // namespace aqueduct
