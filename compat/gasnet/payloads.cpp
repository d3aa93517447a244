// Payloads of negotiated size: prepared in a buffer of Aqueduct, of this layer or of the client, and committed.

#include "compat/gasnet/messages.hpp"
#include "compat/gasnet/misuse.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

/// A payload between prepare and commit. A thread has one at a time.
struct aqg_payload {
  bool is_request = false;
  bool is_long = false;
  bool is_open = false;  ///< prepared, and neither committed nor cancelled
  void* address = nullptr;
  std::size_t size = 0;
  void* dest = nullptr;   ///< of a long one, if it is known already
  void* named = nullptr;  ///< the destination that `request` has got, since a commit that was refused
  aqueduct::gasnet::Peer peer{};
  gex_Token_t token = nullptr;
  gex_Event_t* lc_opt = nullptr;
  unsigned arguments = 0;  ///< of its message; checked builds look if the commit has as many
  bool lent = false;       ///< the buffer is not the client's
  std::unique_ptr<std::max_align_t[]> buffer;        ///< of this layer
  std::optional<aqueduct::PreparedPayload> request;  ///< of Aqueduct
  std::optional<aqueduct::PreparedReply> reply;
};

namespace aqueduct::gasnet {
namespace {

/// The payload that this thread has prepared. While it commits one of a request, handlers may run and prepare replies.
aqg_payload& prepared(bool is_request) {
  static thread_local aqg_payload one[2];
  return one[is_request ? 1 : 0];
}

/// Begins the payload that this thread prepares.
aqg_payload& begin(const char* call, bool is_request, std::size_t least, std::size_t most) {
  aqg_payload& payload = prepared(is_request);
  if (payload.is_open) fail(call, "this thread has prepared a payload: commit or cancel that one first");
  if (least > most) fail(call, "the least payload is above the most");
  payload = {};
  payload.is_request = is_request;
  payload.is_open = true;
  return payload;
}

/// A buffer of this layer, where Aqueduct lends none.
void own_buffer(aqg_payload& payload, std::size_t bytes) {
  payload.buffer = std::make_unique_for_overwrite<std::max_align_t[]>(bytes / sizeof(std::max_align_t) + 1);
  payload.address = payload.buffer.get();
  payload.size = bytes;
}

/// Takes the buffer that Aqueduct has made, or one of this layer where it has not.
template <class Made>
gex_AM_SrcDesc_t lend(const char* call, aqg_payload& payload, Result<Made>&& made, std::optional<Made>& into,
                      std::size_t room, gex_Flags_t flags) {
  if (made) {
    into.emplace(std::move(*made));
    payload.address = into->buffer().data();
    payload.size = into->size();
    return &payload;
  }
  const ErrorCode why = made.status().code();
  if (why != ErrorCode::refused && why != ErrorCode::too_large) fail(call, &payload.peer, made.status());
  if ((flags & GEX_FLAG_IMMEDIATE) != 0 && why == ErrorCode::refused) {
    payload = {};
    return GEX_AM_SRCDESC_NO_OP;
  }
  own_buffer(payload, room);
  return &payload;
}

gex_AM_SrcDesc_t prepare_request(const char* call, gex_TM_t tm, gex_Rank_t rank, const void* client_buf,
                                 std::size_t least, std::size_t most, void* dest, gex_Event_t* lc_opt,
                                 gex_Flags_t flags, bool is_long, unsigned arguments) {
  check_request(call, tm, rank);
  aqg_payload& payload = begin(call, true, least, most);
  payload.arguments = arguments;
  payload.dest = dest;
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
  // A long message has less room than a medium one in a packet; what lies between goes as a put.
  constexpr std::size_t kHeadOfLong = 64;
  if (payload.peer.rank == state().me() || (is_long && least + kHeadOfLong > state().medium)) {
    own_buffer(payload, room);
    return &payload;
  }
  // Aqueduct's prepare never waits; `immediate` would hold for the commit, where GASNet has flags of its own.
  const PayloadBounds bounds{least, room, {}};
  // Without the destination, which Aqueduct would lend where it is mapped: docs/decisions/0148-lent-buffers-are-buffers.md.
  auto made = is_long ? prepare_long(state().ep, payload.peer.rank, bounds)
                      : prepare_medium(state().ep, payload.peer.rank, bounds);
  return lend(call, payload, std::move(made), payload.request, room, flags);
}

gex_AM_SrcDesc_t prepare_reply(const char* call, gex_Token_t token, const void* client_buf, std::size_t least,
                               std::size_t most, void* dest, gex_Event_t* lc_opt, gex_Flags_t flags,
                               bool is_long, unsigned arguments) {
  check_reply(call);
  aqg_payload& payload = begin(call, false, least, most);
  payload.arguments = arguments;
  payload.dest = dest;
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
  auto made = is_long ? token->message->prepare_long(bounds) : token->message->prepare_medium(bounds);
  return lend(call, payload, std::move(made), payload.reply, room, flags);
}

/// Names the destination of a long payload of Aqueduct's. False: a commit that was refused has named another one.
bool name_place(aqg_payload& payload, void* dest) noexcept {
  if (!payload.is_long || dest == payload.named) return true;
  if (payload.named != nullptr) return false;
  payload.named = dest;
  static_cast<void>(
      payload.request->set_place(place_of(payload.peer, dest)));  // or the commit says what is wrong
  return true;
}

/// The result of a commit that was refused. Its client may not poll before it commits or cancels: it may try again, and would for ever
/// if nobody made progress.
[[gnu::cold]] int refused() {
  state().ep.progress();
  return 1;
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
      if (payload.is_long) static_cast<void>(payload.reply->set_place(place_of(peer, dest)));
      if (const Status status = payload.reply->commit_raw(message, bytes); !status) fail(call, &peer, status);
    } else {
      payload.reply.reset();
      result = reply(call, payload.token, kind, handler, payload.address, bytes, dest, payload.lc_opt, words);
    }
  } else if (peer.rank == state().me()) {
    loop_back(peer.local, peer.remote, kind, handler, payload.address, bytes, dest, words);
    free_at_once(payload.lc_opt);
  } else if (payload.request && !empty_long && name_place(payload, dest)) {
    AmOptions options;
    options.immediate = (flags & GEX_FLAG_IMMEDIATE) != 0;
    const Status status = payload.request->commit_raw(state().space, message, bytes, options);
    if (!done_or_refused(call, peer, status)) return refused();
  } else {
    gex_Event_t* const lc_opt = payload.lent ? GEX_EVENT_NOW : payload.lc_opt;
    result = payload.is_long
                 ? request_long(call, peer, handler, payload.address, bytes, dest, lc_opt, flags, words)
                 : request_medium(call, peer, handler, payload.address, bytes, lc_opt, flags, words);
    if (result != 0) return refused();
  }
  payload = {};
  return result;
}

}  // namespace

