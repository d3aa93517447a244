// GASNet-EX's collectives.

#include <aqueduct/c/coll.h>

#include "compat/gasnet/misuse.hpp"
#include "compat/gasnet/state.hpp"
#include "compat/gasnet/user_operators.hpp"

#include <gasnet_coll.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <new>
#include <utility>

namespace aqueduct::gasnet {
namespace {

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

/// Begins a call of the team's by `start`, with the event of `with` if it is a reduction by a function of the client's. Where
/// this rank holds all its events (AQUEDUCT_OPERATIONS) `all_of_it` does the call to its end, as the specification permits.
template <class Begin, class AllOfIt, class... Arguments>
gex_Event_t begin(const char* call, Tm& tm, UserReduction* with, Begin start, AllOfIt all_of_it,
                  Arguments... arguments) {
  Event begun = Event::adopt(start(handle_of(*tm.team), arguments..., &kMine).word);
  const gex_Event_t event = with == nullptr ? handle(call, std::move(begun))
                                            : handle(call, std::move(begun), with->in_flight.front());
  if (event != GEX_EVENT_NO_OP) return event;
  const aq_status status = all_of_it(handle_of(*tm.team), arguments..., &kMine);
  if (!aq_ok(status)) fail(call, nullptr, object_of(status));
  return GEX_EVENT_INVALID;
}

/// Whether a reduction gathers its values; the same on all members.
bool gathers(const Tm& tm, gex_OP_t op, size_t dt_sz) noexcept {
  return (op == GEX_OP_USER || op == GEX_OP_USER_NC) && tm.own && dt_sz > kLongestReduced;
}
/// Begins one. `root`: who alone gets the result.
gex_Event_t begin_gathered(const char* call, Tm& tm, std::optional<Rank> root, void* dst, const void* src,
                           size_t dt_sz, size_t dt_cnt, gex_Coll_ReduceFn_t user_op, void* user_cdata) {
  std::unique_ptr<GatheredReduction> gathered(new (std::nothrow) GatheredReduction);
  if (gathered == nullptr) fail(call, "the process has no memory for one more operation");
  gathered->members = tm.size;
  gathered->bytes = dt_sz * dt_cnt;
  gathered->count = dt_cnt;
  gathered->function = user_op;
  gathered->data = user_cdata;
  gathered->result = dst;
  if (!root || *root == tm.rank) {
    gathered->all.reset(new (std::nothrow) std::byte[gathered->members * gathered->bytes]);
    if (gathered->all == nullptr) fail(call, "the process has no memory for the values of all members");
  }
  const aq_buffer out = gathered->all != nullptr ? aq_mine(gathered->all.get()) : aq_no_buffer();
  const aq_block block = aq_block_of_bytes(gathered->bytes, 1);
  aq_team* const team = handle_of(*tm.team);
  const aq_event begun = root ? aq_gather_nb(team, aq_mine(src), out, block, *root, &kMine)
                              : aq_all_gather_nb(team, aq_mine(src), out, block, &kMine);
  const gex_Event_t event = handle(call, Event::adopt(begun.word), gathered.get());
  if (event == GEX_EVENT_NO_OP) {
    const aq_status status = root ? aq_gather(team, aq_mine(src), out, block, *root, &kMine)
                                  : aq_all_gather(team, aq_mine(src), out, block, &kMine);
    if (!aq_ok(status)) fail(call, nullptr, object_of(status));
    combine_gathered(gathered.release());
    return GEX_EVENT_INVALID;
  }
  static_cast<void>(gathered.release());  // the event has it
  return event;
}

}  // namespace
}  // namespace aqueduct::gasnet

using namespace aqueduct;
using namespace aqueduct::gasnet;

