// Active messages: the handler tables, requests and replies with payloads of fixed and of negotiated size.
//
// All messages go through one space of raw handlers. The message's number is the handler's; its tag names the endpoints at
// both ends, and says if the payload is a notice in place of one.

#include "compat/gasnet/state.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

/// What a handler gets: the message that it answers. It lives on the stack of the thread that runs the handler.
struct aqg_token {
  aqueduct::RawContext* message = nullptr;  ///< null: a message of this rank to itself
  aqueduct::Rank source = 0;
  unsigned here = 0;   ///< the endpoint that got the message
  unsigned there = 0;  ///< and the one that sent it
  const gex_AM_Entry_t* entry = nullptr;
  bool is_request = false;
  bool is_long = false;
};

/// A payload between prepare and commit. A thread has one at a time.
struct aqg_payload {
  bool is_request = false;
  bool is_long = false;
  void* address = nullptr;
  std::size_t size = 0;
  aqueduct::gasnet::Peer peer{};
  gex_Token_t token = nullptr;
  gex_Event_t* lc_opt = nullptr;
  bool lent = false;                                 ///< the buffer is not the client's
  std::unique_ptr<std::max_align_t[]> buffer;        ///< of this layer
  std::optional<aqueduct::PreparedPayload> request;  ///< of Aqueduct
  std::optional<aqueduct::PreparedReply> reply;
};

