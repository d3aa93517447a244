#include "tests/compat/corners/corners.h"

// Every operation of every type, on the owner that a team's rank or a rank of the job names.
#define MODEL_INTEGERS(T, op, old, a)                                                                             \
  ((op) == GEX_OP_AND || (op) == GEX_OP_FAND ? (T)(old & a) : (op) == GEX_OP_OR || (op) == GEX_OP_FOR ? (T)(old | a) \
                                                                                          : (T)(old ^ a))
#define MODEL(T, U, op, old, a, b)                                          \
  ((op) == GEX_OP_ADD || (op) == GEX_OP_FADD     ? (T)((U)(old) + (U)(a))   \
   : (op) == GEX_OP_SUB || (op) == GEX_OP_FSUB   ? (T)((U)(old) - (U)(a))   \
   : (op) == GEX_OP_MULT || (op) == GEX_OP_FMULT ? (T)((U)(old) * (U)(a))   \
   : (op) == GEX_OP_MIN || (op) == GEX_OP_FMIN   ? ((old) < (a) ? (old) : (a)) \
   : (op) == GEX_OP_MAX || (op) == GEX_OP_FMAX   ? ((old) > (a) ? (old) : (a)) \
   : (op) == GEX_OP_INC || (op) == GEX_OP_FINC   ? (T)((U)(old) + 1)        \
   : (op) == GEX_OP_DEC || (op) == GEX_OP_FDEC   ? (T)((U)(old)-1)          \
   : (op) == GEX_OP_SET || (op) == GEX_OP_SWAP   ? (a)                      \
   : (op) == GEX_OP_CAS || (op) == GEX_OP_FCAS   ? ((old) == (a) ? (b) : (old)) \
                                                 : (old))
