// Where a call must not be made: in handlers, under handler-safe locks, and between prepare and commit. And by which endpoints: one
// that was not created for messages has none. The specification leaves both undefined, and checked builds name them.

#include "compat/gasnet/messages.hpp"
#include "compat/gasnet/misuse.hpp"

#include <cstdio>

namespace aqueduct::gasnet {
namespace {

constexpr const char* kPrepared =
    "this thread has prepared a payload: until it is committed or cancelled no other call may communicate";

const char* name_of(gex_EP_Capabilities_t capability) noexcept {
  switch (capability) {
    case GEX_EP_CAPABILITY_RMA: return "GEX_EP_CAPABILITY_RMA";
    case GEX_EP_CAPABILITY_AM: return "GEX_EP_CAPABILITY_AM";
    default: return "GEX_EP_CAPABILITY_VIS";
  }
}

void refuse_unless(bool has, const char* call, gex_EP_Capabilities_t needed, unsigned endpoint, Rank rank) {
  if (has) return;
  static thread_local char text[120];
  std::snprintf(text, sizeof text, "endpoint %u of rank %u was created without %s: ask gex_EP_Create for it",
                endpoint, static_cast<unsigned>(rank), name_of(needed));
  fail(call, text);
}

/// Of an endpoint of this rank; all, where there is none: the call says so.
gex_EP_Capabilities_t own_capabilities(unsigned endpoint) noexcept {
  const aqg_endpoint* const ep = endpoint < kEndpoints ? state().endpoints[endpoint].get() : nullptr;
  return ep != nullptr ? ep->capabilities : GEX_EP_CAPABILITY_ALL;
}
/// Of an endpoint of any rank; all, where it has not been published here.
gex_EP_Capabilities_t known_capabilities(const Peer& peer) noexcept {
  const State& s = state();
  if (peer.rank == s.me()) return own_capabilities(peer.remote);
  if (peer.remote == 0 || peer.remote >= kEndpoints || !s.bound[peer.remote] || peer.rank >= s.ep.ranks())
    return GEX_EP_CAPABILITY_ALL;
  const Bound& bound = s.bound[peer.remote][peer.rank];
  return bound.bytes != 0 ? bound.capabilities : GEX_EP_CAPABILITY_ALL;
}

}  // namespace

namespace checks {

void check_context(const char* call) {
  if (in_handler())
    fail(call, "a handler of messages may reply, and nothing else that communicates or polls");
  if (locks_held != 0) fail(call, "a thread that holds a handler-safe lock may not communicate or poll");
  if (has_prepared(true) || has_prepared(false)) fail(call, kPrepared);
}
void check_reply(const char* call) {
  if (locks_held != 0) fail(call, "a thread that holds a handler-safe lock may not reply: unlock it first");
  if (has_prepared(false)) fail(call, kPrepared);
}
void check_endpoints(const char* call, gex_TM_t tm, gex_Rank_t rank, gex_EP_Capabilities_t needed) {
  if (!aqg_is_pair(tm)) return;  // members of teams are primordial endpoints, which have all
  const Peer peer = peer_of(tm, rank);
  refuse_unless((own_capabilities(peer.local) & needed) != 0, call, needed, peer.local, state().me());
  refuse_unless((known_capabilities(peer) & needed) != 0, call, needed, peer.remote, peer.rank);
}

}  // namespace checks
}  // namespace aqueduct::gasnet

using namespace aqueduct::gasnet;

extern "C" void aqg_check_pieces(const char* call, gex_TM_t tm, gex_Rank_t rank) {
  checks::check_context(call);
  checks::check_endpoints(call, tm, rank, GEX_EP_CAPABILITY_VIS);
}
