// Remote atomics: domains of Aqueduct's.

#include <aqueduct/c/atomic_domain.h>

#include "compat/gasnet/mapped_atomics.hpp"
#include "compat/gasnet/misuse.hpp"
#include "compat/gasnet/state.hpp"

#include <gasnet_ratomic.h>

namespace aqueduct::gasnet {
namespace {

/// A domain: on_mapped is all null if the network does its operations.
struct Domain : aqg_domain {
  aq_domain domain{};
  gex_Flags_t flags = 0;
  void* data = nullptr;
};
Domain& whole(gex_AD_t ad) noexcept { return *static_cast<Domain*>(ad); }

int type_of(gex_DT_t dt) noexcept {
  switch (dt) {
    case GEX_DT_I32: return AQ_I32;
    case GEX_DT_U32: return AQ_U32;
    case GEX_DT_I64: return AQ_I64;
    case GEX_DT_U64: return AQ_U64;
    case GEX_DT_FLT: return AQ_F32;
    case GEX_DT_DBL: return AQ_F64;
    default: return -1;
  }
}

void fill_table_of(aqg_domain& domain) noexcept {
  switch (domain.type) {
    case GEX_DT_I32: return fill_table<std::int32_t>(domain);
    case GEX_DT_U32: return fill_table<std::uint32_t>(domain);
    case GEX_DT_I64: return fill_table<std::int64_t>(domain);
    case GEX_DT_U64: return fill_table<std::uint64_t>(domain);
    case GEX_DT_FLT: return fill_table<float>(domain);
    case GEX_DT_DBL: return fill_table<double>(domain);
    default: return;
  }
}

/// Which ranks' atomics a domain makes fast. Alike on all members: the number of a rank's neighbourhood is.
int favour_of(const Tm& tm, gex_Flags_t flags) {
  if ((flags & (GEX_FLAG_AD_FAVOR_MY_RANK | GEX_FLAG_AD_FAVOR_MY_NBRHD)) != 0) return AQ_FAVOUR_NEAR;
  if ((flags & GEX_FLAG_AD_FAVOR_REMOTE) != 0) return AQ_FAVOUR_REMOTE;
  const std::vector<Rank>& numbers = state().nbrhd_of;
  for (Rank member = 0; member < tm.size; ++member) {
    if (numbers[tm.ranks != nullptr ? tm.ranks[member] : member] != numbers[state().me()])
      return AQ_FAVOUR_REMOTE;
  }
  return AQ_FAVOUR_NEAR;
}

/// An atomic with its arguments as Aqueduct wants them.
template <class T>
struct Call {
  Call(gex_AD_t ad, gex_DT_t type, gex_Rank_t rank, void* address, gex_OP_t op, T op1, T op2,
       gex_Flags_t flags)
      : peer((flags & GEX_FLAG_RANK_IS_JOBRANK) != 0 ? Peer{rank, 0, 0} : peer_of(ad->tm, rank)),
        at(handle_of(place_of(peer, address))),
        step(step_of(op)) {
    if (step.op < 0 || (ad->operations & op) == 0)
      fail("gex_AD_Op", "the operation does not belong to the domain");
    if (ad->type != type) fail("gex_AD_Op", "the domain was created for another type");
    // A compare-and-swap has the expected value first.
    operand = step.op == AQ_COMPARE_SWAP ? op2 : operand_of(step, op1);
    expected = op1;
    options.flags = (flags & GEX_FLAG_IMMEDIATE) != 0 ? AQ_IMMEDIATE : 0;
    if ((flags & GEX_FLAG_AD_REL) != 0) std::atomic_thread_fence(std::memory_order_release);
  }
  const void* operand_at() const noexcept { return step.op == AQ_LOAD ? nullptr : &operand; }
  const void* expected_at() const noexcept { return step.op == AQ_COMPARE_SWAP ? &expected : nullptr; }

