#pragma once

// Remote atomics of GASNet-EX.

#include <gasnetex.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct aqg_domain* gex_AD_t;
#define GEX_AD_INVALID ((gex_AD_t)0)

void gex_AD_Create(gex_AD_t* ad_p, gex_TM_t tm, gex_DT_t dt, gex_OP_t ops, gex_Flags_t flags);
void gex_AD_Destroy(gex_AD_t ad);
gex_Flags_t gex_AD_QueryFlags(gex_AD_t ad);
gex_TM_t gex_AD_QueryTM(gex_AD_t ad);
gex_DT_t gex_AD_QueryDT(gex_AD_t ad);
gex_OP_t gex_AD_QueryOps(gex_AD_t ad);
void gex_AD_SetCData(gex_AD_t ad, const void* val);
void* gex_AD_QueryCData(gex_AD_t ad);

/// Does one operation on a word that is mapped here. Returns 0, so that a call of the client's can end with it.
typedef void (*aqg_on_mapped)(void);  // of the type that the domain's number type says
/// What inline functions read of a domain.
struct aqg_domain {
  gex_TM_t tm;
  gex_DT_t type;
  gex_OP_t operations;
  aqg_on_mapped on_mapped[32];  ///< by the number of the operation's bit; null: the library does it, or says what is wrong
};
extern gex_TM_t aqg_world_tm;
/// What does an operation on a mapped word of a domain; null: the library shall do it.
static inline aqg_on_mapped aqg_function_for(gex_AD_t ad, gex_DT_t type, gex_OP_t op) {
  if (__builtin_expect(ad->type != type || (op & (op - 1)) != 0, 0)) return NULL;
  return ad->on_mapped[__builtin_ctz(op | GEX_OP_USER_NC)];  // that of no operation is one that no atomic is
}
/// Where the word is mapped here; null: the same.
static inline void* aqg_word_of(gex_AD_t ad, gex_Rank_t rank, const void* address, size_t nbytes, gex_Flags_t flags) {
  gex_TM_t const tm = (flags & GEX_FLAG_RANK_IS_JOBRANK) != 0 ? aqg_world_tm : ad->tm;
  if (__builtin_expect(rank >= tm->size, 0)) return NULL;
  {
    void* const at = aqg_find(tm, rank, address, nbytes, AQG_WORD);
    return __builtin_expect((uintptr_t)at % nbytes == 0, 1) ? at : NULL;
  }
}

/// Checked builds: ends the job if flags say what is not true.
void aqg_check_atomic(gex_AD_t ad, gex_Rank_t rank, gex_Flags_t flags);

/// R is the type of the call's result: the event that has nothing left to wait for, or the int for success, is 0 in both.
#define AQG_DEFINE_AD_FORM(FORM, R, NAME, T)                                                                   \
  R aqg_AD_Op##FORM##_##NAME(gex_AD_t ad, T* result_p, gex_Rank_t tgt_rank, void* tgt_addr, gex_OP_t opcode,    \
                             T operand1, T operand2, gex_Flags_t flags);                                        \
  static inline R gex_AD_Op##FORM##_##NAME(gex_AD_t ad, T* result_p, gex_Rank_t tgt_rank, void* tgt_addr,       \
                                           gex_OP_t opcode, T operand1, T operand2, gex_Flags_t flags) {        \
    aqg_on_mapped const function = aqg_function_for(ad, GEX_DT_##NAME, opcode);                                 \
    T* const at = (T*)aqg_word_of(ad, tgt_rank, tgt_addr, sizeof(T), flags);                                    \
    AQG_CHECK(aqg_check_atomic(ad, tgt_rank, flags));                                                           \
    if (__builtin_expect(function == NULL || at == NULL, 0))                                                    \
      return aqg_AD_Op##FORM##_##NAME(ad, result_p, tgt_rank, tgt_addr, opcode, operand1, operand2, flags);     \
    return (R)((aqg_on_mapped_##NAME)function)(at, operand1, operand2, result_p);                               \
  }
#define AQG_DEFINE_AD(NAME, T)                                                 \
  typedef intptr_t (*aqg_on_mapped_##NAME)(T * at, T op1, T op2, T * result); \
  AQG_DEFINE_AD_FORM(NB, gex_Event_t, NAME, T)                                 \
  AQG_DEFINE_AD_FORM(NBI, int, NAME, T)
AQG_DEFINE_AD(I32, int32_t)
AQG_DEFINE_AD(U32, uint32_t)
AQG_DEFINE_AD(I64, int64_t)
AQG_DEFINE_AD(U64, uint64_t)
AQG_DEFINE_AD(FLT, float)
AQG_DEFINE_AD(DBL, double)
#undef AQG_DEFINE_AD
#undef AQG_DEFINE_AD_FORM

#ifdef __cplusplus
}
#endif
