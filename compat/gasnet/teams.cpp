// Teams, barriers and collectives.

#include <aqueduct/c/coll.h>
#include <aqueduct/coll.hpp>

#include "compat/gasnet/state.hpp"

#include <gasnet_coll.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstring>
#include <map>
#include <mutex>

namespace aqueduct::gasnet {

/// An operator for reductions by a function of the client's. Aqueduct's operators are registered for good, under numbers that are
/// equal on all members, so later teams use them again. This says which function the operator calls now.
struct UserReduction {
  std::size_t element = 0;
  std::uint32_t number = 0;
  bool commutative = true;
  gex_Coll_ReduceFn_t function = nullptr;
  void* data = nullptr;
  std::atomic<Composite*> in_flight{
      nullptr};  ///< the event of the last operation with it, until it is synced
};

namespace {

/// Reductions of one element size in flight on a team, by functions of the client's.
constexpr std::uint32_t kSlots = 16;
// The parts of an operator's number, from the lowest bit on: the slot, the team, commutativity and the element's size.
constexpr unsigned kTeamAt = 4, kKindAt = 15;
constexpr std::uint32_t kMostTeams = 1u << (kKindAt - kTeamAt);
constexpr std::size_t kMostElement = 1u << (31 - kKindAt);

/// Numbers of this rank's live teams. Two that have members in common have different ones.
struct Names {
  std::mutex mutex;
  std::bitset<kMostTeams> used{1};  // 0: the world
};
Names& names() {
  static auto* const all = new Names;
  return *all;
}
bool take_name(std::uint32_t name) {
  const std::lock_guard lock(names().mutex);
  if (names().used[name]) return false;
  names().used.set(name);
  return true;
}
void give_back_name(std::uint32_t name) {
  const std::lock_guard lock(names().mutex);
  if (name < kMostTeams) names().used.reset(name);
}
/// Chooses a number that no member uses for another team. Returns kMostTeams if all numbers are in use. Collective over the new team.
std::uint32_t agree_on_name(const char* call, Team& team) {
  const auto must = [call](Status status) {
    if (!status) fail(call, nullptr, status);
  };
  for (;;) {
    std::array<std::uint64_t, kMostTeams / 64> used{};
    {
      const std::lock_guard lock(names().mutex);
      for (std::uint32_t i = 0; i < kMostTeams; ++i) used[i / 64] |= std::uint64_t{names().used[i]} << i % 64;
    }
    must(all_reduce(team, std::span(used), ReduceOp::bit_or));
    std::uint32_t name = 0;
    while (name < kMostTeams && (used[name / 64] >> name % 64 & 1) != 0) ++name;
    if (name == kMostTeams) return name;
    // Another thread may have taken it meanwhile, for another team.
    const bool taken = take_name(name);
    std::uint64_t all_have = taken ? 1 : 0;
    must(all_reduce(team, std::span(&all_have, 1), ReduceOp::min));
    if (all_have == 1) return name;
    if (taken) give_back_name(name);
  }
}

CollOptions mine_only() noexcept {
  CollOptions options;
  options.in = Sync::mine;
  options.out = Sync::mine;
  return options;
}

gex_TM_t adopt_team(const char* call, Tm& parent, Team&& team, void* scratch, std::size_t bytes,
                    gex_Flags_t flags) {
  auto* const made = new Tm;
  made->own.emplace(std::move(team));
  made->team = &*made->own;
  made->ep = parent.ep;
  made->places = parent.places;
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

void combine(void* to, const void* left, const void* right, std::size_t count, void* context) {
  const auto& use = *static_cast<const UserReduction*>(context);
  const std::size_t bytes = count * use.element;
  if (to == right) {
    use.function(left, to, count, use.data);
  } else if (to == left && use.commutative) {
    use.function(right, to, count, use.data);
  } else if (to == left) {
    std::vector<std::byte> result(static_cast<const std::byte*>(right),
                                  static_cast<const std::byte*>(right) + bytes);
    use.function(left, result.data(), count, use.data);
    std::memcpy(to, result.data(), bytes);
  } else {
    std::memcpy(to, right, bytes);
    use.function(left, to, count, use.data);
  }
}

/// Finds or registers the operator of that number.
UserReduction& user_operator(std::uint32_t number, std::size_t element, bool commutative) {
  constexpr const char* kCall = "a reduction by a function of the client's";
  static auto* const all =
      new std::map<std::uint32_t, UserReduction>;  // as long as the endpoint: progress may call it
  static auto* const mutex = new std::mutex;
  const std::lock_guard lock(*mutex);
  const auto [at, is_new] = all->try_emplace(number);
  UserReduction& one = at->second;
  if (!is_new) return one;
  one.element = element;
  one.number = number;
  one.commutative = commutative;
  const Status added = add_operator(state().ep, number, {combine, &one, element, commutative});
  if (!added) fail(kCall, nullptr, added);
  return one;
}

/// The next operator of a team for a function of the client's. All members take the same one, because they make the same
/// calls in the same order.
UserReduction& next_operator(Tm& tm, std::size_t element, bool commutative, gex_Coll_ReduceFn_t function,
                             void* data) {
  constexpr const char* kCall = "a reduction by a function of the client's";
  if (tm.name >= kMostTeams) fail(kCall, "too many teams live: destroy some before the team is made");
  if (element >= kMostElement) fail(kCall, "an element may have at most 65535 bytes");
  const auto kind = static_cast<std::uint32_t>(element << 1 | (commutative ? 1 : 0));
  const std::uint32_t slot = tm.reductions[kind]++ % kSlots;
  UserReduction& one = user_operator(kind << kKindAt | tm.name << kTeamAt | slot, element, commutative);
  const auto is_free = [&one] {
    const Composite* const last = one.in_flight.load(std::memory_order_acquire);
    return last == nullptr || composite_done(*last);
  };
  if (!is_free()) {
    const Status waited = state().ep.wait_until(is_free);
    if (!waited) fail(kCall, nullptr, waited);
  }
  one.function = function;
  one.data = data;
  return one;
}

int element_of(gex_DT_t dt) noexcept {
  switch (dt) {
    case GEX_DT_I32: return AQ_ELEMENT_I32;
    case GEX_DT_U32: return AQ_ELEMENT_U32;
    case GEX_DT_I64: return AQ_ELEMENT_I64;
    case GEX_DT_U64: return AQ_ELEMENT_U64;
    case GEX_DT_FLT: return AQ_ELEMENT_F32;
    case GEX_DT_DBL: return AQ_ELEMENT_F64;
    default: return AQ_ELEMENT_BYTES;
  }
}
int operator_of(gex_OP_t op) noexcept {
  switch (op) {
    case GEX_OP_ADD: return AQ_REDUCE_SUM;
    case GEX_OP_MULT: return AQ_REDUCE_PRODUCT;
    case GEX_OP_MIN: return AQ_REDUCE_MIN;
    case GEX_OP_MAX: return AQ_REDUCE_MAX;
    case GEX_OP_AND: return AQ_REDUCE_BIT_AND;
    case GEX_OP_OR: return AQ_REDUCE_BIT_OR;
    case GEX_OP_XOR: return AQ_REDUCE_BIT_XOR;
    default: return -1;
  }
}

constexpr aq_coll_options kMine = {AQ_SYNC_MINE, AQ_SYNC_MINE, AQ_ORDER_ANY, 0, 0};

/// What all reductions have in common: the block, and the operator.
struct Reduction {
  aq_block block;
  aq_reducer reducer;
  UserReduction* with = nullptr;
};
Reduction reduction(const char* call, Tm& tm, gex_DT_t dt, size_t dt_sz, size_t dt_cnt, gex_OP_t op,
                    gex_Coll_ReduceFn_t user_op, void* user_cdata) {
  if (op == GEX_OP_USER || op == GEX_OP_USER_NC) {
    UserReduction& with = next_operator(tm, dt_sz, op == GEX_OP_USER, user_op, user_cdata);
    return {aq_block_of_bytes(dt_cnt, static_cast<std::uint32_t>(dt_sz)), aq_by_user(with.number), &with};
  }
  const int by = operator_of(op);
  if (by < 0) fail(call, "no such operation");
  return {aq_block_of(element_of(dt), dt_cnt), aq_by(by)};
}

gex_Event_t begun(const char* call, aq_event event, UserReduction* with = nullptr) {
  if (with == nullptr) return handle(call, Event::adopt(event.word));
  return handle(call, Event::adopt(event.word), with->in_flight);
}

// ------------------------------------------------------------------------------------------- GASNet-1's barrier

constexpr std::int64_t kNoName = INT64_MIN;

struct NamedBarrier {
  bool under_way = false;
  int id = 0;
  int flags = 0;
  std::int64_t names[3] = {};
  Event event;
  bool result_anonymous = true;
  int result = 0;
};
NamedBarrier& named() {
  static NamedBarrier* const one = new NamedBarrier;
  return *one;
}

void notify_barrier(int id, int flags) {
  NamedBarrier& b = named();
  if (b.under_way) fail("gasnet_barrier_notify", "the last barrier has not been waited for");
  b.under_way = true;
  b.id = id;
  b.flags = flags;
  const bool anonymous = (flags & GASNET_BARRIERFLAG_ANONYMOUS) != 0;
  b.names[0] = anonymous ? kNoName : id;
  b.names[1] = anonymous ? kNoName : -static_cast<std::int64_t>(id);
  b.names[2] = (flags & GASNET_BARRIERFLAG_MISMATCH) != 0 ? 1 : 0;
  if ((flags & GASNET_BARRIERFLAG_UNNAMED) == GASNET_BARRIERFLAG_UNNAMED) {  // all members say so
    b.event = state().barrier_team->barrier_nb();
  } else {
    b.event = all_reduce_nb(*state().barrier_team, std::span(b.names), ReduceOp::max, mine_only());
  }
}
int end_barrier(int id, int flags) {
  NamedBarrier& b = named();
  if (const Status status = b.event.status(); !status) fail("gasnet_barrier_wait", nullptr, status);
  b.under_way = false;
  const bool unnamed = (b.flags & GASNET_BARRIERFLAG_UNNAMED) == GASNET_BARRIERFLAG_UNNAMED;
  b.result_anonymous = unnamed || b.names[0] == kNoName;
  b.result = b.result_anonymous ? 0 : static_cast<int>(b.names[0]);
  const bool differ = !b.result_anonymous && b.names[0] != -b.names[1];
  const bool wait_named = (flags & GASNET_BARRIERFLAG_ANONYMOUS) == 0;
  const bool waits_for_another =
      wait_named && ((!b.result_anonymous && id != b.result) ||
                     ((b.flags & GASNET_BARRIERFLAG_ANONYMOUS) == 0 && id != b.id));
  const bool said_mismatch = b.names[2] != 0 || (flags & GASNET_BARRIERFLAG_MISMATCH) != 0;
  return differ || waits_for_another || (said_mismatch && !unnamed) ? GASNET_ERR_BARRIER_MISMATCH : GASNET_OK;
}

}  // namespace
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
  // This layer's teams need no memory of the client's: they have their own.
  constexpr gex_Flags_t kQueries = GEX_FLAG_TM_SCRATCH_SIZE_MIN | GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED;
  if ((flags & kQueries) != 0) return new_tm_p != nullptr ? GASNET_PAGESIZE : 0;
  std::optional<std::uint32_t> colour;
  if (new_tm_p != nullptr) colour = static_cast<std::uint32_t>(color);
  const gex_TM_t made =
      split("gex_TM_Split", whole(parent_tm), colour, key, scratch_addr, scratch_size, flags);
  if (new_tm_p != nullptr) *new_tm_p = made;
  return 0;
}
size_t gex_TM_Create(gex_TM_t* new_tms, size_t num_new_tms, gex_TM_t parent_tm, gex_EP_Location_t* args,
                     size_t numargs, gex_Addr_t* scratch_addrs, size_t scratch_size, gex_Flags_t flags) {
  constexpr gex_Flags_t kQueries = GEX_FLAG_TM_SCRATCH_SIZE_MIN | GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED;
  const char* const call = "gex_TM_Create";
  if ((flags & kQueries) != 0) return numargs != 0 && num_new_tms != 0 ? GASNET_PAGESIZE : 0;
  Tm& parent = whole(parent_tm);
  // The lists of two callers are equal or have nobody in common. So the rank that is first in its list names the team.
  std::optional<std::uint32_t> colour;
  std::int64_t key = 0;
  for (size_t i = 0; i < numargs; ++i) {
    if (args[i].gex_ep_index != 0) fail(call, "only primordial endpoints can be members");
    const Rank rank = (flags & GEX_FLAG_RANK_IS_JOBRANK) != 0 ? args[i].gex_rank
                                                              : peer_of(parent_tm, args[i].gex_rank).rank;
    if (i == 0) colour = rank;
    if (rank == state().me()) key = static_cast<std::int64_t>(i);
  }
  void* scratch = nullptr;
  if (scratch_addrs != nullptr && numargs != 0 && (flags & GEX_FLAG_TM_NO_SCRATCH) == 0) {
    scratch = scratch_addrs[(flags & GEX_FLAG_TM_GLOBAL_SCRATCH) != 0 ? static_cast<std::size_t>(key) : 0];
  }
  const bool member = numargs != 0 && num_new_tms != 0;
  if (!member) colour.reset();
  const gex_TM_t made = split(call, parent, colour, key, scratch, scratch_size, flags);
  if (member) *new_tms = made;
  return 0;
}
int gex_TM_Destroy(gex_TM_t tm, gex_Memvec_t* scratch_p, gex_Flags_t) {
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
gex_Rank_t gex_TM_TranslateRankToJobrank(gex_TM_t tm, gex_Rank_t rank) { return peer_of(tm, rank).rank; }
gex_Rank_t gex_TM_TranslateJobrankToRank(gex_TM_t tm, gex_Rank_t jobrank) {
  const Rank index = whole(tm).team->index_of(jobrank);
  return index == kNoRank ? GEX_RANK_INVALID : index;
}
gex_EP_Location_t gex_TM_TranslateRankToEP(gex_TM_t tm, gex_Rank_t rank, gex_Flags_t) {
  const Peer peer = peer_of(tm, rank);
  return {peer.rank, static_cast<gex_EP_Index_t>(peer.remote)};
}

gex_Event_t gex_Coll_BarrierNB(gex_TM_t tm, gex_Flags_t) {
  Team& team = *whole(tm).team;
  for (;;) {
    Event event = team.barrier_nb();
    if (!event.done()) return handle("gex_Coll_BarrierNB", std::move(event));
    const Status status = event.status();
    if (status) return GEX_EVENT_INVALID;
    if (status.code() != ErrorCode::refused) fail("gex_Coll_BarrierNB", nullptr, status);
    static_cast<void>(state().ep.progress_for(std::chrono::milliseconds(1)));  // too many are in flight
  }
}

gex_Event_t gex_Coll_BroadcastNB(gex_TM_t tm, gex_Rank_t root, void* dst, const void* src, size_t nbytes,
                                 gex_Flags_t) {
  Tm& team = whole(tm);
  const aq_block block = aq_block_of_bytes(nbytes, 1);
  const aq_buffer in = team.rank == root ? aq_mine(src) : aq_no_buffer();
  return begun("gex_Coll_BroadcastNB",
               aq_broadcast_nb(handle_of(*team.team), in, aq_mine(dst), block, root, &kMine));
}
gex_Event_t gex_Coll_ReduceToOneNB(gex_TM_t tm, gex_Rank_t root, void* dst, const void* src, gex_DT_t dt,
                                   size_t dt_sz, size_t dt_cnt, gex_OP_t op, gex_Coll_ReduceFn_t user_op,
                                   void* user_cdata, gex_Flags_t) {
  const char* const call = "gex_Coll_ReduceToOneNB";
  Tm& team = whole(tm);
  const Reduction by = reduction(call, team, dt, dt_sz, dt_cnt, op, user_op, user_cdata);
  const aq_buffer out = team.rank == root ? aq_mine(dst) : aq_no_buffer();
  return begun(call,
               aq_reduce_nb(handle_of(*team.team), aq_mine(src), out, by.block, by.reducer, root, &kMine),
               by.with);
}
gex_Event_t gex_Coll_ReduceToAllNB(gex_TM_t tm, void* dst, const void* src, gex_DT_t dt, size_t dt_sz,
                                   size_t dt_cnt, gex_OP_t op, gex_Coll_ReduceFn_t user_op, void* user_cdata,
                                   gex_Flags_t) {
  const char* const call = "gex_Coll_ReduceToAllNB";
  Tm& team = whole(tm);
  const Reduction by = reduction(call, team, dt, dt_sz, dt_cnt, op, user_op, user_cdata);
  return begun(
      call, aq_all_reduce_nb(handle_of(*team.team), aq_mine(src), aq_mine(dst), by.block, by.reducer, &kMine),
      by.with);
}

void gasnet_barrier_notify(int id, int flags) { notify_barrier(id, flags); }
int gasnet_barrier_try(int id, int flags) {
  if (!state().ep.test(named().event)) return GASNET_ERR_NOT_READY;
  return end_barrier(id, flags);
}
int gasnet_barrier_wait(int id, int flags) {
  if (!named().under_way) fail("gasnet_barrier_wait", "there is no barrier to wait for");
  static_cast<void>(state().ep.wait(named().event));
  return end_barrier(id, flags);
}
int gasnet_barrier(int id, int flags) {
  gasnet_barrier_notify(id, flags);
  return gasnet_barrier_wait(id, flags);
}
int gasnet_barrier_result(int* id) {
  const NamedBarrier& b = named();
  if (b.result_anonymous) return 1;
  *id = b.result;
  return 0;
}

}  // extern "C"

// GASNet-1's collectives, which only the team of all ranks has.

namespace {

CollOptions options_of(int flags) noexcept {
  CollOptions options;
  options.in = (flags & GASNET_COLL_IN_NOSYNC) != 0   ? Sync::none
               : (flags & GASNET_COLL_IN_MYSYNC) != 0 ? Sync::mine
                                                      : Sync::all;
  options.out = (flags & GASNET_COLL_OUT_NOSYNC) != 0   ? Sync::none
                : (flags & GASNET_COLL_OUT_MYSYNC) != 0 ? Sync::mine
                                                        : Sync::all;
  return options;
}
Team& all() { return *state().world->team; }
std::span<const std::byte> in(const void* from, std::size_t bytes) {
  return {static_cast<const std::byte*>(from), bytes};
}
std::span<std::byte> out(void* to, std::size_t bytes) { return {static_cast<std::byte*>(to), bytes}; }
std::size_t times_all(std::size_t bytes) { return bytes * state().ep.ranks(); }
bool am(gasnet_image_t image) { return state().me() == image; }

}  // namespace

extern "C" {

void gasnet_coll_init(const gasnet_image_t*, gasnet_image_t, void*, size_t, int) {}
gasnet_coll_handle_t gasnet_coll_broadcast_nb(gasnet_team_handle_t, void* dst, gasnet_image_t root, void* src,
                                              size_t nbytes, int flags) {
  return handle("gasnet_coll_broadcast", broadcast_nb(all(), in(src, am(root) ? nbytes : 0), out(dst, nbytes),
                                                      root, options_of(flags)));
}
gasnet_coll_handle_t gasnet_coll_scatter_nb(gasnet_team_handle_t, void* dst, gasnet_image_t root, void* src,
                                            size_t nbytes, int flags) {
  return handle("gasnet_coll_scatter", scatter_nb(all(), in(src, am(root) ? times_all(nbytes) : 0),
                                                  out(dst, nbytes), root, options_of(flags)));
}
gasnet_coll_handle_t gasnet_coll_gather_nb(gasnet_team_handle_t, gasnet_image_t root, void* dst, void* src,
                                           size_t nbytes, int flags) {
  return handle(
      "gasnet_coll_gather",
      gather_nb(all(), in(src, nbytes), out(dst, am(root) ? times_all(nbytes) : 0), root, options_of(flags)));
}
gasnet_coll_handle_t gasnet_coll_gather_all_nb(gasnet_team_handle_t, void* dst, void* src, size_t nbytes,
                                               int flags) {
  return handle("gasnet_coll_gather_all",
                all_gather_nb(all(), in(src, nbytes), out(dst, times_all(nbytes)), options_of(flags)));
}
gasnet_coll_handle_t gasnet_coll_exchange_nb(gasnet_team_handle_t, void* dst, void* src, size_t nbytes,
                                             int flags) {
  return handle("gasnet_coll_exchange", all_to_all_nb(all(), in(src, times_all(nbytes)),
                                                      out(dst, times_all(nbytes)), options_of(flags)));
}
void gasnet_coll_broadcast(gasnet_team_handle_t team, void* dst, gasnet_image_t root, void* src, size_t n,
                           int flags) {
  gex_Event_Wait(gasnet_coll_broadcast_nb(team, dst, root, src, n, flags));
}
void gasnet_coll_scatter(gasnet_team_handle_t team, void* dst, gasnet_image_t root, void* src, size_t n,
                         int flags) {
  gex_Event_Wait(gasnet_coll_scatter_nb(team, dst, root, src, n, flags));
}
void gasnet_coll_gather(gasnet_team_handle_t team, gasnet_image_t root, void* dst, void* src, size_t n,
                        int flags) {
  gex_Event_Wait(gasnet_coll_gather_nb(team, root, dst, src, n, flags));
}
void gasnet_coll_gather_all(gasnet_team_handle_t team, void* dst, void* src, size_t n, int flags) {
  gex_Event_Wait(gasnet_coll_gather_all_nb(team, dst, src, n, flags));
}
void gasnet_coll_exchange(gasnet_team_handle_t team, void* dst, void* src, size_t n, int flags) {
  gex_Event_Wait(gasnet_coll_exchange_nb(team, dst, src, n, flags));
}
int gasnet_coll_try_sync(gasnet_coll_handle_t handle) {
  gasnet_AMPoll();
  return gex_Event_Test(handle);
}
void gasnet_coll_wait_sync(gasnet_coll_handle_t handle) { gex_Event_Wait(handle); }
void gasnet_coll_barrier_notify(gasnet_team_handle_t, int id, int flags) { gasnet_barrier_notify(id, flags); }
int gasnet_coll_barrier_wait(gasnet_team_handle_t, int id, int flags) {
  return gasnet_barrier_wait(id, flags);
}
int gasnet_coll_barrier_try(gasnet_team_handle_t, int id, int flags) { return gasnet_barrier_try(id, flags); }
int gasnet_coll_barrier(gasnet_team_handle_t, int id, int flags) { return gasnet_barrier(id, flags); }
}