  Peer peer;
  aq_ptr at;
  Step step;
  T operand{};
  T expected{};
  aq_options options{};
};

template <class T>
gex_Event_t begin(gex_AD_t ad, gex_DT_t type, T* result, gex_Rank_t rank, void* address, gex_OP_t op, T op1,
                  T op2, gex_Flags_t flags) {
  const Call<T> call(ad, type, rank, address, op, op1, op2, flags);
  const aq_event event = aq_domain_atomic_nb(&whole(ad).domain, call.step.op, call.at, call.operand_at(),
                                             call.expected_at(), call.step.fetches ? result : nullptr,
                                             call.options.flags != 0 ? &call.options : nullptr);
  return handle("gex_AD_OpNB", Event::adopt(event.word));
}
template <class T>
int begin_implicit(gex_AD_t ad, gex_DT_t type, T* result, gex_Rank_t rank, void* address, gex_OP_t op, T op1,
                   T op2, gex_Flags_t flags) {
  Call<T> call(ad, type, rank, address, op, op1, op2, flags);
  Thread& here = thread();
  Group& group = op == GEX_OP_SET ? here.puts : op == GEX_OP_GET ? here.gets : here.atomics;
  call.options.group = handle_of(*group_of(here, group));
  const aq_status status =
      aq_domain_atomic_nbi(&whole(ad).domain, call.step.op, call.at, call.operand_at(), call.expected_at(),
                           call.step.fetches ? result : nullptr, &call.options);
  return done_or_refused("gex_AD_OpNBI", call.peer, object_of(status)) ? 0 : 1;
}

}  // namespace
}  // namespace aqueduct::gasnet

using namespace aqueduct;
using namespace aqueduct::gasnet;

extern "C" {

void gex_AD_Create(gex_AD_t* ad_p, gex_TM_t tm, gex_DT_t dt, gex_OP_t ops, gex_Flags_t flags) {
  check_context("gex_AD_Create");
  auto made = std::make_unique<Domain>();
  std::uint32_t operations = 0;
  for (unsigned bit = 0; bit < 32; ++bit) {
    const gex_OP_t op = gex_OP_t{1} << bit;
    if ((ops & op) == 0) continue;
    const Step step = step_of(op);
    if (step.op < 0) fail("gex_AD_Create", "an operation is not one of atomics");
    operations |= 1u << step.op;
  }
  const aq_status status = aq_domain_create(handle_of(state().ep), operations, type_of(dt),
                                            favour_of(whole(tm), flags), &made->domain);
  if (!aq_ok(status)) fail("gex_AD_Create", nullptr, object_of(status));
  made->tm = tm;
  made->type = dt;
  made->operations = ops;
  if (!aq_domain_is_native(&made->domain)) fill_table_of(*made);
  made->flags = flags;
  *ad_p = made.release();
}
void gex_AD_Destroy(gex_AD_t ad) {
  check_context("gex_AD_Destroy");
  delete static_cast<Domain*>(ad);
}
gex_Flags_t gex_AD_QueryFlags(gex_AD_t ad) { return whole(ad).flags; }
gex_TM_t gex_AD_QueryTM(gex_AD_t ad) { return ad->tm; }
gex_DT_t gex_AD_QueryDT(gex_AD_t ad) { return ad->type; }
gex_OP_t gex_AD_QueryOps(gex_AD_t ad) { return ad->operations; }
void gex_AD_SetCData(gex_AD_t ad, const void* val) { whole(ad).data = const_cast<void*>(val); }
void* gex_AD_QueryCData(gex_AD_t ad) { return whole(ad).data; }

#define AQG_TYPE(NAME, T)                                                                                 \
  gex_Event_t aqg_AD_OpNB_##NAME(gex_AD_t ad, T* result_p, gex_Rank_t tgt_rank, void* tgt_addr,           \
                                 gex_OP_t opcode, T operand1, T operand2, gex_Flags_t flags) {            \
    return begin<T>(ad, GEX_DT_##NAME, result_p, tgt_rank, tgt_addr, opcode, operand1, operand2, flags);  \
  }                                                                                                       \
  int aqg_AD_OpNBI_##NAME(gex_AD_t ad, T* result_p, gex_Rank_t tgt_rank, void* tgt_addr, gex_OP_t opcode, \
                          T operand1, T operand2, gex_Flags_t flags) {                                    \
    return begin_implicit<T>(ad, GEX_DT_##NAME, result_p, tgt_rank, tgt_addr, opcode, operand1, operand2, \
                             flags);                                                                      \
  }
AQG_TYPE(I32, int32_t)
AQG_TYPE(U32, uint32_t)
AQG_TYPE(I64, int64_t)
AQG_TYPE(U64, uint64_t)
AQG_TYPE(FLT, float)
AQG_TYPE(DBL, double)
#undef AQG_TYPE
}
