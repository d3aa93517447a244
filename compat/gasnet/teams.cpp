// Teams.

#include "compat/gasnet/misuse.hpp"
#include "compat/gasnet/state.hpp"
#include "compat/gasnet/user_operators.hpp"

namespace aqueduct::gasnet {
namespace {

gex_TM_t adopt_team(const char* call, Tm& parent, Team&& team, void* scratch, std::size_t bytes,
                    gex_Flags_t flags) {
  auto* const made = new Tm;
  made->own.emplace(std::move(team));
  made->team = &*made->own;
  made->ep = parent.ep;
  made->places = parent.places;
  made->shifts = parent.shifts;
  made->ranks = made->team->members().data();
  made->rank = made->team->index();
  made->size = made->team->size();
  made->name = agree_on_name(call, *made->team);
  made->flags = flags;
  if ((flags & GEX_FLAG_TM_NO_SCRATCH) == 0) {
    made->scratch = scratch;
    made->scratch_bytes = bytes;
  }
  return made;
}

/// Splits a team; null where this rank is in no part.
gex_TM_t split(const char* call, Tm& parent, std::optional<std::uint32_t> colour, std::int64_t key,
               void* scratch, std::size_t bytes, gex_Flags_t flags) {
  auto made = parent.team->split(colour, key);
  if (!made) fail(call, nullptr, made.status());
  if (!*made) return GEX_TM_INVALID;
  return adopt_team(call, parent, std::move(**made), scratch, bytes, flags);
}

}  // namespace

void no_team() {
  fail("a call for a team", "it was given GEX_TM_INVALID, or a pair of endpoints of gex_TM_Pair");
}

}  // namespace aqueduct::gasnet

using namespace aqueduct;
using namespace aqueduct::gasnet;

extern "C" {

gex_Client_t gex_TM_QueryClient(gex_TM_t) { return &state().client; }
gex_EP_t gex_TM_QueryEP(gex_TM_t) { return state().endpoints[0].get(); }
gex_Flags_t gex_TM_QueryFlags(gex_TM_t tm) { return whole(tm).flags; }
void gex_TM_SetCData(gex_TM_t tm, const void* val) { whole(tm).data = const_cast<void*>(val); }
void* gex_TM_QueryCData(gex_TM_t tm) { return whole(tm).data; }

size_t gex_TM_Split(gex_TM_t* new_tm_p, gex_TM_t parent_tm, int color, int key, void* scratch_addr,
                    size_t scratch_size, gex_Flags_t flags) {
  check_context("gex_TM_Split");
  // This layer's teams need no memory of the client's: they have their own.
  constexpr gex_Flags_t kQueries = GEX_FLAG_TM_SCRATCH_SIZE_MIN | GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED;
  if ((flags & kQueries) != 0) return new_tm_p != nullptr ? GASNET_PAGESIZE : 0;
  std::optional<std::uint32_t> colour;
  if (new_tm_p != nullptr && color < 0)
    fail("gex_TM_Split", "the colour is negative: pass 0 or more, or no new_tm_p for no team");
  if (new_tm_p != nullptr) colour = static_cast<std::uint32_t>(color);
  const gex_TM_t made =
      split("gex_TM_Split", whole(parent_tm), colour, key, scratch_addr, scratch_size, flags);
  if (new_tm_p != nullptr) *new_tm_p = made;
  return 0;
}
size_t gex_TM_Create(gex_TM_t* new_tms, size_t num_new_tms, gex_TM_t parent_tm, gex_EP_Location_t* args,
                     size_t numargs, gex_Addr_t* scratch_addrs, size_t scratch_size, gex_Flags_t flags) {
  check_context("gex_TM_Create");
  constexpr gex_Flags_t kQueries = GEX_FLAG_TM_SCRATCH_SIZE_MIN | GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED;
  const char* const call = "gex_TM_Create";
  if ((flags & kQueries) != 0) return numargs != 0 && num_new_tms != 0 ? GASNET_PAGESIZE : 0;
  Tm& parent = whole(parent_tm);
  // The lists of two callers are equal or have nobody in common. So the rank that is first in its list names the team.
  std::optional<std::uint32_t> colour;
  std::int64_t key = -1;
  for (size_t i = 0; i < numargs; ++i) {
    if (args[i].gex_ep_index != 0) fail(call, "only primordial endpoints can be members");
    const Rank rank = (flags & GEX_FLAG_RANK_IS_JOBRANK) != 0 ? args[i].gex_rank
                                                              : peer_of(parent_tm, args[i].gex_rank).rank;
    if (parent.team->index_of(rank) == kNoRank) fail(call, "args name a rank that the parent does not have");
    if (i == 0) colour = rank;
    if (rank != state().me()) continue;
    if (key >= 0) fail(call, "args name this rank twice");
    key = static_cast<std::int64_t>(i);
  }
  const bool member = numargs != 0 && num_new_tms != 0;
  if (member && key < 0) fail(call, "num_new_tms is not 0, but args do not name this rank");
  void* scratch = nullptr;
  if (member && scratch_addrs != nullptr && (flags & GEX_FLAG_TM_NO_SCRATCH) == 0) {
    scratch = scratch_addrs[(flags & GEX_FLAG_TM_GLOBAL_SCRATCH) != 0 ? static_cast<std::size_t>(key) : 0];
  }
  if (!member) colour.reset();
  const gex_TM_t made = split(call, parent, colour, key, scratch, scratch_size, flags);
  if (made != GEX_TM_INVALID && made->size != numargs)
    fail(call, "the members of the new team gave other lists, or one that is named made no team");
  if (member) *new_tms = made;
  return 0;
}
int gex_TM_Destroy(gex_TM_t tm, gex_Memvec_t* scratch_p, gex_Flags_t) {
  check_context("gex_TM_Destroy");
  Tm& team = whole(tm);
  if (!team.own) fail("gex_TM_Destroy", "the team of gex_Client_Init cannot be destroyed");
  const int given = team.scratch != nullptr && scratch_p != nullptr ? 1 : 0;
  if (given != 0) *scratch_p = {team.scratch, team.scratch_bytes};
  if (const Status status = team.own->end(); !status) fail("gex_TM_Destroy", nullptr, status);
  give_back_name(team.name);
  delete &team;
  return given;
}
gex_TM_t gex_TM_Pair(gex_EP_t local_ep, gex_EP_Index_t remote_ep_index) {
  return reinterpret_cast<gex_TM_t>(std::uintptr_t{1} | std::uintptr_t{local_ep->index} << 8 |
                                    std::uintptr_t{remote_ep_index} << 20);
}
gex_Rank_t gex_TM_TranslateRankToJobrank(gex_TM_t tm, gex_Rank_t rank) {
  check_context("gex_TM_TranslateRankToJobrank");
  return peer_of(tm, rank).rank;
}
gex_Rank_t gex_TM_TranslateJobrankToRank(gex_TM_t tm, gex_Rank_t jobrank) {
  check_context("gex_TM_TranslateJobrankToRank");
  const Rank index = whole(tm).team->index_of(jobrank);
  return index == kNoRank ? GEX_RANK_INVALID : index;
}
gex_EP_Location_t gex_TM_TranslateRankToEP(gex_TM_t tm, gex_Rank_t rank, gex_Flags_t) {
  check_context("gex_TM_TranslateRankToEP");
  const Peer peer = peer_of(tm, rank);
  return {peer.rank, static_cast<gex_EP_Index_t>(peer.remote)};
}

}  // extern "C"