namespace aqueduct::gasnet {
namespace {

using Bytes = std::span<const std::byte>;
using Words = std::span<const std::uint32_t>;

enum Notice : unsigned {
  kNone = 0,
  kAddress = 1,  ///< a long message of no bytes: the payload is the address that the handler gets
  kReply = 2,    ///< to a reply handler, though it is a request: the notice of a VIS transfer
};

constexpr std::uint16_t tag_of(unsigned notice, unsigned from, unsigned to) noexcept {
  return static_cast<std::uint16_t>(notice | from << 2 | to << 8);
}

Words words_of(unsigned count, const gex_AM_Arg_t* args) noexcept {
  return {reinterpret_cast<const std::uint32_t*>(args), count};
}
Bytes bytes_of(const void* from, std::size_t bytes) noexcept {
  return {static_cast<const std::byte*>(from), bytes};
}

/// Calls the client's function with `kArgs` arguments after its first ones.
template <std::size_t>
using Arg = gex_AM_Arg_t;
template <std::size_t... I>
void call_short(gex_AM_Fn_t function, gex_Token_t token, const gex_AM_Arg_t* a, std::index_sequence<I...>) {
  static_cast<void>(a);
  reinterpret_cast<void (*)(gex_Token_t, Arg<I>...)>(function)(token, a[I]...);
}
template <std::size_t... I>
void call_payload(gex_AM_Fn_t function, gex_Token_t token, void* payload, std::size_t bytes,
                  const gex_AM_Arg_t* a, std::index_sequence<I...>) {
  static_cast<void>(a);
  reinterpret_cast<void (*)(gex_Token_t, void*, std::size_t, Arg<I>...)>(function)(token, payload, bytes,
                                                                                   a[I]...);
}

struct Caller {
  void (*without)(gex_AM_Fn_t, gex_Token_t, const gex_AM_Arg_t*);
  void (*with)(gex_AM_Fn_t, gex_Token_t, void*, std::size_t, const gex_AM_Arg_t*);
};
template <std::size_t kArgs>
constexpr Caller caller() {
  return {[](gex_AM_Fn_t f, gex_Token_t t, const gex_AM_Arg_t* a) {
            call_short(f, t, a, std::make_index_sequence<kArgs>{});
          },
          [](gex_AM_Fn_t f, gex_Token_t t, void* p, std::size_t n, const gex_AM_Arg_t* a) {
            call_payload(f, t, p, n, a, std::make_index_sequence<kArgs>{});
          }};
}
template <std::size_t... I>
constexpr std::array<Caller, sizeof...(I)> callers(std::index_sequence<I...>) {
  return {caller<I>()...};
}
constexpr auto kCallers = callers(std::make_index_sequence<17>{});

/// What a message is, for the handler that it asks for.
struct Kind {
  bool is_short;
  bool is_long;
  bool is_request;
  gex_Flags_t category() const noexcept {
    return is_short ? GEX_FLAG_AM_SHORT : is_long ? GEX_FLAG_AM_LONG : GEX_FLAG_AM_MEDIUM;
  }
  gex_Flags_t role() const noexcept { return is_request ? GEX_FLAG_AM_REQUEST : GEX_FLAG_AM_REPLY; }
};

/// Ends the job: what `source` has sent cannot be handled here.
[[noreturn]] void refuse(Rank source, const char* why) {
  static thread_local char call[40];
  std::snprintf(call, sizeof call, "a message of rank %u arrived", source);
  fail(call, why);
}

/// The handler of an endpoint here; ends the job if there is none for such a message.
const gex_AM_Entry_t& find_handler(Rank source, unsigned endpoint, unsigned number, const Kind& kind,
                                   std::size_t args) {
  aqg_endpoint* ep = endpoint < kEndpoints ? state().endpoints[endpoint].get() : nullptr;
  if (ep == nullptr) refuse(source, "its endpoint was not created here");
  // An index for which an endpoint has no handler of its own has the primordial endpoint's.
  if (!ep->known[number]) ep = state().endpoints[0].get();
  if (!ep->known[number]) {
    static thread_local char text[80];
    std::snprintf(text, sizeof text, "no handler is registered for the index %u of endpoint %u", number,
                  endpoint);
    refuse(source, text);
  }
  const gex_AM_Entry_t& entry = ep->handlers[number];
  const bool fits = ep->any_args[number] || ((entry.gex_flags & kind.category()) != 0 &&
                                             (entry.gex_flags & kind.role()) != 0 && entry.gex_nargs == args);
  if (!fits) {
    static thread_local char text[160];
    std::snprintf(
        text, sizeof text,
        "the handler %u of endpoint %u was registered for other messages than a %s %s with %zu arguments",
        number, endpoint,
        kind.is_short  ? "short"
        : kind.is_long ? "long"
                       : "medium",
        kind.is_request ? "request" : "reply", args);
    refuse(source, text);
  }
  return entry;
}

void run(aqg_token& token, bool is_short, void* payload, std::size_t bytes, Words words) {
  const Caller& caller = kCallers[words.size()];
  const auto* const args = reinterpret_cast<const gex_AM_Arg_t*>(words.data());
  if (is_short) {
    caller.without(token.entry->gex_fnptr, &token, args);
  } else {
    caller.with(token.entry->gex_fnptr, &token, payload, bytes, args);
  }
}

/// Aqueduct's handler for all messages of this layer.
void arrived(void*, RawContext& message) {
  const unsigned notice = message.tag() & 3u;
  aqg_token token;
  token.message = &message;
  token.source = message.source();
  token.there = message.tag() >> 2 & 0x3fu;
  token.here = message.tag() >> 8 & 0x3fu;
  const AmCategory category = message.category();
  token.is_request = message.is_request() && notice != kReply;
  token.is_long =
      notice == kAddress || category == AmCategory::long_request || category == AmCategory::long_reply;
  const bool is_short = category == AmCategory::short_request || category == AmCategory::short_reply;
  token.entry = &find_handler(token.source, token.here, message.number(),
                              {is_short, token.is_long, token.is_request}, message.words().size());
  void* payload = message.payload().data();
  std::size_t bytes = message.payload().size();
  if (notice == kAddress) {
    std::uint64_t address;
    std::memcpy(&address, payload, sizeof address);
    payload = reinterpret_cast<void*>(address);
    bytes = 0;
  }
  run(token, is_short, payload, bytes, message.words());
}

/// Memory for a payload that a rank sends to itself, as long as its handler runs.
class LoopbackBuffer {
 public:
  explicit LoopbackBuffer(std::size_t bytes) {
    if (bytes > sizeof small_) {
      large_ = std::make_unique_for_overwrite<std::max_align_t[]>(bytes / sizeof(std::max_align_t) + 1);
    }
  }
  void* data() noexcept { return large_ ? static_cast<void*>(large_.get()) : small_; }

