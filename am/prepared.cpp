#include "am/prepared.hpp"

#include "am/messages.hpp"
#include "core/entry.hpp"
#include "core/mapping.hpp"
#include "core/refuse.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace aqueduct {

namespace am {

PreparedPool::PreparedPool(std::size_t count, std::size_t bytes)
    : bytes_(bytes), all_(count + 2), buffers_(count + 2) {
  free_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) free_.push_back(&all_[i]);
}

detail::Prepared* PreparedPool::take(For who) noexcept {
  if (who == For::reply && std::exchange(reply_free_, false)) return &all_.back();
  if (free_.empty()) {
    const bool has_one = who == For::parallel_reply && std::exchange(parallel_reply_free_, false);
    return has_one ? &all_[all_.size() - 2] : nullptr;
  }
  detail::Prepared* prepared = free_.back();
  free_.pop_back();
  return prepared;
}

void PreparedPool::lend_buffer(detail::Prepared& prepared, std::size_t bytes) {
  auto& buffer = buffers_[static_cast<std::size_t>(&prepared - all_.data())];
  if (buffer.size() < bytes_) buffer.resize(bytes_);
  prepared.buffer = {buffer.data(), bytes};
}

void PreparedPool::give_back(detail::Prepared& prepared) noexcept {
  prepared = {};
  if (&prepared == &all_.back()) {
    reply_free_ = true;
  } else if (&prepared == &all_[all_.size() - 2]) {
    parallel_reply_free_ = true;
  } else {
    free_.push_back(&prepared);
  }
}

}  // namespace am

