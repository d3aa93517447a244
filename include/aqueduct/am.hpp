#pragma once

#include <aqueduct/rma.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace aqueduct {

/// A short message carries arguments only. A medium message also carries a payload, in a buffer that lives as long as
/// the handler. The payload of a long message is in the target's segment before the handler runs. Only the handler of
/// a request can send a reply.
enum class AmCategory : std::uint8_t {
  short_request,
  medium_request,
  long_request,
  short_reply,
  medium_reply,
  long_reply,
};

/// An argument struct: trivially copyable, at most 64 bytes. It is sent by value; an empty struct adds no bytes.
template <class T>
concept AmArguments = std::is_trivially_copyable_v<T> && sizeof(T) <= 64;

/// For handlers that need no arguments.
struct NoArguments {};

/// Identifies a handler on all ranks: numbers follow the order of registration. The first is not 0.
using HandlerId = std::uint16_t;

/// A registered handler. Its category and its argument struct are part of the type.
template <AmCategory Category, AmArguments Args>
struct Handler {
  HandlerId id = 0;
};
template <class Args>
using ShortRequest = Handler<AmCategory::short_request, Args>;
template <class Args>
using MediumRequest = Handler<AmCategory::medium_request, Args>;
template <class Args>
using LongRequest = Handler<AmCategory::long_request, Args>;
template <class Args>
using ShortReply = Handler<AmCategory::short_reply, Args>;
template <class Args>
using MediumReply = Handler<AmCategory::medium_reply, Args>;
template <class Args>
using LongReply = Handler<AmCategory::long_reply, Args>;

struct AmOptions {
  /// Returns `refused` instead of waiting for room.
  bool immediate = false;
  /// Null: the payload buffer may be reused when the call returns, or as `group` says. Otherwise the call stores an Event
  /// here, which is done when the buffer may be reused. A long request then does not wait for its payload: see `request`.
  Event* source_event = nullptr;
  /// Without a source_event: the group that the message joins until its payload's buffer may be reused. The buffer may
  /// be reused once Group::source_done().
  Group* group = nullptr;
};

/// How a handler runs. Each rank chooses for itself.
struct HandlerOptions {
  /// With Threads::multiple: the handler runs without the endpoint's lock, on whichever thread makes progress, beside other
  /// calls and other handlers, also beside itself. Several of its messages are handled at once if several threads of the
  /// rank are in `progress` or in waits. In the other modes it changes nothing.
  ///
  /// The rules for handlers hold on the thread that runs it, and there only: `in_handler()` is true, `progress` does
  /// nothing, requests and waits return in_handler; it may reply once. The handler guards its own data. It may wait for
  /// other parallel handlers and for other threads of its program, for example at a mutex, as long as no thread that holds
  /// the mutex makes progress: that thread might run this handler, and would then wait for itself.
  ///
  /// Parallel handlers are in no order, even if the network keeps messages in order or a fence stands between two messages;
  /// and the call in which a message arrives may return before its handler has, which another thread runs.
  /// docs/threading.md has the rest.
  ///
  /// Lifetime: the payload until the handler returns, as always. It is a copy; that of a long message is in the segment.
  /// Cost:     per message a copy of its payload, and the lock once more; a thread that waits is woken to poll.
  bool parallel = false;
};

/// The largest messages that one peer can be sent. Units: bytes.
struct AmLimits {
  std::size_t arguments;     ///< size of an argument struct, or 4 × the number of plain arguments
  std::size_t medium;        ///< request or reply
  std::size_t long_request;  ///< SIZE_MAX: only the size of the target's segment limits it
  std::size_t long_reply;    ///< one packet, or SIZE_MAX where the requester's segment is mapped here
};
/// The limits of messages to `peer`; all zero if there is no such rank. Sends nothing, so no call tells the least limits of
/// the job: a rank takes the least over its peers, and an all-reduce (ReduceOp::min) of these is that of all ranks.
AmLimits am_limits(Endpoint& ep, Rank peer) noexcept;