 private:
  alignas(std::max_align_t) std::byte small_[512];
  std::unique_ptr<std::max_align_t[]> large_;
};

/// A message to this rank: its handler runs inside the call, as in GASNet.
void loop_back(unsigned from, unsigned to, const Kind& kind, gex_AM_Index_t handler, const void* source,
               std::size_t bytes, void* dest, Words words) {
  aqg_token token;
  token.source = state().me();
  token.there = from;
  token.here = to;
  token.is_request = kind.is_request;
  token.is_long = kind.is_long;
  token.entry = &find_handler(token.source, to, handler, kind, words.size());
  Thread& here = thread();
  ++here.in_loopback;
  if (kind.is_short) {
    run(token, true, nullptr, 0, words);
  } else if (kind.is_long) {
    if (bytes != 0) std::memmove(dest, source, bytes);
    run(token, false, dest, bytes, words);
  } else {
    LoopbackBuffer buffer(bytes);
    if (bytes != 0) std::memcpy(buffer.data(), source, bytes);
    run(token, false, buffer.data(), bytes, words);
  }
  --here.in_loopback;
}

/// What becomes of a request's source.
class LocalCompletion {
 public:
  LocalCompletion(gex_Event_t* lc_opt, gex_Flags_t flags, bool is_long) : lc_opt_(lc_opt) {
    options_.immediate = (flags & GEX_FLAG_IMMEDIATE) != 0;
    // An immediate request that becomes a put must have an event, because it may not wait for the put to begin.
    const bool needs_event = is_long && options_.immediate;
    if (lc_opt == GEX_EVENT_GROUP && !needs_event) {
      Thread& here = thread();
      options_.group = group_of(here, here.messages);
    } else if (reinterpret_cast<std::uintptr_t>(lc_opt) > 3 || needs_event) {
      options_.source_event = &source_;
    }
  }
  const AmOptions& options() const noexcept { return options_; }
  /// Returns GASNet's result.
  int finish(const char* call, const Peer& peer, Status status) {
    if (!done_or_refused(call, peer, status)) return 1;
    if (options_.source_event == nullptr) return 0;
    if (reinterpret_cast<std::uintptr_t>(lc_opt_) > 3) {
      *lc_opt_ = handle(call, std::move(source_));
    } else if (const Status freed = state().ep.wait(source_); !freed) {
      fail(call, &peer, freed);
    }
    return 0;
  }