#define ATOMICS(NAME, T, U, INTEGERS, MODEL_OF)                                                               \
  static void atomics_##NAME(gex_TM_t team, gex_Flags_t favour) {                                             \
    static const gex_OP_t ops[] = {GEX_OP_ADD, GEX_OP_SUB, GEX_OP_MULT, GEX_OP_MIN, GEX_OP_MAX, GEX_OP_INC,   \
                                   GEX_OP_DEC, GEX_OP_SET, GEX_OP_CAS, GEX_OP_FADD, GEX_OP_FSUB, GEX_OP_FMULT, \
                                   GEX_OP_FMIN, GEX_OP_FMAX, GEX_OP_FINC, GEX_OP_FDEC, GEX_OP_SWAP,           \
                                   GEX_OP_FCAS, GEX_OP_GET, GEX_OP_AND, GEX_OP_OR, GEX_OP_XOR, GEX_OP_FAND,   \
                                   GEX_OP_FOR, GEX_OP_FXOR};                                                  \
    const size_t count = INTEGERS ? 25 : 19;                                                                  \
    gex_OP_t all = 0;                                                                                         \
    for (size_t i = 0; i < count; ++i) all |= ops[i];                                                         \
    gex_AD_t domain;                                                                                          \
    gex_AD_Create(&domain, team, GEX_DT_##NAME, all, favour);                                                 \
    HOLDS(gex_AD_QueryTM(domain) == team && gex_AD_QueryDT(domain) == GEX_DT_##NAME);                         \
    HOLDS(gex_AD_QueryOps(domain) == all && gex_AD_QueryFlags(domain) == favour && gex_AD_QueryCData(domain) == NULL); \
    gex_AD_SetCData(domain, &all);                                                                            \
    HOLDS(gex_AD_QueryCData(domain) == &all);                                                                 \
    const gex_Rank_t members = gex_TM_QuerySize(team), here = gex_TM_QueryRank(team);                         \
    const T values[] = {(T)0, (T)1, (T)3, (T)-5, (T)100};                                                     \
    for (gex_Rank_t step = 0; step < (members < 3 ? members : 3); ++step) {                                   \
      const gex_Rank_t to = (here + step) % members, job = gex_TM_TranslateRankToJobrank(team, to);           \
      T* const at = (T*)(segment_of(team, to) + 4096 + 64 * me); /* nobody else's */                          \
      T model = (T)7, start = (T)7, got = (T)0;                                                               \
      gex_Event_Wait(gex_AD_OpNB_##NAME(domain, NULL, to, at, GEX_OP_SET, start, (T)0, 0));                   \
      for (size_t i = 0; i < 2 * count; ++i) {                                                                \
        const gex_OP_t op = ops[i % count];                                                                   \
        const int by_job = i % 3 == 1;                                                                        \
        const gex_Flags_t flags = (by_job ? GEX_FLAG_RANK_IS_JOBRANK : 0) | (i % 4 == 2 ? GEX_FLAG_AD_ACQ | GEX_FLAG_AD_REL : 0) | \
                                  (to == here && i % 5 == 0 ? GEX_FLAG_AD_MY_RANK : 0);                       \
        const T a = (op == GEX_OP_CAS || op == GEX_OP_FCAS) && i % 2 == 0 ? model : values[i % 5], b = values[(i + 2) % 5]; \
        const int fetches = op >= GEX_OP_FAND;                                                                \
        got = (T)55;                                                                                          \
        if (i % 2 == 0) {                                                                                     \
          gex_Event_Wait(gex_AD_OpNB_##NAME(domain, fetches ? &got : NULL, by_job ? job : to, at, op, a, b, flags)); \
        } else {                                                                                              \
          OK(gex_AD_OpNBI_##NAME(domain, fetches ? &got : NULL, by_job ? job : to, at, op, a, b, flags));     \
          gex_NBI_Wait(op == GEX_OP_SET ? GEX_EC_PUT : op == GEX_OP_GET ? GEX_EC_GET : GEX_EC_RMW, 0);        \
        }                                                                                                     \
        if (!(got == (fetches ? model : (T)55))) fprintf(stderr, "type %s, op %#x, step %zu\n", #NAME, (unsigned)op, i); \
        HOLDS(got == (fetches ? model : (T)55));                                                              \
        model = MODEL_OF(T, U, op, model, a, b);                                                              \
      }                                                                                                       \
      gex_Event_Wait(gex_AD_OpNB_##NAME(domain, &got, to, at, GEX_OP_GET, (T)0, (T)0, 0));                    \
      HOLDS(got == model);                                                                                    \
    }                                                                                                         \
    barrier(team);                                                                                            \
    gex_AD_Destroy(domain);                                                                                   \
  }
#define MODEL_ALL(T, U, op, old, a, b)                                                                    \
  ((op) & (GEX_OP_AND | GEX_OP_OR | GEX_OP_XOR | GEX_OP_FAND | GEX_OP_FOR | GEX_OP_FXOR) ? MODEL_INTEGERS(T, op, old, a) \
                                                                                         : MODEL(T, U, op, old, a, b))
ATOMICS(I32, int32_t, uint32_t, 1, MODEL_ALL)
ATOMICS(U32, uint32_t, uint32_t, 1, MODEL_ALL)
ATOMICS(I64, int64_t, uint64_t, 1, MODEL_ALL)
ATOMICS(U64, uint64_t, uint64_t, 1, MODEL_ALL)
ATOMICS(FLT, float, float, 0, MODEL)
ATOMICS(DBL, double, double, 0, MODEL)

void atomics(gex_TM_t team) {
  static const gex_Flags_t favours[] = {0, GEX_FLAG_AD_FAVOR_MY_RANK, GEX_FLAG_AD_FAVOR_MY_NBRHD, GEX_FLAG_AD_FAVOR_REMOTE};
  for (int i = 0; i < 4; ++i) {
    atomics_I32(team, favours[i]);
    atomics_U32(team, favours[i]);
    atomics_I64(team, favours[i]);
    atomics_U64(team, favours[i]);
    atomics_FLT(team, favours[i]);
    atomics_DBL(team, favours[i]);
  }
}