namespace detail {

struct Incoming;  // am/incoming.hpp: the packet being handled

/// A 16-bit hash of an argument struct's size and name, by which ranks notice handlers that differ. Never 0.
template <class T>
constexpr std::uint16_t signature() noexcept {
  std::uint32_t hash = 2166136261u ^ static_cast<std::uint32_t>(std::is_empty_v<T> ? 0 : sizeof(T));
  for (const char* c = __PRETTY_FUNCTION__; *c != 0; ++c) {
    hash = (hash ^ static_cast<unsigned char>(*c)) * 16777619u;
  }
  const auto folded = static_cast<std::uint16_t>(hash ^ (hash >> 16));
  return folded == 0 ? std::uint16_t{1} : folded;  // 0 is the plain form
}

struct Args {
  const void* data;
  std::uint16_t bytes;
  std::uint16_t signature;
  std::uint32_t raw = 0;  ///< the header's `raw` (am/wire.hpp); 0: a message to a registered handler
};
template <AmArguments T>
constexpr std::uint16_t args_bytes() noexcept {
  return std::is_empty_v<T> ? 0 : sizeof(T);
}
template <AmArguments T>
Args pack(const T& args) noexcept {
  return {&args, args_bytes<T>(), signature<T>()};
}

Status send_request(Endpoint&, Rank, AmCategory, HandlerId, Args, Bytes payload, GlobalPtr<std::byte> place,
                    const AmOptions&) noexcept;
Status send_reply(Incoming&, AmCategory, HandlerId, Args, Bytes payload, GlobalPtr<std::byte> place) noexcept;
Rank source_of(const Incoming&) noexcept;

/// All that a message says of its handler, in one word: bit 0 is set, then the category (bits 8 to 15), the size of the
/// arguments (16 to 31), their signature (32 to 47) and the handler's number (48 to 63).
using MessageName = std::uint64_t;
constexpr MessageName message_name(AmCategory category, std::uint16_t args_bytes, std::uint16_t signature,
                                   HandlerId handler) noexcept {
  return std::uint64_t{1} | std::uint64_t{static_cast<std::uint8_t>(category)} << 8 |
         std::uint64_t{args_bytes} << 16 | std::uint64_t{signature} << 32 | std::uint64_t{handler} << 48;
}
/// The head of a message as a packet has it: two words for the header, which the library fills in, and the argument
/// struct in whole words, padded with zeroes.
template <AmArguments T>
struct MessageHead {
  explicit MessageHead(const T& args) noexcept {
    if constexpr (kArgs != 0) {
      words[kWords - 1] = 0;
      std::memcpy(words + 2, &args, sizeof(T));
    }
  }
  static constexpr std::size_t kArgs = std::is_empty_v<T> ? 0 : sizeof(T);
  static constexpr std::size_t kWords = 2 + (kArgs + 7) / 8;
  std::uint64_t words[kWords];
};
inline bool no_options(const AmOptions& options) noexcept {
  return !options.immediate && options.source_event == nullptr && options.group == nullptr;
}
// The short ways of send_request and send_reply, for short and medium messages to a registered handler. False: something
// stands in the way, and nothing has happened. The long way then waits, or finds the error.
bool send_message(Endpoint&, Rank, MessageName, std::uint64_t* head, Bytes payload) noexcept;
bool send_answer(Incoming&, MessageName, std::uint64_t* head, Bytes payload) noexcept;
template <AmCategory Category, AmArguments T>
constexpr MessageName name_of(Handler<Category, T> handler) noexcept {
  return message_name(Category, args_bytes<T>(), signature<T>(), handler.id);
}

/// A handler with its type erased: dispatch makes one indirect call, to a function that knows the callable's type.
struct Callback {
  void (*run)(void* callable, Incoming&, const std::byte* args, MutableBytes payload) = nullptr;
  std::shared_ptr<void> callable;
};
/// The receiver of `callable` owns it, and ends it by `destroy`. Null if there is no memory for that: then it has ended.
std::shared_ptr<void> own_callable(void* callable, void (*destroy)(void*)) noexcept;
/// Moves a function object to memory of its own. Null: there is none.
template <class F>
std::shared_ptr<void> keep_callable(F&& body) {
  F* const kept = new (std::nothrow) F(std::move(body));
  if (kept == nullptr) return nullptr;
  return own_callable(kept, [](void* f) { delete static_cast<F*>(f); });
}
/// A callback without a callable is refused with no_memory.
Result<HandlerId> register_callback(Endpoint&, AmCategory, std::uint16_t args_bytes, std::uint16_t signature,
                                    Callback, const HandlerOptions&) noexcept;

}  // namespace detail