bool has_prepared(bool is_request) noexcept { return prepared(is_request).is_open; }

}  // namespace aqueduct::gasnet

using namespace aqueduct;
using namespace aqueduct::gasnet;

extern "C" {

gex_AM_SrcDesc_t gex_AM_PrepareRequestMedium(gex_TM_t tm, gex_Rank_t rank, const void* client_buf,
                                             size_t least_payload, size_t most_payload, gex_Event_t* lc_opt,
                                             gex_Flags_t flags, unsigned int numargs) {
  return prepare_request("gex_AM_PrepareRequestMedium", tm, rank, client_buf, least_payload, most_payload,
                         nullptr, lc_opt, flags, false, numargs);
}
gex_AM_SrcDesc_t gex_AM_PrepareRequestLong(gex_TM_t tm, gex_Rank_t rank, const void* client_buf,
                                           size_t least_payload, size_t most_payload, void* dest_addr,
                                           gex_Event_t* lc_opt, gex_Flags_t flags, unsigned int numargs) {
  return prepare_request("gex_AM_PrepareRequestLong", tm, rank, client_buf, least_payload, most_payload,
                         dest_addr, lc_opt, flags, true, numargs);
}
gex_AM_SrcDesc_t gex_AM_PrepareReplyMedium(gex_Token_t token, const void* client_buf, size_t least_payload,
                                           size_t most_payload, gex_Event_t* lc_opt, gex_Flags_t flags,
                                           unsigned int numargs) {
  return prepare_reply("gex_AM_PrepareReplyMedium", token, client_buf, least_payload, most_payload, nullptr,
                       lc_opt, flags, false, numargs);
}
gex_AM_SrcDesc_t gex_AM_PrepareReplyLong(gex_Token_t token, const void* client_buf, size_t least_payload,
                                         size_t most_payload, void* dest_addr, gex_Event_t* lc_opt,
                                         gex_Flags_t flags, unsigned int numargs) {
  return prepare_reply("gex_AM_PrepareReplyLong", token, client_buf, least_payload, most_payload, dest_addr,
                       lc_opt, flags, true, numargs);
}
void* gex_AM_SrcDescAddr(gex_AM_SrcDesc_t sd) { return sd->address; }
size_t gex_AM_SrcDescSize(gex_AM_SrcDesc_t sd) { return sd->size; }
int aqg_cancel(gex_AM_SrcDesc_t sd, int is_request, int is_long, gex_Flags_t flags) {
  if (sd == nullptr || !sd->is_open || sd->is_request != (is_request != 0) || sd->is_long != (is_long != 0) ||
      flags != 0) {
    return error(GASNET_ERR_BAD_ARG, "gex_AM_Cancel",
                 "there is no such payload, it was prepared for another kind of message, or flags are set");
  }
  *sd = {};
  return GASNET_OK;
}
int aqg_commit(gex_AM_SrcDesc_t sd, int is_request, int is_long, gex_AM_Index_t handler, size_t nbytes,
               void* dest, gex_Flags_t flags, unsigned nargs, const gex_AM_Arg_t* args) {
  const char* const call = "gex_AM_Commit";
  if (sd == nullptr || !sd->is_open || sd != &prepared(is_request != 0))
    fail(call, "there is no such payload: this thread has not prepared it, or has committed or cancelled it");
  if (sd->is_long != (is_long != 0) || nbytes > sd->size)
    fail(call, "the payload was prepared for another kind of message, or is shorter");
  if (sd->dest != nullptr && dest != sd->dest) fail(call, "the payload was prepared for another destination");
#ifdef AQUEDUCT_CHECKED
  if (nargs != sd->arguments) fail(call, "the payload was prepared for another number of arguments");
#endif
  return commit(call, *sd, handler, nbytes, dest, flags, words_of(nargs, args));
}
}
