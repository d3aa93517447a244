// Requests and replies with payloads of fixed size, and how large they may be.

#include "compat/gasnet/messages.hpp"

#include <aqueduct/copy_bytes.hpp>

#include "compat/gasnet/misuse.hpp"

#include <utility>

namespace aqueduct::gasnet {
namespace {

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

/// Stores the bytes of a long message to another rank, if they belong into memory that is mapped here: a message that only says where
/// they are takes less time than a long one of Aqueduct's. False: they are not, and the library shall do it, or say what is wrong.
bool store(const Peer& peer, const void* source, std::size_t bytes, void* dest) noexcept {
  const State& s = state();
  if (source == nullptr || peer.rank >= s.ep.ranks() || peer.remote >= kEndpoints ||
      s.places[peer.remote] == nullptr)
    return false;
  const aqg_place& place = s.places[peer.remote][peer.rank];
  char* const there =
      aq_find_in_window(place.window, reinterpret_cast<std::uintptr_t>(dest) - place.base, bytes);
  if (there == nullptr) return false;
  detail::write_bytes(reinterpret_cast<std::byte*>(there), source, bytes);
  return true;
}

}  // namespace

int request_long(const char* call, const Peer& peer, gex_AM_Index_t handler, const void* source,
                 std::size_t bytes, void* dest, gex_Event_t* lc_opt, gex_Flags_t flags, Words words) {
  const bool immediate = (flags & GEX_FLAG_IMMEDIATE) != 0;  // if it is refused, nothing may have happened
  if (bytes == 0 || (!immediate && store(peer, source, bytes, dest))) {
    const PlacedBytes placed{reinterpret_cast<std::uint64_t>(dest), bytes};
    AmOptions options;
    options.immediate = immediate;
    const Status status =
        state().space.request_medium(peer.rank, {handler, tag_of(kPlaced, peer.local, peer.remote), words},
                                     bytes_of(&placed, sizeof placed), options);
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

int reply(const char* call, gex_Token_t token, const Kind& kind, gex_AM_Index_t handler, const void* source,
          std::size_t bytes, void* dest, gex_Event_t* lc_opt, Words words) {
  const Peer peer = answered(token);
  free_at_once(lc_opt);
  if (token->message == nullptr) {
    if (!token->is_request || std::exchange(token->replied, true))
      fail(call, "only a request may be answered, and once");
    loop_back(peer.local, peer.remote, kind, handler, source, bytes, dest, words);
    return 0;
  }
  RawCall answer{handler, tag_of(kNone, peer.local, peer.remote), words};
  Status status;
  if (kind.is_short) {
    status = token->message->reply_short(answer);
  } else if (!kind.is_long) {
    status = token->message->reply_medium(answer, bytes_of(source, bytes));
  } else if (bytes == 0 || (bytes <= state().long_reply && store(peer, source, bytes, dest))) {
    const PlacedBytes placed{reinterpret_cast<std::uint64_t>(dest), bytes};
    answer.tag = tag_of(kPlaced, peer.local, peer.remote);
    status = token->message->reply_medium(answer, bytes_of(&placed, sizeof placed));
  } else {
    status = token->message->reply_long(answer, bytes_of(source, bytes), place_of(peer, dest));
  }
  if (!status) fail(call, &peer, status);
  return 0;
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

int aqg_request_short(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, gex_Flags_t flags, unsigned nargs,
                      const gex_AM_Arg_t* args) {
  check_request("gex_AM_RequestShort", tm, rank);
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
  check_request("gex_AM_RequestMedium", tm, rank);
  check_local_completion("gex_AM_RequestMedium", lc_opt, true);
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
  check_request("gex_AM_RequestLong", tm, rank);
  check_local_completion("gex_AM_RequestLong", lc_opt, true);
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
  check_reply("gex_AM_ReplyShort");
  return reply("gex_AM_ReplyShort", token, kShortReply, handler, nullptr, 0, nullptr, nullptr,
               words_of(nargs, args));
}
int aqg_reply_medium(gex_Token_t token, gex_AM_Index_t handler, const void* source, size_t nbytes,
                     gex_Event_t* lc_opt, gex_Flags_t, unsigned nargs, const gex_AM_Arg_t* args) {
  check_reply("gex_AM_ReplyMedium");
  check_local_completion("gex_AM_ReplyMedium", lc_opt, false);
  return reply("gex_AM_ReplyMedium", token, kMediumReply, handler, source, nbytes, nullptr, lc_opt,
               words_of(nargs, args));
}
int aqg_reply_long(gex_Token_t token, gex_AM_Index_t handler, const void* source, size_t nbytes, void* dest,
                   gex_Event_t* lc_opt, gex_Flags_t, unsigned nargs, const gex_AM_Arg_t* args) {
  check_reply("gex_AM_ReplyLong");
  check_local_completion("gex_AM_ReplyLong", lc_opt, false);
  return reply("gex_AM_ReplyLong", token, kLongReply, handler, source, nbytes, dest, lc_opt,
               words_of(nargs, args));
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
}
