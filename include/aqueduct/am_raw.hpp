#pragma once

#include <aqueduct/am_prepared.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

/// Raw active messages: one function for each number that the caller chooses, for layers with handler tables of their
/// own.
namespace aqueduct {

/// A raw message without its payload: which handler gets it, and what it is told.
struct RawCall {
  std::uint8_t number = 0;
  std::uint16_t tag = 0;                      ///< travels in the header
  std::span<const std::uint32_t> words = {};  ///< at most 16
};

/// Which messages a raw handler takes. All others are rejected.
struct RawAccepts {
  /// The bit of a category, for `categories`.
  static constexpr std::uint8_t bit(AmCategory category) noexcept {
    return static_cast<std::uint8_t>(1u << static_cast<unsigned>(category));
  }
  std::uint8_t categories = 0x3f;  ///< all six
  std::uint8_t least_words = 0;
  std::uint8_t most_words = 16;
};

/// Passed to a raw handler. A request may be replied to once, from its handler; the reply goes to the same space. The
/// replies of RequestContext to plain handlers return wrong_handler.
///
/// Lifetime: the handler's call. The payload of a long message is in this rank's segment and remains.
class RawContext : public RequestContext {
 public:
  RawContext(detail::Incoming& incoming, std::uint32_t space, AmCategory category, const RawCall& call,
             detail::MutableBytes payload) noexcept
      : RequestContext(incoming), space_(space), category_(category), call_(call), payload_(payload) {}

  /// What the sender named: category, number of the handler, tag, and up to 16 words.
  AmCategory category() const noexcept { return category_; }
  bool is_request() const noexcept { return category_ <= AmCategory::long_request; }
  std::uint8_t number() const noexcept { return call_.number; }
  std::uint16_t tag() const noexcept { return call_.tag; }
  std::span<const std::uint32_t> words() const noexcept { return call_.words; }
  /// Empty for a short message. For a long message of 0 bytes, `data()` is the place that the sender has named.
  std::span<std::byte> payload() const noexcept { return payload_; }

  /// Errors of the replies: as RequestContext::reply, and too_large (more than 16 words).
  Status reply_short(const RawCall& call) noexcept;
  Status reply_medium(const RawCall& call, std::span<const std::byte> payload) noexcept;
  /// Puts the payload at `to`, a place on the rank that sent the request.
  Status reply_long(const RawCall& call, std::span<const std::byte> payload,
                    GlobalPtr<std::byte> to) noexcept;
  /// As those of RequestContext; the PreparedReply is sent by `commit_raw`.
  Result<PreparedReply> prepare_medium(const PayloadBounds& bounds) noexcept;
  Result<PreparedReply> prepare_long(const PayloadBounds& bounds) noexcept;
  Result<PreparedReply> prepare_long(GlobalPtr<std::byte> to, const PayloadBounds& bounds) noexcept;

 private:
  std::uint32_t space_;
  AmCategory category_;
  RawCall call_;
  detail::MutableBytes payload_;
};

/// A raw handler in the style of C: `argument` is what `add` was given.
using RawHandler = void (*)(void* argument, RawContext& message);

namespace detail {
struct RawSpace;
}

/// A named space of up to 256 raw handlers of one endpoint. A value: copies name the same space.
///
/// The name alone says which spaces of different ranks belong together: 23 bits of its hash are in every message. So
/// `create` sends nothing, and ranks may create their spaces, and fill them, in any order. A space may have other numbers
/// on another rank: only the target knows which numbers it has. A rank that gets a message for a space or number that
/// it has not got, or that the handler does not accept, drops the message, logs an error and counts it in
/// Statistics::rejected. The sender is not told: its call has returned ok, its credit comes back, and no reply comes.
///
/// Lifetime: the space exists until its endpoint ends.
/// Threads:  as all calls of the endpoint; handlers run inside progress.
class HandlerSpace {
 public:
  /// Creates the space of that name, empty. It may be done at any time before the first message arrives here: a barrier
  /// after registration is enough.
  ///
  /// Errors: invalid_argument (no name, or the endpoint has a space of this name, or of one with the same hash),
  ///         refused (there are 64 spaces), in_handler, no_memory.
  /// Cost:   12 KiB.
  static Result<HandlerSpace> create(Endpoint& ep, std::string_view name) noexcept;

  /// Registers a handler for a number, called as body(RawContext&).
  ///
  /// Errors: invalid_argument (the number has a handler, or `accepts` is empty), in_handler, no_memory.
  template <class F>
  Status add(std::uint8_t number, F body, const RawAccepts& accepts = {},
             const HandlerOptions& options = {}) noexcept {
    static_assert(std::is_invocable_v<F&, RawContext&>, "a raw handler is called as body(RawContext&)");
    F* const held = new (std::nothrow) F(std::move(body));
    if (held == nullptr) return ErrorCode::no_memory;
    return add_held(
        number, [](void* f, RawContext& message) { (*static_cast<F*>(f))(message); }, held,
        [](void* f) { delete static_cast<F*>(f); }, accepts, options);
  }
  /// The same for a function and its argument. Errors: also invalid_argument (null).
  Status add(std::uint8_t number, RawHandler handler, void* argument, const RawAccepts& accepts = {},
             const HandlerOptions& options = {}) noexcept;
  /// Removes a number's handler. Later messages to the number are rejected.
  ///
  /// Completion: no handler of the number runs any more, and what it uses may end. If the handler is parallel, the call
  ///             waits until the messages that have arrived are handled.
  /// Errors: invalid_argument (the number has none), in_handler (also in a continuation, if it would have to wait; the
  ///         handler then stays).
  Status remove(std::uint8_t number) noexcept;
  /// Whether the number has a handler here.
  bool has(std::uint8_t number) const noexcept;

  /// Send a request to the handler that rank `to` has for call.number in its space of this name. In a message to oneself
  /// too, the handler does not run inside the call, but at the next progress.
  ///
  /// Completion: as the forms of `request` (am.hpp).
  /// Errors:     as those; wrong_handler does not occur; too_large also for more than 16 words.
  Status request_short(Rank to, const RawCall& call, const AmOptions& options = {}) const noexcept;
  Status request_medium(Rank to, const RawCall& call, std::span<const std::byte> payload,
                        const AmOptions& options = {}) const noexcept;
  Status request_long(const RawCall& call, std::span<const std::byte> payload, GlobalPtr<std::byte> to,
                      const AmOptions& options = {}) const noexcept;

 private:
  friend class PreparedPayload;
  HandlerSpace(Endpoint& ep, detail::RawSpace& space) noexcept : ep_(&ep), space_(&space) {}
  /// `destroy`, unless it is null, ends the argument: with the handler, or if the call fails.
  Status add_held(std::uint8_t number, RawHandler handler, void* argument, void (*destroy)(void*),
                  const RawAccepts& accepts, const HandlerOptions& options) noexcept;
  Status send(Rank to, AmCategory category, const RawCall& call, detail::Bytes payload,
              GlobalPtr<std::byte> place, const AmOptions& options) const noexcept;

  Endpoint* ep_;
  detail::RawSpace* space_;
};

}  // namespace aqueduct
