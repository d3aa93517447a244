#pragma once
#if defined(__cplusplus) && __cplusplus < 201103L
#pragma GCC system_header  // C++98 has no macros with variable or empty arguments, as -pedantic says
#endif

// Vector, indexed and strided transfers: GASNet-EX's, and GASNet-1's for clients that include gasnet.h.

#include <gasnetex.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Not 0 once a notice has been asked for by gex_VIS_SetPeerCompletionHandler: then the library does all puts.
extern int aqg_vis_notices;
/// Copies one piece to or from a peer whose memory is mapped here, inline. 0: nothing has happened, the library shall do it.
static inline int aqg_put_piece(gex_TM_t tm, gex_Rank_t rank, void* to, size_t to_bytes, const void* from,
                                size_t from_bytes) {
  __asm__("" : "+r"(from));  // so that the compiler does not warn of lengths that never get there
  return __atomic_load_n(&aqg_vis_notices, __ATOMIC_RELAXED) == 0 && to_bytes == from_bytes && from != NULL &&
         aqg_put_mapped(tm, rank, to, from, to_bytes);
}
static inline int aqg_get_piece(gex_TM_t tm, void* to, size_t to_bytes, gex_Rank_t rank, const void* from,
                                size_t from_bytes) {
  __asm__("" : "+r"(to));  // as above
  return to_bytes == from_bytes && to != NULL && aqg_get_mapped_value(tm, rank, to, from, to_bytes);
}

/// Checked builds: ends the job if this thread may not communicate now, or an endpoint of a pair has no GEX_EP_CAPABILITY_VIS.
void aqg_check_pieces(const char* call, gex_TM_t tm, gex_Rank_t rank);

/// How many bytes a strided transfer is that is one contiguous run on both sides; 0: it is not, or moves nothing.
static inline size_t aqg_run_of(const ptrdiff_t* to_strides, const ptrdiff_t* from_strides, size_t bytes, const size_t* count,
                                size_t levels) {
  size_t i;
  for (i = 0; i < levels; ++i) {
    if (count[i] == 1) continue;
    if (to_strides[i] != (ptrdiff_t)bytes || from_strides[i] != (ptrdiff_t)bytes ||
        __builtin_mul_overflow(bytes, count[i], &bytes))
      return 0;
  }
  return bytes;
}