/// Passed to the handler of a reply. It tells who replied; it can neither wait nor send.
class ReplyContext {
 public:
  explicit ReplyContext(detail::Incoming& incoming) noexcept : incoming_(&incoming) {}
  Rank source() const noexcept { return detail::source_of(*incoming_); }

 protected:
  detail::Incoming* incoming_;
};

class PreparedReply;  // am_prepared.hpp

/// How large a negotiated payload may be, and in whose memory it is. Units: bytes.
struct PayloadBounds {
  std::size_t least = 0;  ///< less room is of no use: the call fails
  std::size_t most = 0;   ///< more room is of no use
  /// The caller's buffer. With a null pointer the library lends one.
  std::span<const std::byte> own = {};
};

/// Passed to the handler of a request, which may reply once, to the sender. It cannot wait.
///
/// Completion: the payload may be reused when `reply` returns. A reply always finds room and never waits.
/// Errors:     invalid_argument (a second reply, or a place on another rank), too_large, out_of_range, wrong_handler.
class RequestContext : public ReplyContext {
 public:
  using ReplyContext::ReplyContext;

  template <class A>
  Status reply(ShortReply<A> handler, const std::type_identity_t<A>& args = {}) noexcept {
    detail::MessageHead<A> head(args);
    if (detail::send_answer(*incoming_, detail::name_of(handler), head.words, {})) [[likely]]
      return {};
    return detail::send_reply(*incoming_, AmCategory::short_reply, handler.id, detail::pack(args), {}, {});
  }
  template <class A>
  Status reply(MediumReply<A> handler, const std::type_identity_t<A>& args, detail::Bytes payload) noexcept {
    detail::MessageHead<A> head(args);
    if (detail::send_answer(*incoming_, detail::name_of(handler), head.words, payload)) [[likely]]
      return {};
    return detail::send_reply(*incoming_, AmCategory::medium_reply, handler.id, detail::pack(args), payload,
                              {});
  }
  /// Puts the payload at `to`, a place on the rank that sent the request.
  template <class A>
  Status reply(LongReply<A> handler, const std::type_identity_t<A>& args, detail::Bytes payload,
               GlobalPtr<std::byte> to) noexcept {
    return detail::send_reply(*incoming_, AmCategory::long_reply, handler.id, detail::pack(args), payload,
                              to);
  }
  /// The plain form: 0–16 arguments of 32 bits. Errors: also invalid_argument for a payload with a short reply.
  Status reply_plain(AmCategory category, HandlerId handler, std::span<const std::uint32_t> args,
                     detail::Bytes payload = {}, GlobalPtr<std::byte> to = {}) noexcept;
  /// Negotiates the payload of a medium or long reply (am_prepared.hpp). It is committed or dropped before the handler
  /// returns. One at a time always finds a buffer. Parallel handlers share that one and those of AQUEDUCT_PREPARED: if all
  /// are in use, the answer is `refused`, and a plain reply still finds room.
  ///
  /// Errors: as `prepare_medium` and `prepare_long`; invalid_argument (not a request, replied already, a place on
  ///         another rank).
  Result<PreparedReply> prepare_medium(const PayloadBounds& bounds) noexcept;
  Result<PreparedReply> prepare_long(const PayloadBounds& bounds) noexcept;
  Result<PreparedReply> prepare_long(GlobalPtr<std::byte> to, const PayloadBounds& bounds) noexcept;
};