 private:
  gex_Event_t* lc_opt_;
  AmOptions options_;
  Event source_;
};

void free_at_once(gex_Event_t* lc_opt) noexcept {
  if (reinterpret_cast<std::uintptr_t>(lc_opt) > 3) *lc_opt = GEX_EVENT_INVALID;
}

int request_long(const char* call, const Peer& peer, gex_AM_Index_t handler, const void* source,
                 std::size_t bytes, void* dest, gex_Event_t* lc_opt, gex_Flags_t flags, Words words) {
  if (bytes == 0) {  // the address may be anything
    const auto address = reinterpret_cast<std::uint64_t>(dest);
    AmOptions options;
    options.immediate = (flags & GEX_FLAG_IMMEDIATE) != 0;
    const Status status =
        state().space.request_medium(peer.rank, {handler, tag_of(kAddress, peer.local, peer.remote), words},
                                     bytes_of(&address, sizeof address), options);
    free_at_once(lc_opt);
    return done_or_refused(call, peer, status) ? 0 : 1;
  }
  LocalCompletion local(lc_opt, flags, true);
  const Status status =
      state().space.request_long({handler, tag_of(kNone, peer.local, peer.remote), words},
                                 bytes_of(source, bytes), place_of(peer, dest), local.options());
  return local.finish(call, peer, status);
}

int request_medium(const char* call, const Peer& peer, gex_AM_Index_t handler, const void* source,
                   std::size_t bytes, gex_Event_t* lc_opt, gex_Flags_t flags, Words words) {
  LocalCompletion local(lc_opt, flags, false);
  const Status status =
      state().space.request_medium(peer.rank, {handler, tag_of(kNone, peer.local, peer.remote), words},
                                   bytes_of(source, bytes), local.options());
  return local.finish(call, peer, status);
}

Peer answered(gex_Token_t token) noexcept { return {token->source, token->here, token->there}; }

int reply(const char* call, gex_Token_t token, const Kind& kind, gex_AM_Index_t handler, const void* source,
          std::size_t bytes, void* dest, gex_Event_t* lc_opt, Words words) {
  const Peer peer = answered(token);
  free_at_once(lc_opt);
  if (token->message == nullptr) {
    loop_back(peer.local, peer.remote, kind, handler, source, bytes, dest, words);
    return 0;
  }
  RawCall answer{handler, tag_of(kNone, peer.local, peer.remote), words};
  Status status;
  if (kind.is_short) {
    status = token->message->reply_short(answer);
  } else if (!kind.is_long) {
    status = token->message->reply_medium(answer, bytes_of(source, bytes));
  } else if (bytes == 0) {
    const auto address = reinterpret_cast<std::uint64_t>(dest);
    answer.tag = tag_of(kAddress, peer.local, peer.remote);
    status = token->message->reply_medium(answer, bytes_of(&address, sizeof address));
  } else {
    status = token->message->reply_long(answer, bytes_of(source, bytes), place_of(peer, dest));
  }
  if (!status) fail(call, &peer, status);
  return 0;
}

constexpr Kind kShortRequest{true, false, true};
constexpr Kind kMediumRequest{false, false, true};
constexpr Kind kLongRequest{false, true, true};
constexpr Kind kShortReply{true, false, false};
constexpr Kind kMediumReply{false, false, false};
constexpr Kind kLongReply{false, true, false};

/// The payload that this thread has prepared. While it commits one of a request, handlers may run and prepare replies.
aqg_payload& prepared(bool is_request) {
  static thread_local aqg_payload one[2];
  return one[is_request ? 1 : 0];
}

/// A buffer of this layer, where Aqueduct lends none.
void own_buffer(aqg_payload& payload, std::size_t bytes) {
  payload.buffer = std::make_unique_for_overwrite<std::max_align_t[]>(bytes / sizeof(std::max_align_t) + 1);
  payload.address = payload.buffer.get();
  payload.size = bytes;
}

gex_AM_SrcDesc_t prepare_request(const char* call, gex_TM_t tm, gex_Rank_t rank, const void* client_buf,
                                 std::size_t least, std::size_t most, void* dest, gex_Event_t* lc_opt,
                                 gex_Flags_t flags, bool is_long) {
  aqg_payload& payload = prepared(true);
  payload = {};
  payload.is_request = true;
  payload.is_long = is_long;
  payload.peer = peer_of(tm, rank);
  payload.lc_opt = lc_opt;
  payload.lent = client_buf == nullptr;
  const std::size_t limit = is_long && !payload.lent ? state().long_request : state().medium;
  const std::size_t room = std::max(least, std::min(most, limit));
  if (!payload.lent) {
    payload.address = const_cast<void*>(client_buf);
    payload.size = room;
    return &payload;
  }
  if (payload.peer.rank == state().me()) {
    own_buffer(payload, room);
    return &payload;
  }
  // Aqueduct's prepare never waits; `immediate` would hold for the commit, where GASNet has flags of its own.
  const PayloadBounds bounds{least, room, {}};
  Result<PreparedPayload> made = ErrorCode::refused;
  if (!is_long) {
    made = prepare_medium(state().ep, payload.peer.rank, bounds);
  } else if (dest != nullptr) {
    made = prepare_long(state().ep, place_of(payload.peer, dest), bounds);
  } else {
    made = prepare_long(state().ep, payload.peer.rank, bounds);
  }
  if (made) {
    payload.request.emplace(std::move(*made));
    payload.address = payload.request->buffer().data();
    payload.size = payload.request->size();
    return &payload;
  }
  const ErrorCode why = made.status().code();
  if (why != ErrorCode::refused && why != ErrorCode::too_large) fail(call, &payload.peer, made.status());
  if ((flags & GEX_FLAG_IMMEDIATE) != 0 && why == ErrorCode::refused) return GEX_AM_SRCDESC_NO_OP;
  own_buffer(payload, room);
  return &payload;
}

gex_AM_SrcDesc_t prepare_reply(const char* call, gex_Token_t token, const void* client_buf, std::size_t least,
                               std::size_t most, void* dest, gex_Event_t* lc_opt, gex_Flags_t flags,
                               bool is_long) {
  aqg_payload& payload = prepared(false);
  payload = {};
  payload.is_long = is_long;
  payload.token = token;
  payload.peer = answered(token);
  payload.lc_opt = lc_opt;
  payload.lent = client_buf == nullptr;
  const std::size_t limit = !is_long       ? state().medium
                            : payload.lent ? state().least_long_reply
                                           : state().long_reply;
  const std::size_t room = std::max(least, std::min(most, limit));
  if (!payload.lent) {
    payload.address = const_cast<void*>(client_buf);
    payload.size = room;
    return &payload;
  }
  if (token->message == nullptr) {
    own_buffer(payload, room);
    return &payload;
  }
  const PayloadBounds bounds{least, room, {}};
  Result<PreparedReply> made = ErrorCode::refused;
  if (!is_long) {
    made = token->message->prepare_medium(bounds);
  } else if (dest != nullptr) {
    made = token->message->prepare_long(place_of(payload.peer, dest), bounds);
  } else {
    made = token->message->prepare_long(bounds);
  }
  if (made) {
    payload.reply.emplace(std::move(*made));
    payload.address = payload.reply->buffer().data();
    payload.size = payload.reply->size();
    return &payload;
  }
  const ErrorCode why = made.status().code();
  if (why != ErrorCode::refused && why != ErrorCode::too_large) fail(call, &payload.peer, made.status());
  if ((flags & GEX_FLAG_IMMEDIATE) != 0 && why == ErrorCode::refused) return GEX_AM_SRCDESC_NO_OP;
  own_buffer(payload, room);
  return &payload;
}

/// Names the place of a long payload that was prepared without one, or with this one.
template <class P>
void name_place(P& payload, GlobalPtr<std::byte> place) noexcept {
  static_cast<void>(payload.set_place(place));  // invalid_argument: it has the place already
}

int commit(const char* call, aqg_payload& payload, gex_AM_Index_t handler, std::size_t bytes, void* dest,
           gex_Flags_t flags, Words words) {
  const Peer peer = payload.peer;
  const Kind kind{false, payload.is_long, payload.is_request};
  const bool empty_long = payload.is_long && bytes == 0;
  const RawCall message{handler, tag_of(kNone, peer.local, peer.remote), words};
  int result = 0;
  if (!payload.is_request) {
    if (payload.reply && !empty_long) {
      if (payload.is_long) name_place(*payload.reply, place_of(peer, dest));
      if (const Status status = payload.reply->commit_raw(message, bytes); !status) fail(call, &peer, status);
    } else {
      payload.reply.reset();
      result = reply(call, payload.token, kind, handler, payload.address, bytes, dest, payload.lc_opt, words);
    }
  } else if (peer.rank == state().me()) {
    loop_back(peer.local, peer.remote, kind, handler, payload.address, bytes, dest, words);
    free_at_once(payload.lc_opt);
  } else if (payload.request && !empty_long) {
    AmOptions options;
    options.immediate = (flags & GEX_FLAG_IMMEDIATE) != 0;
    if (payload.is_long) name_place(*payload.request, place_of(peer, dest));
    const Status status = payload.request->commit_raw(state().space, message, bytes, options);
    if (!done_or_refused(call, peer, status)) return 1;
  } else {
    gex_Event_t* const lc_opt = payload.lent ? GEX_EVENT_NOW : payload.lc_opt;
    result = payload.is_long
                 ? request_long(call, peer, handler, payload.address, bytes, dest, lc_opt, flags, words)
                 : request_medium(call, peer, handler, payload.address, bytes, lc_opt, flags, words);
    if (result != 0) return result;
  }
  payload = {};
  return result;
}

}  // namespace

bool add_handler(aqg_endpoint& ep, gex_AM_Entry_t& entry, bool any_args) {
  unsigned index = entry.gex_index;
  if (index == 0) {
    for (index = 255; index >= GEX_AM_INDEX_BASE && ep.known[index]; --index) {
    }
  }
  if (index < GEX_AM_INDEX_BASE || ep.known[index]) return false;
  entry.gex_index = static_cast<gex_AM_Index_t>(index);
  ep.handlers[index] = entry;
  ep.any_args[index] = any_args;
  ep.known[index] = true;
  return true;
}

Status add_raw_handlers(HandlerSpace& space) {
  for (unsigned number = GEX_AM_INDEX_BASE; number < 256; ++number) {
    if (Status status = space.add(static_cast<std::uint8_t>(number), &arrived, nullptr); !status)
      return status;
  }
  return {};
}

void notify(const Peer& peer, gex_AM_Index_t handler, const void* payload, std::size_t bytes) {
  if (peer.rank == state().me()) {
    loop_back(peer.local, peer.remote, kMediumReply, handler, payload, bytes, nullptr, {});
    return;
  }
  const Status status = state().space.request_medium(
      peer.rank, {handler, tag_of(kReply, peer.local, peer.remote), {}}, bytes_of(payload, bytes));
  if (!status) fail("gex_VIS_SetPeerCompletionHandler", &peer, status);
}

}  // namespace aqueduct::gasnet

