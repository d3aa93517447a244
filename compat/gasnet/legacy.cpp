// The calls of GASNet-1 that are not inline.

#include "compat/gasnet/misuse.hpp"
#include "compat/gasnet/state.hpp"

#include <gasnet.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

struct aqg_value_in_flight {
  gex_RMA_Value_t value = 0;
  gex_Event_t event = GEX_EVENT_INVALID;
};

using namespace aqueduct;
using namespace aqueduct::gasnet;

extern "C" {

int gasnet_attach(gasnet_handlerentry_t* table, int numentries, uintptr_t segsize, uintptr_t) {
  const char* const call = "gasnet_attach";
  if (the_state == nullptr) return error(GASNET_ERR_NOT_INIT, call, "gasnet_init comes first");
  constexpr uintptr_t kPage = GASNET_PAGESIZE;
  // What is wrong comes before what is done: a client may call again with the same table.
  aqg_endpoint& ep = *state().endpoints[0];
  if (ep.segment != nullptr) return error(GASNET_ERR_NOT_INIT, call, "the segment is attached already");
  if (segsize % kPage != 0)
    return error(GASNET_ERR_BAD_ARG, call, "the size is not a multiple of GASNET_PAGESIZE");
  if (segsize > state().most_segment)
    return error(GASNET_ERR_BAD_ARG, call, "the size is above gasnet_getMaxLocalSegmentSize()");
  bool named[256] = {};
  std::ptrdiff_t unnamed = 0;
  for (int i = 0; i < numentries; ++i) {
    const unsigned index = table[i].index;
    if (index == 0) {
      ++unnamed;
    } else if (index < GEX_AM_INDEX_BASE || ep.known[index] || std::exchange(named[index], true)) {
      return error(GASNET_ERR_BAD_ARG, call, "an index is taken or illegal");
    }
  }
  for (unsigned index = GEX_AM_INDEX_BASE; index < 256; ++index) unnamed -= !ep.known[index] && !named[index];
  if (unnamed > 0) return error(GASNET_ERR_BAD_ARG, call, "there are too few free indices");
  for (const bool free_numbers : {false, true}) {
    for (int i = 0; i < numentries; ++i) {
      if ((table[i].index == 0) != free_numbers) continue;
      gex_AM_Entry_t entry = {};
      entry.gex_index = table[i].index;
      entry.gex_fnptr = table[i].fnptr;
      if (!add_handler(ep, entry, true))
        return error(GASNET_ERR_BAD_ARG, call, "an index is taken or illegal");
      table[i].index = entry.gex_index;
    }
  }
  return attach(std::max(segsize, kPage), nullptr);  // as GASNet, a page in place of nothing
}
void gasnet_QueryGexObjects(gex_Client_t* client_p, gex_EP_t* endpoint_p, gex_TM_t* tm_p,
                            gex_Segment_t* segment_p) {
  State& s = state();
  if (client_p != nullptr) *client_p = &s.client;
  if (endpoint_p != nullptr) *endpoint_p = s.endpoints[0].get();
  if (tm_p != nullptr) *tm_p = s.world;
  if (segment_p != nullptr) *segment_p = s.endpoints[0]->segment;
}
int gasnet_getSegmentInfo(gasnet_seginfo_t* seginfo_table, int numentries) {
  const State& s = state();
  if (seginfo_table == nullptr || numentries <= 0)
    return error(GASNET_ERR_BAD_ARG, "gasnet_getSegmentInfo", "no table");
  for (int i = 0; i < numentries && static_cast<Rank>(i) < s.ep.ranks(); ++i) {
    seginfo_table[i] = {reinterpret_cast<void*>(s.bound[0][i].address), s.bound[0][i].bytes};
  }
  return GASNET_OK;
}
int gasnet_getNodeInfo(gasnet_nodeinfo_t* nodeinfo_table, int numentries) {
  check_context("gasnet_getNodeInfo");
  State& s = state();
  if (nodeinfo_table == nullptr || numentries <= 0)
    return error(GASNET_ERR_BAD_ARG, "gasnet_getNodeInfo", "no table");
  for (int i = 0; i < numentries && static_cast<Rank>(i) < s.ep.ranks(); ++i) {
    const Rank rank = static_cast<Rank>(i);
    void* owner = nullptr;
    void* local = nullptr;
    gex_Segment_QueryBound(s.world, rank, &owner, &local, nullptr);
    const std::uintptr_t offset =
        local != nullptr ? reinterpret_cast<std::uintptr_t>(local) - reinterpret_cast<std::uintptr_t>(owner)
                         : 0;
    nodeinfo_table[i] = {s.host_of[rank], s.nbrhd_of[rank], offset};
  }
  return GASNET_OK;
}
int gasnet_AMGetMsgSource(gasnet_token_t token, gasnet_node_t* srcindex) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  *srcindex = info.gex_srcrank;
  return GASNET_OK;
}

void gasnet_memset(gasnet_node_t node, void* dest, int val, size_t nbytes) {
  State& s = state();
  const Peer peer = peer_of(s.world, node);
  if (nbytes == 0) return;
  if (std::byte* const here = s.ep.local(place_of(peer, dest), nbytes)) {
    std::memset(here, val, nbytes);
    return;
  }
  const std::vector<std::byte> bytes(std::min<size_t>(nbytes, 65536), static_cast<std::byte>(val));
  // Not implicit ones: those of an access region end with it, and `bytes` must outlive them.
  std::vector<gex_Event_t> puts;
  for (size_t done = 0; done < nbytes; done += bytes.size()) {
    puts.push_back(gex_RMA_PutNB(s.world, node, static_cast<char*>(dest) + done, bytes.data(),
                                 std::min(bytes.size(), nbytes - done), GEX_EVENT_DEFER, 0));
    if (puts.size() < 64) continue;  // an endpoint has a bounded number of events
    gex_Event_WaitAll(puts.data(), puts.size(), 0);
    puts.clear();
  }
  gex_Event_WaitAll(puts.data(), puts.size(), 0);
}

gasnet_valget_handle_t gasnet_get_nb_val(gasnet_node_t node, void* src, size_t nbytes) {
  AQG_CHECK(aqg_check_value("gasnet_get_nb_val", nbytes));
  auto* const made = new aqg_value_in_flight;
  void* const to = const_cast<void*>(aqg_bytes_of(&made->value, nbytes));
  made->event = gex_RMA_GetNB(state().world, to, node, src, nbytes, 0);
  return made;
}
gasnet_register_value_t gasnet_wait_syncnb_valget(gasnet_valget_handle_t handle) {
  gex_Event_Wait(handle->event);
  const gex_RMA_Value_t value = handle->value;
  delete handle;
  return value;
}
}