/// Registers a handler. Every rank must register the same handlers in the same order, and no message may be sent to a
/// handler before the target has registered it: a barrier after registration is enough.
///
/// `body` is called as body(context, args) for short messages and body(context, args, payload) for medium and
/// long ones; context is a RequestContext& or ReplyContext&, payload a std::span<std::byte>. An exception that leaves it ends
/// the program.
///
/// Threads: the handler runs on the endpoint's thread, inside progress. With Threads::multiple it runs on whichever
///          thread makes progress, one handler at a time, and other threads' calls wait until it returns. With
///          HandlerOptions::parallel several run at once, and calls do not wait for them.
/// Errors:  refused (AQUEDUCT_HANDLERS reached), in_handler, no_memory.
template <AmCategory Category, AmArguments Args, class F>
Result<Handler<Category, Args>> register_handler(Endpoint& ep, F body, const HandlerOptions& options = {}) {
  constexpr bool is_request = Category <= AmCategory::long_request;
  constexpr bool has_payload = Category != AmCategory::short_request && Category != AmCategory::short_reply;
  using Context = std::conditional_t<is_request, RequestContext, ReplyContext>;
  if constexpr (has_payload) {
    static_assert(
        std::is_invocable_v<F&, Context&, const Args&, detail::MutableBytes>,
        "a medium or long handler is called as body(context, args, payload): context is a RequestContext& "
        "(replies: ReplyContext&), args a const Args&, payload a std::span<std::byte>");
  } else {
    static_assert(std::is_invocable_v<F&, Context&, const Args&>,
                  "a short handler is called as body(context, args): context is a RequestContext& (replies: "
                  "ReplyContext&), args a const Args&");
  }
  auto run = [](void* callable, detail::Incoming& incoming, const std::byte* bytes,
                detail::MutableBytes payload) {
    union Room {  // an argument struct need not have a default constructor
      Room() noexcept {}
      Args args;
    } room;
    if constexpr (!std::is_empty_v<Args>) std::memcpy(static_cast<void*>(&room.args), bytes, sizeof(Args));
    const Args& args = room.args;
    Context context(incoming);
    auto& f = *static_cast<F*>(callable);
    if constexpr (has_payload) {
      f(context, args, payload);
    } else {
      static_cast<void>(payload);
      f(context, args);
    }
  };
  auto id = detail::register_callback(ep, Category, detail::args_bytes<Args>(), detail::signature<Args>(),
                                      {run, detail::keep_callable(std::move(body))}, options);
  if (!id) return id.status();
  return Handler<Category, Args>{*id};
}

/// register_handler with the category in the name: on_short_request<Args>(ep, [](auto& context, const Args&) { … }).
template <AmArguments Args, class F>
auto on_short_request(Endpoint& ep, F body, const HandlerOptions& options = {}) {
  return register_handler<AmCategory::short_request, Args>(ep, std::move(body), options);
}
template <AmArguments Args, class F>
auto on_medium_request(Endpoint& ep, F body, const HandlerOptions& options = {}) {
  return register_handler<AmCategory::medium_request, Args>(ep, std::move(body), options);
}
template <AmArguments Args, class F>
auto on_long_request(Endpoint& ep, F body, const HandlerOptions& options = {}) {
  return register_handler<AmCategory::long_request, Args>(ep, std::move(body), options);
}
template <AmArguments Args, class F>
auto on_short_reply(Endpoint& ep, F body, const HandlerOptions& options = {}) {
  return register_handler<AmCategory::short_reply, Args>(ep, std::move(body), options);
}
template <AmArguments Args, class F>
auto on_medium_reply(Endpoint& ep, F body, const HandlerOptions& options = {}) {
  return register_handler<AmCategory::medium_reply, Args>(ep, std::move(body), options);
}
template <AmArguments Args, class F>
auto on_long_reply(Endpoint& ep, F body, const HandlerOptions& options = {}) {
  return register_handler<AmCategory::long_reply, Args>(ep, std::move(body), options);
}

