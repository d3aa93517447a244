// Puts and gets that are not inline: long ones, to memory that is not mapped here, to this rank itself, or of pairs of
// endpoints.

#include "compat/gasnet/state.hpp"

#include <cstring>

namespace aqueduct::gasnet {
namespace {

std::span<const std::byte> source(const void* from, std::size_t bytes) noexcept {
  return {static_cast<const std::byte*>(from), bytes};
}
std::span<std::byte> target(void* to, std::size_t bytes) noexcept {
  return {static_cast<std::byte*>(to), bytes};
}

PutOptions put_options(gex_Event_t* lc_opt, gex_Flags_t flags) noexcept {
  PutOptions options;
  options.immediate = (flags & GEX_FLAG_IMMEDIATE) != 0;
  options.source = lc_opt == GEX_EVENT_NOW     ? SourceReuse::at_return
                   : lc_opt == GEX_EVENT_DEFER ? SourceReuse::at_completion
                                               : SourceReuse::on_event;
  return options;
}

/// The memory of this rank's own endpoints is always at hand, also before it is published.
bool is_mine(const Peer& peer) noexcept { return peer.rank == state().me(); }

/// Where bytes of another rank are mapped here; null: nowhere.
void* mapped(const Peer& peer, const void* address, std::size_t bytes) noexcept {
  const auto place = place_of(peer, address);
  return state().ep.mapped(place.rank(), place.segment(), place.offset(), bytes);
}

void refuse_null(const char* call, const void* to, const void* from) {
  if (from == nullptr || to == nullptr) fail(call, "a null pointer, and more than zero bytes");
}
/// Puts what a copy can put: nothing, or bytes to this rank itself or to mapped memory. False: nothing has happened.
bool put_by_copy(const char* call, const Peer& peer, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return true;
  refuse_null(call, to, from);
  if (is_mine(peer)) {
    check_own_place(call, peer, to, bytes);
    detail::move_bytes(to, from, bytes);
    return true;
  }
  void* const place = mapped(peer, to, bytes);
  if (place == nullptr) return false;
  detail::put_bytes(place, from, bytes);
  return true;
}
/// As put_by_copy, for a get.
bool get_by_copy(const char* call, void* to, const Peer& peer, const void* from, std::size_t bytes) {
  if (bytes == 0) return true;
  refuse_null(call, to, from);
  if (is_mine(peer)) {
    check_own_place(call, peer, from, bytes);
    detail::move_bytes(to, from, bytes);
    return true;
  }
  const void* const place = mapped(peer, from, bytes);
  if (place == nullptr) return false;
  detail::copy_bytes(to, place, bytes);
  return true;
}

}  // namespace
}  // namespace aqueduct::gasnet

using namespace aqueduct;
using namespace aqueduct::gasnet;

extern "C" {

void aqg_copy_more(void* to, const void* from, size_t bytes) {
  detail::copy_middling(static_cast<std::byte*>(to), from, bytes);
}
void aqg_write_more(void* to, const void* from, size_t bytes) {
  detail::put_middling(static_cast<std::byte*>(to), from, bytes);
}

int aqg_put(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src, size_t nbytes, gex_Flags_t flags) {
  const Peer peer = peer_of(tm, rank);
  if (put_by_copy("gex_RMA_PutBlocking", peer, dest, src, nbytes)) return 0;
  const auto place = place_of(peer, dest);
  const Status status = (flags & GEX_FLAG_IMMEDIATE) != 0
                            ? put(state().ep, place, source(src, nbytes), put_options(GEX_EVENT_DEFER, flags))
                            : put(state().ep, place, source(src, nbytes));
  return done_or_refused("gex_RMA_PutBlocking", peer, status) ? 0 : 1;
}
int aqg_put_nbi(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src, size_t nbytes, gex_Event_t* lc_opt,
                gex_Flags_t flags) {
  const Peer peer = peer_of(tm, rank);
  if (put_by_copy("gex_RMA_PutNBI", peer, dest, src, nbytes)) return 0;
  Thread& here = thread();
  PutOptions options = put_options(lc_opt, flags);
  options.group = group_of(here, here.puts);
  const Status status = put_nbi(state().ep, place_of(peer, dest), source(src, nbytes), options);
  return done_or_refused("gex_RMA_PutNBI", peer, status) ? 0 : 1;
}
gex_Event_t aqg_put_nb(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src, size_t nbytes,
                       gex_Event_t* lc_opt, gex_Flags_t flags) {
  const Peer peer = peer_of(tm, rank);
  const bool wants_leaf = aqg_is_pointer(lc_opt) != 0;
  if (put_by_copy("gex_RMA_PutNB", peer, dest, src, nbytes)) {
    if (wants_leaf) *lc_opt = GEX_EVENT_INVALID;
    return GEX_EVENT_INVALID;
  }
  PutOptions options = put_options(lc_opt, flags);
  Event reusable;
  if (wants_leaf) options.source_event = &reusable;
  Event event = put_nb(state().ep, place_of(peer, dest), source(src, nbytes), options);
  if (!wants_leaf) return handle("gex_RMA_PutNB", std::move(event));
  return handle("gex_RMA_PutNB", std::move(event), std::move(reusable), lc_opt);
}

int aqg_get(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src, size_t nbytes, gex_Flags_t flags) {
  const Peer peer = peer_of(tm, rank);
  const auto place = place_of(peer, src);
  // Of published memory of this rank itself the library's own get: a loop on it must make progress.
  const bool is_published = is_mine(peer) && peer.remote == 0 && place.segment() != ~SegmentId{0};
  if (nbytes == 0) return 0;
  refuse_null("gex_RMA_GetBlocking", dest, src);
  if (!is_published && get_by_copy("gex_RMA_GetBlocking", dest, peer, src, nbytes)) return 0;
  Status status;
  if ((flags & GEX_FLAG_IMMEDIATE) != 0) {
    GetOptions options;
    options.immediate = true;
    status = state().ep.wait(get_nb(state().ep, target(dest, nbytes), place, options));
  } else {
    status = get(state().ep, target(dest, nbytes), place);
  }
  return done_or_refused("gex_RMA_GetBlocking", peer, status) ? 0 : 1;
}
int aqg_get_nbi(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src, size_t nbytes, gex_Flags_t flags) {
  const Peer peer = peer_of(tm, rank);
  if (get_by_copy("gex_RMA_GetNBI", dest, peer, src, nbytes)) return 0;
  Thread& here = thread();
  GetOptions options;
  options.immediate = (flags & GEX_FLAG_IMMEDIATE) != 0;
  options.group = group_of(here, here.gets);
  const Status status = get_nbi(state().ep, target(dest, nbytes), place_of(peer, src), options);
  return done_or_refused("gex_RMA_GetNBI", peer, status) ? 0 : 1;
}
gex_Event_t aqg_get_nb(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src, size_t nbytes,
                       gex_Flags_t flags) {
  const Peer peer = peer_of(tm, rank);
  if (get_by_copy("gex_RMA_GetNB", dest, peer, src, nbytes)) return GEX_EVENT_INVALID;
  GetOptions options;
  options.immediate = (flags & GEX_FLAG_IMMEDIATE) != 0;
  return handle("gex_RMA_GetNB", get_nb(state().ep, target(dest, nbytes), place_of(peer, src), options));
}
}