namespace {

using detail::EndpointState;
using detail::Prepared;

struct PrepareCall {
  Rank to;
  bool is_long = false;
  bool has_place = false;
  bool is_reply = false;
  bool immediate = false;
  GlobalPtr<std::byte> place = {};
};

detail::Args words_of(std::span<const std::uint32_t> words) noexcept {
  return {words.data(), static_cast<std::uint16_t>(words.size_bytes()), 0};
}

/// The bounds contradict each other, or the caller's buffer is too short for them.
[[gnu::cold]] Status refuse_bounds(EndpointState& state, Rank to, const PayloadBounds& bounds) noexcept {
  if (!core::names_refusal(state)) return {ErrorCode::invalid_argument, to};
  if (bounds.least > bounds.most)
    state.log.error("a prepared payload for rank {}: its least size, {} bytes, is above its largest, {}", to,
                    bounds.least, bounds.most);
  else
    state.log.error(
        "a prepared payload for rank {}: its least size is {} bytes, and the caller's buffer has {}", to,
        bounds.least, bounds.own.size());
  return {ErrorCode::invalid_argument, to};
}

/// All buffers are in use. The caller may still send a plain message, so this is a warning.
[[gnu::cold]] Status refuse_exhausted(EndpointState& state, Rank to) noexcept {
  if (state.messages->prepared().names_exhaustion())
    state.log.warn(
        "a prepared payload for rank {} was refused: all {} of them are in use (AQUEDUCT_PREPARED). Commit "
        "or "
        "cancel one, send a plain message, or raise the setting. Further refusals are not named",
        to, state.config.number("prepared"));
  return {ErrorCode::refused, to};
}

/// More bytes are to be sent than were prepared.
[[gnu::cold]] Status refuse_used(EndpointState& state, const Prepared& prepared, std::size_t used) noexcept {
  if (core::names_refusal(state))
    state.log.error("a prepared payload for rank {} is sent with {} bytes, and has room for {} (size())",
                    prepared.to, used, prepared.size);
  return ErrorCode::too_large;
}

Result<Prepared*> prepare_room(EndpointState& state, const PrepareCall& call,
                               const PayloadBounds& bounds) noexcept try {
  const core::Entry entry(state);
  const Rank to = call.to;
  if (to >= state.face.ranks()) return core::refuse_rank(state, to);
  if (state.lost[to]) return {ErrorCode::peer_lost, to};
  const bool is_own = bounds.own.data() != nullptr;
  if (bounds.least > bounds.most || (is_own && bounds.own.size() < bounds.least))
    return refuse_bounds(state, to, bounds);
  std::size_t most = is_own ? std::min(bounds.most, bounds.own.size()) : bounds.most;
  std::byte* there = nullptr;
  if (call.has_place) {
    auto part = state.segments.check(call.place, bounds.least);
    if (!part) return core::refuse_place(state, call.place, bounds.least, part.status());
    most = static_cast<std::size_t>(std::min<std::uint64_t>(most, (*part)->bytes - call.place.offset()));
    there = core::find_mapped(state, call.place, most);
  }
  am::PreparedPool& pool = state.messages->prepared();
  // Without a limit: where the target is mapped, and a request from the caller's buffer, which may travel as a put.
  const bool unlimited = there != nullptr || (is_own && call.is_long && !call.is_reply);
  if (!unlimited)
    most = std::min({most, pool.buffer_bytes(), state.messages->room(to, call.is_long, am::kMaxArgs)});
  if (most < bounds.least) return state.messages->refuse_size("a prepared message", to, bounds.least, most);
  using For = am::PreparedPool::For;
  const For who = !call.is_reply                       ? For::request
                  : state.guard.runs_handler_outside() ? For::parallel_reply
                                                       : For::reply;
  Prepared* prepared = pool.take(who);
  if (prepared == nullptr) return refuse_exhausted(state, to);
  prepared->to = to;
  prepared->place = call.place;
  prepared->size = most;
  prepared->is_long = call.is_long;
  prepared->has_place = call.has_place;
  prepared->is_reply = call.is_reply;
  prepared->immediate = call.immediate;
  if (is_own) {
    prepared->own = bounds.own.data();
  } else if (there != nullptr) {
    prepared->buffer = {there, most};
  } else {
    try {
      pool.lend_buffer(*prepared, most);
    } catch (...) {
      pool.give_back(*prepared);
      throw;
    }
  }
  return prepared;
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

/// Checks what is common to both commits, and finds the payload.
Status find_payload(EndpointState& state, const Prepared& prepared, std::size_t used,
                    detail::Bytes& payload) noexcept {
  if (used > prepared.size) [[unlikely]]
    return refuse_used(state, prepared, used);
  if (prepared.is_long && !prepared.has_place) return ErrorCode::invalid_argument;
  payload = {prepared.own != nullptr ? prepared.own : prepared.buffer.data(), used};
  return {};
}

Result<PreparedPayload> prepare_request(Endpoint& ep, const PrepareCall& call,
                                        const PayloadBounds& bounds) noexcept {
  auto prepared = prepare_room(ep.state(), call, bounds);
  if (!prepared) return prepared.status();
  return PreparedPayload(ep, *prepared, call.is_long);
}

Result<PreparedReply> prepare_reply(detail::Incoming& incoming, std::uint32_t space, PrepareCall call,
                                    const PayloadBounds& bounds) noexcept {
  if (!incoming.is_request || incoming.replied) return ErrorCode::invalid_argument;
  if (call.has_place && call.place.rank() != incoming.source) return ErrorCode::invalid_argument;
  call.to = incoming.source;
  call.is_reply = true;
  auto prepared = prepare_room(incoming.state, call, bounds);
  if (!prepared) return prepared.status();
  return PreparedReply(incoming.state.face, *prepared, call.is_long, incoming, space);
}

constexpr PrepareCall medium_to(Rank to) noexcept { return {to}; }
constexpr PrepareCall long_to(Rank to) noexcept { return {.to = to, .is_long = true}; }
constexpr PrepareCall long_at(GlobalPtr<std::byte> place) noexcept {
  return {.to = place.rank(), .is_long = true, .has_place = true, .place = place};
}
constexpr PrepareCall with(PrepareCall call, const AmOptions& options) noexcept {
  call.immediate = options.immediate;
  return call;
}

}  // namespace

namespace detail {

std::size_t room_of(const Prepared& prepared) noexcept { return prepared.size; }
MutableBytes buffer_of(Prepared& prepared) noexcept { return prepared.buffer; }

Status set_place(Endpoint& ep, Prepared& prepared, GlobalPtr<std::byte> place) noexcept {
  const core::Entry entry(ep.state());
  if (!prepared.is_long || prepared.has_place || place.rank() != prepared.to)
    return ErrorCode::invalid_argument;
  prepared.place = place;
  prepared.has_place = true;
  return {};
}

Status commit(Endpoint& ep, Prepared& prepared, AmCategory category, HandlerId handler, Args args,
              std::size_t used, const AmOptions& options) noexcept {
  const core::Entry entry(ep.state());
  Bytes payload;
  if (const Status status = find_payload(ep.state(), prepared, used, payload); !status) return status;
  AmOptions with_both = options;
  with_both.immediate = options.immediate || prepared.immediate;
  // A lent buffer goes back when this returns, so this waits until it is free.
  if (prepared.own == nullptr) {
    with_both.group = nullptr;
    if (options.source_event != nullptr) *std::exchange(with_both.source_event, nullptr) = Event{};
  }
  return send_request(ep, prepared.to, category, handler, args, payload, prepared.place, with_both);
}

Status commit_reply(Incoming& incoming, Prepared& prepared, AmCategory category, HandlerId handler, Args args,
                    std::size_t used) noexcept {
  Bytes payload;
  if (const Status status = find_payload(incoming.state, prepared, used, payload); !status) return status;
  return send_reply(incoming, category, handler, args, payload, prepared.place);
}

void PreparedRelease::operator()(Prepared* prepared) const noexcept {
  auto& state = ep->state();
  const core::Entry entry(state);
  state.messages->prepared().give_back(*prepared);
}

}  // namespace detail

Result<PreparedPayload> prepare_medium(Endpoint& ep, Rank to, const PayloadBounds& bounds,
                                       const AmOptions& options) noexcept {
  return prepare_request(ep, with(medium_to(to), options), bounds);
}

Result<PreparedPayload> prepare_long(Endpoint& ep, GlobalPtr<std::byte> to, const PayloadBounds& bounds,
                                     const AmOptions& options) noexcept {
  return prepare_request(ep, with(long_at(to), options), bounds);
}

Result<PreparedPayload> prepare_long(Endpoint& ep, Rank to, const PayloadBounds& bounds,
                                     const AmOptions& options) noexcept {
  return prepare_request(ep, with(long_to(to), options), bounds);
}

Result<PreparedPayload> prepare_medium(Endpoint& ep, Rank to, std::size_t bytes,
                                       const AmOptions& options) noexcept {
  return prepare_medium(ep, to, PayloadBounds{bytes, bytes}, options);
}

Result<PreparedPayload> prepare_long(Endpoint& ep, GlobalPtr<std::byte> to, std::size_t bytes,
                                     const AmOptions& options) noexcept {
  return prepare_long(ep, to, PayloadBounds{bytes, bytes}, options);
}

Status PreparedPayload::commit_plain(HandlerId handler, std::span<const std::uint32_t> args, std::size_t used,
                                     const AmOptions& options) noexcept {
  if (args.size_bytes() > am::kMaxArgs) [[unlikely]]
    return ep_->state().messages->refuse_words("a prepared plain request", kNoRank, args.size());
  return send(false, category(), handler, words_of(args), used, options);
}

Status PreparedReply::commit_plain(HandlerId handler, std::span<const std::uint32_t> args,
                                   std::size_t used) noexcept {
  if (args.size_bytes() > am::kMaxArgs) [[unlikely]]
    return ep_->state().messages->refuse_words("a prepared plain reply", kNoRank, args.size());
  return send(false, handler, words_of(args), used);
}

Result<PreparedReply> RequestContext::prepare_medium(const PayloadBounds& bounds) noexcept {
  return prepare_reply(*incoming_, 0, medium_to(kNoRank), bounds);
}

Result<PreparedReply> RequestContext::prepare_long(const PayloadBounds& bounds) noexcept {
  return prepare_reply(*incoming_, 0, long_to(kNoRank), bounds);
}

Result<PreparedReply> RequestContext::prepare_long(GlobalPtr<std::byte> to,
                                                   const PayloadBounds& bounds) noexcept {
  return prepare_reply(*incoming_, 0, long_at(to), bounds);
}

Result<PreparedReply> RawContext::prepare_medium(const PayloadBounds& bounds) noexcept {
  return prepare_reply(*incoming_, space_, medium_to(kNoRank), bounds);
}

Result<PreparedReply> RawContext::prepare_long(const PayloadBounds& bounds) noexcept {
  return prepare_reply(*incoming_, space_, long_to(kNoRank), bounds);
}

Result<PreparedReply> RawContext::prepare_long(GlobalPtr<std::byte> to,
                                               const PayloadBounds& bounds) noexcept {
  return prepare_reply(*incoming_, space_, long_at(to), bounds);
}

}  // namespace aqueduct
