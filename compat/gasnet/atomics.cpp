// Remote atomics: domains of Aqueduct's.

#include <aqueduct/c/atomic_domain.h>

#include "compat/gasnet/state.hpp"

#include <gasnet_ratomic.h>

#include <cstring>
#include <type_traits>

struct aqg_domain {
  aq_domain domain{};
  gex_TM_t tm = nullptr;
  gex_DT_t type = 0;
  gex_OP_t operations = 0;
  gex_Flags_t flags = 0;
  bool by_processors = false;  ///< the network does none of its operations
  void* data = nullptr;
};

namespace aqueduct::gasnet {
namespace {

/// How Aqueduct does an operation of GASNet's.
struct Step {
  int op = -1;      ///< enum aq_op; -1: it has none
  int operand = 1;  ///< 1: the first operand; -1: the negated one; 2: one; -2: minus one; 0: none
  bool fetches = false;
};
Step step_of(gex_OP_t op) noexcept {
  switch (op) {
    case GEX_OP_AND: return {AQ_AND};
    case GEX_OP_OR: return {AQ_OR};
    case GEX_OP_XOR: return {AQ_XOR};
    case GEX_OP_ADD: return {AQ_ADD};
    case GEX_OP_SUB: return {AQ_ADD, -1};
    case GEX_OP_MULT: return {AQ_MULTIPLY};
    case GEX_OP_MIN: return {AQ_MIN};
    case GEX_OP_MAX: return {AQ_MAX};
    case GEX_OP_INC: return {AQ_ADD, 2};
    case GEX_OP_DEC: return {AQ_ADD, -2};
    case GEX_OP_SET: return {AQ_STORE};
    case GEX_OP_CAS: return {AQ_COMPARE_SWAP};
    case GEX_OP_FAND: return {AQ_AND, 1, true};
    case GEX_OP_FOR: return {AQ_OR, 1, true};
    case GEX_OP_FXOR: return {AQ_XOR, 1, true};
    case GEX_OP_FADD: return {AQ_ADD, 1, true};
    case GEX_OP_FSUB: return {AQ_ADD, -1, true};
    case GEX_OP_FMULT: return {AQ_MULTIPLY, 1, true};
    case GEX_OP_FMIN: return {AQ_MIN, 1, true};
    case GEX_OP_FMAX: return {AQ_MAX, 1, true};
    case GEX_OP_FINC: return {AQ_ADD, 2, true};
    case GEX_OP_FDEC: return {AQ_ADD, -2, true};
    case GEX_OP_SWAP: return {AQ_SWAP, 1, true};
    case GEX_OP_FCAS: return {AQ_COMPARE_SWAP, 1, true};
    case GEX_OP_GET: return {AQ_LOAD, 0, true};
    default: return {};
  }
}
template <class T>
T operand_of(const Step& step, T first) noexcept {
  switch (step.operand) {
    case -1:
      if constexpr (std::is_integral_v<T>)
        return static_cast<T>(std::make_unsigned_t<T>{0} - static_cast<std::make_unsigned_t<T>>(first));
      else
        return -first;
    case 2: return T{1};
    case -2: return static_cast<T>(-1);
    default: return first;
  }
}

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

template <class To, class From>
To bits_as(From from) noexcept {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}
template <class T>
using MayAlias [[gnu::may_alias]] = T;

/// Does the operation by this processor, and stores what was there before. False: it is one for the library.
template <class T>
bool do_here(T* at, gex_OP_t op, T op1, T op2, T& before) noexcept {
  if constexpr (std::is_integral_v<T>) {
    switch (op) {
      case GEX_OP_ADD:
      case GEX_OP_FADD: before = __atomic_fetch_add(at, op1, __ATOMIC_ACQ_REL); return true;
      case GEX_OP_SUB:
      case GEX_OP_FSUB: before = __atomic_fetch_sub(at, op1, __ATOMIC_ACQ_REL); return true;
      case GEX_OP_INC:
      case GEX_OP_FINC: before = __atomic_fetch_add(at, T{1}, __ATOMIC_ACQ_REL); return true;
      case GEX_OP_DEC:
      case GEX_OP_FDEC: before = __atomic_fetch_sub(at, T{1}, __ATOMIC_ACQ_REL); return true;
      case GEX_OP_AND:
      case GEX_OP_FAND: before = __atomic_fetch_and(at, op1, __ATOMIC_ACQ_REL); return true;
      case GEX_OP_OR:
      case GEX_OP_FOR: before = __atomic_fetch_or(at, op1, __ATOMIC_ACQ_REL); return true;
      case GEX_OP_XOR:
      case GEX_OP_FXOR: before = __atomic_fetch_xor(at, op1, __ATOMIC_ACQ_REL); return true;
      case GEX_OP_CAS:
      case GEX_OP_FCAS:
        before = op1;
        __atomic_compare_exchange_n(at, &before, op2, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
        return true;
      default: break;
    }
  } else {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    const Step step = step_of(op);
    if (step.op == AQ_ADD) {
      const T more = operand_of(step, op1);
      auto* const word = reinterpret_cast<MayAlias<Bits>*>(at);
      Bits old = __atomic_load_n(word, __ATOMIC_RELAXED);
      for (;;) {
        before = bits_as<T>(old);
        const Bits after = bits_as<Bits>(before + more);
        if (__atomic_compare_exchange_n(word, &old, after, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) break;
      }
      return true;
    }
  }
  switch (op) {
    case GEX_OP_SET: __atomic_store(at, &op1, __ATOMIC_RELEASE); return true;
    case GEX_OP_GET: __atomic_load(at, &before, __ATOMIC_ACQUIRE); return true;
    case GEX_OP_SWAP: __atomic_exchange(at, &op1, &before, __ATOMIC_ACQ_REL); return true;
    default: return false;
  }
}
constexpr gex_OP_t kFetching = GEX_OP_FADD | GEX_OP_FSUB | GEX_OP_FINC | GEX_OP_FDEC | GEX_OP_FAND |
                               GEX_OP_FOR | GEX_OP_FXOR | GEX_OP_FCAS | GEX_OP_SWAP | GEX_OP_GET;
/// Does an operation on a word that is mapped here, of a domain whose operations processors do. False: nothing has happened, and
/// the library shall do it, or say what is wrong.
template <class T>
bool done_here(gex_AD_t ad, gex_DT_t type, T* result, gex_Rank_t rank, void* address, gex_OP_t op, T op1,
               T op2, gex_Flags_t flags) noexcept {
  if (!ad->by_processors || ad->type != type || (ad->operations & op) == 0) return false;
  const bool fetches = (op & kFetching) != 0;
  if (fetches && result == nullptr) return false;
  const bool is_job_rank = (flags & GEX_FLAG_RANK_IS_JOBRANK) != 0;
  if (rank >= (is_job_rank ? aqg_job_size : ad->tm->size)) return false;
  const aqg_place& place = is_job_rank ? ad->tm->places[rank] : *aqg_place_of(ad->tm, rank);
  void* const at = aq_find_in_window(place.value_window,
                                     reinterpret_cast<std::uintptr_t>(address) - place.base, sizeof(T));
  if (at == nullptr || reinterpret_cast<std::uintptr_t>(at) % sizeof(T) != 0) return false;
  T before{};
  if (!do_here(static_cast<T*>(at), op, op1, op2, before)) return false;
  if (fetches) *result = before;
  return true;
}

template <class T>
gex_Event_t begin(gex_AD_t ad, gex_DT_t type, T* result, gex_Rank_t rank, void* address, gex_OP_t op, T op1,
                  T op2, gex_Flags_t flags) {
  if (done_here(ad, type, result, rank, address, op, op1, op2, flags)) return GEX_EVENT_INVALID;
  const Call<T> call(ad, type, rank, address, op, op1, op2, flags);
  const aq_event event = aq_domain_atomic_nb(&ad->domain, call.step.op, call.at, call.operand_at(),
                                             call.expected_at(), call.step.fetches ? result : nullptr,
                                             call.options.flags != 0 ? &call.options : nullptr);
  return handle("gex_AD_OpNB", Event::adopt(event.word));
}
template <class T>
int begin_implicit(gex_AD_t ad, gex_DT_t type, T* result, gex_Rank_t rank, void* address, gex_OP_t op, T op1,
                   T op2, gex_Flags_t flags) {
  if (done_here(ad, type, result, rank, address, op, op1, op2, flags)) return 0;
  Call<T> call(ad, type, rank, address, op, op1, op2, flags);
  Thread& here = thread();
  Group& group = op == GEX_OP_SET ? here.puts : op == GEX_OP_GET ? here.gets : here.atomics;
  call.options.group = handle_of(*group_of(here, group));
  const aq_status status =
      aq_domain_atomic_nbi(&ad->domain, call.step.op, call.at, call.operand_at(), call.expected_at(),
                           call.step.fetches ? result : nullptr, &call.options);
  return done_or_refused("gex_AD_OpNBI", call.peer, object_of(status)) ? 0 : 1;
}

}  // namespace
}  // namespace aqueduct::gasnet

using namespace aqueduct;
using namespace aqueduct::gasnet;

extern "C" {

void gex_AD_Create(gex_AD_t* ad_p, gex_TM_t tm, gex_DT_t dt, gex_OP_t ops, gex_Flags_t flags) {
  auto made = std::make_unique<aqg_domain>();
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
  made->by_processors = !aq_domain_is_native(&made->domain);
  made->flags = flags;
  *ad_p = made.release();
}
void gex_AD_Destroy(gex_AD_t ad) { delete ad; }
gex_Flags_t gex_AD_QueryFlags(gex_AD_t ad) { return ad->flags; }
gex_TM_t gex_AD_QueryTM(gex_AD_t ad) { return ad->tm; }
gex_DT_t gex_AD_QueryDT(gex_AD_t ad) { return ad->type; }
gex_OP_t gex_AD_QueryOps(gex_AD_t ad) { return ad->operations; }
void gex_AD_SetCData(gex_AD_t ad, const void* val) { ad->data = const_cast<void*>(val); }
void* gex_AD_QueryCData(gex_AD_t ad) { return ad->data; }

#define AQG_TYPE(NAME, T)                                                                                 \
  gex_Event_t gex_AD_OpNB_##NAME(gex_AD_t ad, T* result_p, gex_Rank_t tgt_rank, void* tgt_addr,           \
                                 gex_OP_t opcode, T operand1, T operand2, gex_Flags_t flags) {            \
    return begin<T>(ad, GEX_DT_##NAME, result_p, tgt_rank, tgt_addr, opcode, operand1, operand2, flags);  \
  }                                                                                                       \
  int gex_AD_OpNBI_##NAME(gex_AD_t ad, T* result_p, gex_Rank_t tgt_rank, void* tgt_addr, gex_OP_t opcode, \
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