#define AQG_DEFINE_VIS(R, FORM)                                                                              \
  R aqg_vis_VectorGet##FORM(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[], gex_Rank_t srcrank,  \
                            size_t srccount, gex_Memvec_t const srclist[], gex_Flags_t flags);               \
  R aqg_vis_VectorPut##FORM(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount, gex_Memvec_t const dstlist[],  \
                            size_t srccount, gex_Memvec_t const srclist[], gex_Flags_t flags);               \
  R aqg_vis_IndexedGet##FORM(gex_TM_t tm, size_t dstcount, void* const dstlist[], size_t dstlen,             \
                             gex_Rank_t srcrank, size_t srccount, void* const srclist[], size_t srclen,      \
                             gex_Flags_t flags);                                                             \
  R aqg_vis_IndexedPut##FORM(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount, void* const dstlist[],        \
                             size_t dstlen, size_t srccount, void* const srclist[], size_t srclen,           \
                             gex_Flags_t flags);                                                             \
  static inline R gex_VIS_VectorGet##FORM(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[],        \
                                          gex_Rank_t srcrank, size_t srccount, gex_Memvec_t const srclist[], \
                                          gex_Flags_t flags) {                                               \
    AQG_CHECK(aqg_check_pieces("gex_VIS_VectorGet", tm, srcrank));                                           \
    if (dstcount == 1 && srccount == 1 &&                                                                    \
        aqg_get_piece(tm, dstlist->gex_addr, dstlist->gex_len, srcrank, srclist->gex_addr, srclist->gex_len)) \
      return (R)0;                                                                                           \
    return aqg_vis_VectorGet##FORM(tm, dstcount, dstlist, srcrank, srccount, srclist, flags);                \
  }                                                                                                          \
  static inline R gex_VIS_VectorPut##FORM(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,                  \
                                          gex_Memvec_t const dstlist[], size_t srccount,                     \
                                          gex_Memvec_t const srclist[], gex_Flags_t flags) {                 \
    AQG_CHECK(aqg_check_pieces("gex_VIS_VectorPut", tm, dstrank));                                           \
    if (dstcount == 1 && srccount == 1 &&                                                                    \
        aqg_put_piece(tm, dstrank, dstlist->gex_addr, dstlist->gex_len, srclist->gex_addr, srclist->gex_len)) \
      return (R)0;                                                                                           \
    return aqg_vis_VectorPut##FORM(tm, dstrank, dstcount, dstlist, srccount, srclist, flags);                \
  }                                                                                                          \
  static inline R gex_VIS_IndexedGet##FORM(gex_TM_t tm, size_t dstcount, void* const dstlist[],              \
                                           size_t dstlen, gex_Rank_t srcrank, size_t srccount,               \
                                           void* const srclist[], size_t srclen, gex_Flags_t flags) {        \
    AQG_CHECK(aqg_check_pieces("gex_VIS_IndexedGet", tm, srcrank));                                          \
    if (dstcount == 1 && srccount == 1 && aqg_get_piece(tm, *dstlist, dstlen, srcrank, *srclist, srclen))    \
      return (R)0;                                                                                           \
    return aqg_vis_IndexedGet##FORM(tm, dstcount, dstlist, dstlen, srcrank, srccount, srclist, srclen, flags); \
  }                                                                                                          \
  static inline R gex_VIS_IndexedPut##FORM(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,                 \
                                           void* const dstlist[], size_t dstlen, size_t srccount,            \
                                           void* const srclist[], size_t srclen, gex_Flags_t flags) {        \
    AQG_CHECK(aqg_check_pieces("gex_VIS_IndexedPut", tm, dstrank));                                          \
    if (dstcount == 1 && srccount == 1 && aqg_put_piece(tm, dstrank, *dstlist, dstlen, *srclist, srclen))    \
      return (R)0;                                                                                           \
    return aqg_vis_IndexedPut##FORM(tm, dstrank, dstcount, dstlist, dstlen, srccount, srclist, srclen, flags); \
  }                                                                                                          \
  R aqg_vis_StridedGet##FORM(gex_TM_t tm, void* dstaddr, const ptrdiff_t dststrides[], gex_Rank_t srcrank,   \
                             void* srcaddr, const ptrdiff_t srcstrides[], size_t elemsz,                     \
                             const size_t count[], size_t stridelevels, gex_Flags_t flags);                  \
  R aqg_vis_StridedPut##FORM(gex_TM_t tm, gex_Rank_t dstrank, void* dstaddr, const ptrdiff_t dststrides[],   \
                             void* srcaddr, const ptrdiff_t srcstrides[], size_t elemsz,                     \
                             const size_t count[], size_t stridelevels, gex_Flags_t flags);                  \
  static inline R gex_VIS_StridedGet##FORM(gex_TM_t tm, void* dstaddr, const ptrdiff_t dststrides[],         \
                                           gex_Rank_t srcrank, void* srcaddr, const ptrdiff_t srcstrides[],  \
                                           size_t elemsz, const size_t count[], size_t stridelevels,         \
                                           gex_Flags_t flags) {                                              \
    AQG_CHECK(aqg_check_pieces("gex_VIS_StridedGet", tm, srcrank));                                          \
    const size_t run = aqg_run_of(dststrides, srcstrides, elemsz, count, stridelevels);                      \
    if (run != 0 && aqg_get_piece(tm, dstaddr, run, srcrank, srcaddr, run)) return (R)0;                     \
    return aqg_vis_StridedGet##FORM(tm, dstaddr, dststrides, srcrank, srcaddr, srcstrides, elemsz, count,    \
                                    stridelevels, flags);                                                    \
  }                                                                                                          \
  static inline R gex_VIS_StridedPut##FORM(gex_TM_t tm, gex_Rank_t dstrank, void* dstaddr,                   \
                                           const ptrdiff_t dststrides[], void* srcaddr,                      \
                                           const ptrdiff_t srcstrides[], size_t elemsz, const size_t count[], \
                                           size_t stridelevels, gex_Flags_t flags) {                         \
    AQG_CHECK(aqg_check_pieces("gex_VIS_StridedPut", tm, dstrank));                                          \
    const size_t run = aqg_run_of(dststrides, srcstrides, elemsz, count, stridelevels);                      \
    if (run != 0 && aqg_put_piece(tm, dstrank, dstaddr, run, srcaddr, run)) return (R)0;                     \
    return aqg_vis_StridedPut##FORM(tm, dstrank, dstaddr, dststrides, srcaddr, srcstrides, elemsz, count,    \
                                    stridelevels, flags);                                                    \
  }
AQG_DEFINE_VIS(gex_Event_t, NB)
AQG_DEFINE_VIS(int, NBI)
AQG_DEFINE_VIS(int, Blocking)
#undef AQG_DEFINE_VIS

#define GEX_VIS_MAX_PEERCOMPLETION ((size_t)512)
void gex_VIS_SetPeerCompletionHandler(gex_AM_Index_t handler, const void* source_addr, size_t nbytes,
                                      gex_Flags_t flags);

#ifdef __cplusplus
}
#endif

#ifdef _INCLUDED_GASNET_H
#include <aqueduct_gasnet/legacy_vis.h>
#endif