using namespace aqueduct;
using namespace aqueduct::gasnet;

extern "C" {

int gex_EP_RegisterHandlers(gex_EP_t ep, gex_AM_Entry_t* table, size_t numentries) {
  for (const bool free_numbers : {false, true}) {  // the fixed ones first
    for (std::size_t i = 0; i < numentries; ++i) {
      if ((table[i].gex_index == 0) != free_numbers) continue;
      const bool added = table[i].gex_nargs <= gex_AM_MaxArgs() && table[i].gex_fnptr != nullptr &&
                         add_handler(*ep, table[i], false);
      if (!added)
        return error(GASNET_ERR_BAD_ARG, "gex_EP_RegisterHandlers",
                     "an index is taken or illegal, or an entry is wrong");
    }
  }
  return GASNET_OK;
}

int aqg_request_short(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, gex_Flags_t flags, unsigned nargs,
                      const gex_AM_Arg_t* args) {
  const Peer peer = peer_of(tm, rank);
  if (peer.rank == state().me()) {
    loop_back(peer.local, peer.remote, kShortRequest, handler, nullptr, 0, nullptr, words_of(nargs, args));
    return 0;
  }
  AmOptions options;
  options.immediate = (flags & GEX_FLAG_IMMEDIATE) != 0;
  const Status status = state().space.request_short(
      peer.rank, {handler, tag_of(kNone, peer.local, peer.remote), words_of(nargs, args)}, options);
  return done_or_refused("gex_AM_RequestShort", peer, status) ? 0 : 1;
}
int aqg_request_medium(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, const void* source,
                       size_t nbytes, gex_Event_t* lc_opt, gex_Flags_t flags, unsigned nargs,
                       const gex_AM_Arg_t* args) {
  const Peer peer = peer_of(tm, rank);
  if (peer.rank == state().me()) {
    free_at_once(lc_opt);
    loop_back(peer.local, peer.remote, kMediumRequest, handler, source, nbytes, nullptr,
              words_of(nargs, args));
    return 0;
  }
  return request_medium("gex_AM_RequestMedium", peer, handler, source, nbytes, lc_opt, flags,
                        words_of(nargs, args));
}
int aqg_request_long(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, const void* source, size_t nbytes,
                     void* dest, gex_Event_t* lc_opt, gex_Flags_t flags, unsigned nargs,
                     const gex_AM_Arg_t* args) {
  const Peer peer = peer_of(tm, rank);
  if (peer.rank == state().me()) {
    free_at_once(lc_opt);
    loop_back(peer.local, peer.remote, kLongRequest, handler, source, nbytes, dest, words_of(nargs, args));
    return 0;
  }
  return request_long("gex_AM_RequestLong", peer, handler, source, nbytes, dest, lc_opt, flags,
                      words_of(nargs, args));
}
int aqg_reply_short(gex_Token_t token, gex_AM_Index_t handler, gex_Flags_t, unsigned nargs,
                    const gex_AM_Arg_t* args) {
  return reply("gex_AM_ReplyShort", token, kShortReply, handler, nullptr, 0, nullptr, nullptr,
               words_of(nargs, args));
}
int aqg_reply_medium(gex_Token_t token, gex_AM_Index_t handler, const void* source, size_t nbytes,
                     gex_Event_t* lc_opt, gex_Flags_t, unsigned nargs, const gex_AM_Arg_t* args) {
  return reply("gex_AM_ReplyMedium", token, kMediumReply, handler, source, nbytes, nullptr, lc_opt,
               words_of(nargs, args));
}
int aqg_reply_long(gex_Token_t token, gex_AM_Index_t handler, const void* source, size_t nbytes, void* dest,
                   gex_Event_t* lc_opt, gex_Flags_t, unsigned nargs, const gex_AM_Arg_t* args) {
  return reply("gex_AM_ReplyLong", token, kLongReply, handler, source, nbytes, dest, lc_opt,
               words_of(nargs, args));
}

gex_TI_t gex_Token_Info(gex_Token_t token, gex_Token_Info_t* info, gex_TI_t) {
  info->gex_srcrank = token->source;
  info->gex_ep = state().endpoints[token->here].get();
  info->gex_entry = token->entry;
  info->gex_is_req = token->is_request ? 1 : 0;
  info->gex_is_long = token->is_long ? 1 : 0;
  return GEX_TI_ALL;
}

// Realm asks before it starts the job. Then only the specification's minimum is certain.
constexpr size_t kLeastMaximum = 512;
size_t gex_AM_LUBRequestLong(void) { return the_state != nullptr ? the_state->long_request : kLeastMaximum; }
size_t gex_AM_LUBReplyLong(void) { return the_state != nullptr ? the_state->long_reply : kLeastMaximum; }
size_t gex_AM_LUBRequestMedium(void) { return the_state != nullptr ? the_state->medium : kLeastMaximum; }
size_t gex_AM_LUBReplyMedium(void) { return gex_AM_LUBRequestMedium(); }
size_t gex_AM_MaxRequestMedium(gex_TM_t, gex_Rank_t, const gex_Event_t*, gex_Flags_t, unsigned int) {
  return state().medium;
}
size_t gex_AM_MaxReplyMedium(gex_TM_t, gex_Rank_t, const gex_Event_t*, gex_Flags_t, unsigned int) {
  return state().medium;
}
size_t gex_AM_MaxRequestLong(gex_TM_t, gex_Rank_t, const gex_Event_t*, gex_Flags_t flags, unsigned int) {
  return (flags & GEX_FLAG_AM_PREPARE_LEAST_ALLOC) != 0 ? state().medium : state().long_request;
}
size_t gex_AM_MaxReplyLong(gex_TM_t, gex_Rank_t, const gex_Event_t*, gex_Flags_t flags, unsigned int) {
  return (flags & GEX_FLAG_AM_PREPARE_LEAST_ALLOC) != 0 ? state().least_long_reply : state().long_reply;
}
size_t gex_Token_MaxReplyLong(gex_Token_t, const gex_Event_t* lc_opt, gex_Flags_t flags,
                              unsigned int numargs) {
  return gex_AM_MaxReplyLong(nullptr, 0, lc_opt, flags, numargs);
}
size_t gex_Token_MaxReplyMedium(gex_Token_t, const gex_Event_t* lc_opt, gex_Flags_t flags,
                                unsigned int numargs) {
  return gex_AM_MaxReplyMedium(nullptr, 0, lc_opt, flags, numargs);
}

gex_AM_SrcDesc_t gex_AM_PrepareRequestMedium(gex_TM_t tm, gex_Rank_t rank, const void* client_buf,
                                             size_t least_payload, size_t most_payload, gex_Event_t* lc_opt,
                                             gex_Flags_t flags, unsigned int) {
  return prepare_request("gex_AM_PrepareRequestMedium", tm, rank, client_buf, least_payload, most_payload,
                         nullptr, lc_opt, flags, false);
}
gex_AM_SrcDesc_t gex_AM_PrepareRequestLong(gex_TM_t tm, gex_Rank_t rank, const void* client_buf,
                                           size_t least_payload, size_t most_payload, void* dest_addr,
                                           gex_Event_t* lc_opt, gex_Flags_t flags, unsigned int) {
  return prepare_request("gex_AM_PrepareRequestLong", tm, rank, client_buf, least_payload, most_payload,
                         dest_addr, lc_opt, flags, true);
}
gex_AM_SrcDesc_t gex_AM_PrepareReplyMedium(gex_Token_t token, const void* client_buf, size_t least_payload,
                                           size_t most_payload, gex_Event_t* lc_opt, gex_Flags_t flags,
                                           unsigned int) {
  return prepare_reply("gex_AM_PrepareReplyMedium", token, client_buf, least_payload, most_payload, nullptr,
                       lc_opt, flags, false);
}
gex_AM_SrcDesc_t gex_AM_PrepareReplyLong(gex_Token_t token, const void* client_buf, size_t least_payload,
                                         size_t most_payload, void* dest_addr, gex_Event_t* lc_opt,
                                         gex_Flags_t flags, unsigned int) {
  return prepare_reply("gex_AM_PrepareReplyLong", token, client_buf, least_payload, most_payload, dest_addr,
                       lc_opt, flags, true);
}
void* gex_AM_SrcDescAddr(gex_AM_SrcDesc_t sd) { return sd->address; }
size_t gex_AM_SrcDescSize(gex_AM_SrcDesc_t sd) { return sd->size; }
int aqg_cancel(gex_AM_SrcDesc_t sd, int is_request, int is_long, gex_Flags_t flags) {
  if (sd == nullptr || sd->is_request != (is_request != 0) || sd->is_long != (is_long != 0) || flags != 0) {
    return error(GASNET_ERR_BAD_ARG, "gex_AM_Cancel",
                 "the payload was prepared for another kind of message, or flags are set");
  }
  *sd = {};
  return GASNET_OK;
}
int aqg_commit(gex_AM_SrcDesc_t sd, int is_request, int is_long, gex_AM_Index_t handler, size_t nbytes,
               void* dest, gex_Flags_t flags, unsigned nargs, const gex_AM_Arg_t* args) {
  if (sd == nullptr || sd->is_request != (is_request != 0) || sd->is_long != (is_long != 0) ||
      nbytes > sd->size) {
    fail("gex_AM_Commit", "the payload was prepared for another kind of message, or is shorter");
  }
  return commit("gex_AM_Commit", *sd, handler, nbytes, dest, flags, words_of(nargs, args));
}
}
