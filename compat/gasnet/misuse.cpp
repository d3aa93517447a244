#include "compat/gasnet/misuse.hpp"

#include <gasnet_ratomic.h>

#include <bit>
#include <cstdio>

namespace aqueduct::gasnet {
namespace {

bool is_near(const Peer& peer) {
  const State& s = state();
  return peer.rank < s.ep.ranks() && s.nbrhd_of[peer.rank] == s.nbrhd_of[s.me()];
}
// The specification (0.19) has these flags and says that they are UNIMPLEMENTED, so they are in GASNet-EX as well.
constexpr gex_Flags_t kOffsets = GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_PEER_SEG_OFFSET;
constexpr const char* kNoOffsets =
    "GEX_FLAG_SELF_SEG_OFFSET and GEX_FLAG_PEER_SEG_OFFSET are not implemented: pass addresses";

}  // namespace

#ifdef AQUEDUCT_CHECKED
void check_no_region(const char* call) {
  if (thread().region != nullptr)
    fail(call, "an access region is open: call gex_NBI_EndAccessRegion first, and sync its event");
}

void check_local_completion(const char* call, const gex_Event_t* lc_opt, bool is_request) {
  if (lc_opt == GEX_EVENT_DEFER || (!is_request && lc_opt == GEX_EVENT_GROUP))
    fail(call, is_request ? "messages do not have GEX_EVENT_DEFER: pass GEX_EVENT_NOW, GEX_EVENT_GROUP or an "
                            "event's address"
                          : "replies have neither GEX_EVENT_DEFER nor GEX_EVENT_GROUP: pass GEX_EVENT_NOW or "
                            "an event's address");
}

void check_elements(const char* call, gex_DT_t type, std::size_t bytes, gex_OP_t op, bool has_function) {
  const bool by_user = op == GEX_OP_USER || op == GEX_OP_USER_NC;
  const bool is_4 = (type & (GEX_DT_I32 | GEX_DT_U32 | GEX_DT_FLT)) != 0;
  if (!std::has_single_bit(type) || type > GEX_DT_USER) fail(call, "dt is no data type: pass one GEX_DT_…");
  if (bytes == 0) fail(call, "dt_sz is 0: an element has bytes");
  if (type != GEX_DT_USER && bytes != (is_4 ? 4u : 8u))
    fail(call, "dt_sz is not the size of the built-in type dt");
  if (type == GEX_DT_USER && !by_user) fail(call, "GEX_DT_USER has GEX_OP_USER and GEX_OP_USER_NC only");
  if (by_user && !has_function) fail(call, "user_op is null: pass the function that combines");
}
#endif

}  // namespace aqueduct::gasnet

using namespace aqueduct::gasnet;

extern "C" {

void aqg_check_transfer(const char* call, gex_TM_t tm, gex_Rank_t rank, gex_Flags_t flags) {
  checks::check_context(call);
  checks::check_endpoints(call, tm, rank, GEX_EP_CAPABILITY_RMA);
  if ((flags & kOffsets) != 0) fail(call, kNoOffsets);
  const Peer peer = peer_of(tm, rank);
  if ((flags & (GEX_FLAG_PEER_NEVER_SELF | GEX_FLAG_PEER_NEVER_NBRHD)) != 0 && peer.rank == state().me())
    fail(call, "GEX_FLAG_PEER_NEVER_SELF or _NBRHD is not true: the peer is this process");
  if ((flags & GEX_FLAG_PEER_NEVER_NBRHD) != 0 && is_near(peer))
    fail(call, "GEX_FLAG_PEER_NEVER_NBRHD is not true: the peer is in this process's neighbourhood");
}
void aqg_check_source(const char* call, const gex_Event_t* lc_opt, const gex_Event_t* group) {
  if (lc_opt == GEX_EVENT_NOW || lc_opt == GEX_EVENT_DEFER) return;
  if (group == nullptr ? aqg_is_pointer(lc_opt) == 0 : lc_opt != group)
    fail(call, group == nullptr ? "lc_opt is GEX_EVENT_NOW, GEX_EVENT_DEFER or an event's address"
                                : "lc_opt is GEX_EVENT_NOW, GEX_EVENT_DEFER or GEX_EVENT_GROUP");
}
void aqg_check_value(const char* call, size_t nbytes) {
  if (nbytes == 0 || nbytes > SIZEOF_GEX_RMA_VALUE_T) fail(call, "a value has 1 to 8 bytes");
}
void aqg_check_atomic(gex_AD_t ad, gex_Rank_t rank, gex_Flags_t flags) {
  const char* const call = "gex_AD_Op";
  checks::check_context(call);
  // The other flag is ignored where an operation fetches nothing.
  if ((flags & GEX_FLAG_PEER_SEG_OFFSET) != 0) fail(call, kNoOffsets);
  const Peer peer = (flags & GEX_FLAG_RANK_IS_JOBRANK) != 0 ? Peer{rank, 0, 0} : peer_of(ad->tm, rank);
  if ((flags & GEX_FLAG_AD_MY_RANK) != 0 && peer.rank != state().me())
    fail(call, "GEX_FLAG_AD_MY_RANK is not true: the target is another rank");
  if ((flags & GEX_FLAG_AD_MY_NBRHD) != 0 && !is_near(peer))
    fail(call, "GEX_FLAG_AD_MY_NBRHD is not true: the target is in another neighbourhood");
}
}