/// Sends a short request. The handler runs on rank `to`, exactly once. Messages are not ordered. In a message to
/// oneself too: the handler does not run inside this call, but at the next progress.
///
/// Completion: local; the handler runs later. Waits while there is no credit or no room for the message.
/// Errors:     out_of_range, wrong_handler, refused (immediate), peer_lost, in_handler, no_memory (this rank gets none).
template <class A>
Status request(Endpoint& ep, Rank to, ShortRequest<A> handler, const std::type_identity_t<A>& args = {},
               const AmOptions& options = {}) noexcept {
  if (detail::no_options(options)) {
    detail::MessageHead<A> head(args);
    if (detail::send_message(ep, to, detail::name_of(handler), head.words, {})) [[likely]]
      return {};
  }
  return detail::send_request(ep, to, AmCategory::short_request, handler.id, detail::pack(args), {}, {},
                              options);
}
/// Sends a medium request.
///
/// Completion: as a short request. The payload may be reused as AmOptions::source_event says.
/// Errors:     as a short request, and too_large (see am_limits); invalid_argument for a null pointer to a payload of more
///             than zero bytes, in checked builds (otherwise the process may crash).
template <class A>
Status request(Endpoint& ep, Rank to, MediumRequest<A> handler, const std::type_identity_t<A>& args,
               detail::Bytes payload, const AmOptions& options = {}) noexcept {
  if (detail::no_options(options)) {
    detail::MessageHead<A> head(args);
    if (detail::send_message(ep, to, detail::name_of(handler), head.words, payload)) [[likely]]
      return {};
  }
  return detail::send_request(ep, to, AmCategory::medium_request, handler.id, detail::pack(args), payload, {},
                              options);
}
/// Sends a long request: the payload is in place at `to`, and visible, before the handler runs on that rank. An empty
/// payload only names a place: any inside the segment, and also the segment's end.
///
/// Completion: as a medium request. A payload beyond one packet, to memory that is not mapped here, travels as a put.
///             With AmOptions::source_event the call does not wait for the put: the message leaves when the put is
///             complete, inside progress. `Job::finish` waits until such messages have left. Without a source event,
///             or if the payload exceeds the network's max_transfer, or AQUEDUCT_OPERATIONS Events are held, the call
///             waits for the put.
/// Errors:     as a medium request, and for a null pointer in every build; out_of_range also for a payload that does not fit
///             the target's segment. If the put
///             fails after the call, the message is not sent, and the source event has the failure unless the payload
///             was free before it. With `immediate`, for a payload that travels as a put: invalid_argument without a
///             source event, since the call would have to wait; too_large above the network's max_transfer.
template <class A>
Status request(Endpoint& ep, LongRequest<A> handler, const std::type_identity_t<A>& args,
               detail::Bytes payload, GlobalPtr<std::byte> to, const AmOptions& options = {}) noexcept {
  return detail::send_request(ep, to.rank(), AmCategory::long_request, handler.id, detail::pack(args),
                              payload, to, options);
}

// The plain form, for callers in the style of C: 0–16 arguments of 32 bits. The category is checked at run time.

/// Called with the argument words and, for medium and long messages, the payload.
using PlainHandler =
    std::function<void(RequestContext&, std::span<const std::uint32_t>, std::span<std::byte>)>;
/// Registers a plain handler, which takes `args` words. In the handler of a reply, only `source()` of the context may
/// be used.
///
/// Errors: as register_handler; too_large (more than 16 words), invalid_argument (no body, no such category).
Result<HandlerId> register_plain(Endpoint& ep, AmCategory category, std::size_t args, PlainHandler body,
                                 const HandlerOptions& options = {});
/// Sends a request to a plain handler. A long request goes to the rank of `where`, and `to` is not used.
///
/// Completion: as the typed forms.
/// Errors:     as the typed forms; wrong_handler also if the category or the number of words differs; too_large (more
///             than 16 words); invalid_argument (a payload with a short request).
Status request_plain(Endpoint& ep, Rank to, AmCategory category, HandlerId handler,
                     std::span<const std::uint32_t> args, std::span<const std::byte> payload = {},
                     GlobalPtr<std::byte> where = {}, const AmOptions& options = {}) noexcept;

}  // namespace aqueduct