extern "C" {

gex_Event_t gex_Coll_BarrierNB(gex_TM_t tm, gex_Flags_t) {
  check_context("gex_Coll_BarrierNB");
  Tm& team = whole(tm);
  auto told_at = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (;;) {
    Event event = team.team->barrier_nb();
    if (!event.done()) return handle("gex_Coll_BarrierNB", std::move(event));
    const Status status = event.status();
    if (status) return GEX_EVENT_INVALID;
    if (status.code() != ErrorCode::refused) fail("gex_Coll_BarrierNB", nullptr, status);
    // All events are held, perhaps: the library has one barrier of each team that needs none.
    if (!team.barrier_is_split.exchange(true)) {
      if (team.team->notify()) return handle_of_split_barrier(team);
      team.barrier_is_split = false;
    }
    static_cast<void>(state().ep.progress_for(std::chrono::milliseconds(1)));  // too many are in flight
    if (std::chrono::steady_clock::now() < told_at) continue;
    told_at = std::chrono::steady_clock::time_point::max();
    std::fprintf(stderr,
                 "*** GASNet: rank %u has waited 10 s in gex_Coll_BarrierNB: %u barriers of the team are in "
                 "flight, or %s. If other members begin theirs only after this call, it hangs\n",
                 static_cast<unsigned>(state().me()), static_cast<unsigned>(Team::kMostBarriers),
                 "all of AQUEDUCT_OPERATIONS events are held, and one barrier is in flight without");
  }
}

/// Without an event: the library ends a blocking barrier in half of the time.
void gex_Coll_BarrierBlocking(gex_TM_t tm, gex_Flags_t flags) {
  check_context("gex_Coll_BarrierBlocking");
  Tm& team = whole(tm);
  // Another thread may be in the one barrier that needs no event.
  if (!team.barrier_is_split.exchange(true)) {
    const Status status = team.team->barrier();
    team.barrier_is_split = false;
    if (status) return;
    if (status.code() != ErrorCode::refused) fail("gex_Coll_BarrierBlocking", nullptr, status);
  }
  gex_Event_Wait(gex_Coll_BarrierNB(tm, flags));
}

gex_Event_t gex_Coll_BroadcastNB(gex_TM_t tm, gex_Rank_t root, void* dst, const void* src, size_t nbytes,
                                 gex_Flags_t) {
  check_context("gex_Coll_BroadcastNB");
  Tm& team = whole(tm);
  const aq_buffer in = team.rank == root ? aq_mine(src) : aq_no_buffer();
  return begin("gex_Coll_BroadcastNB", team, nullptr, aq_broadcast_nb, aq_broadcast, in, aq_mine(dst),
               aq_block_of_bytes(nbytes, 1), root);
}
gex_Event_t gex_Coll_ReduceToOneNB(gex_TM_t tm, gex_Rank_t root, void* dst, const void* src, gex_DT_t dt,
                                   size_t dt_sz, size_t dt_cnt, gex_OP_t op, gex_Coll_ReduceFn_t user_op,
                                   void* user_cdata, gex_Flags_t) {
  check_context("gex_Coll_ReduceToOneNB");
  const char* const call = "gex_Coll_ReduceToOneNB";
  Tm& team = whole(tm);
  check_elements(call, dt, dt_sz, op, user_op != nullptr);
  if (gathers(team, op, dt_sz))
    return begin_gathered(call, team, root, dst, src, dt_sz, dt_cnt, user_op, user_cdata);
  const Reduction by = reduction(call, team, dt, dt_sz, dt_cnt, op, user_op, user_cdata);
  const aq_buffer out = team.rank == root ? aq_mine(dst) : aq_no_buffer();
  return begin(call, team, by.with, aq_reduce_nb, aq_reduce, aq_mine(src), out, by.block, by.reducer, root);
}
gex_Event_t gex_Coll_ReduceToAllNB(gex_TM_t tm, void* dst, const void* src, gex_DT_t dt, size_t dt_sz,
                                   size_t dt_cnt, gex_OP_t op, gex_Coll_ReduceFn_t user_op, void* user_cdata,
                                   gex_Flags_t) {
  check_context("gex_Coll_ReduceToAllNB");
  const char* const call = "gex_Coll_ReduceToAllNB";
  Tm& team = whole(tm);
  check_elements(call, dt, dt_sz, op, user_op != nullptr);
  if (gathers(team, op, dt_sz))
    return begin_gathered(call, team, {}, dst, src, dt_sz, dt_cnt, user_op, user_cdata);
  const Reduction by = reduction(call, team, dt, dt_sz, dt_cnt, op, user_op, user_cdata);
  return begin(call, team, by.with, aq_all_reduce_nb, aq_all_reduce, aq_mine(src), aq_mine(dst), by.block,
               by.reducer);
}

}  // extern "C"
