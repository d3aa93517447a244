#pragma once

// Vector, indexed and strided transfers: GASNet-EX's, and GASNet-1's for clients that include gasnet.h.

#include <gasnetex.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AQG_DEFINE_VIS(R, FORM)                                                                             \
  R gex_VIS_VectorGet##FORM(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[], gex_Rank_t srcrank, \
                            size_t srccount, gex_Memvec_t const srclist[], gex_Flags_t flags);              \
  R gex_VIS_VectorPut##FORM(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount, gex_Memvec_t const dstlist[], \
                            size_t srccount, gex_Memvec_t const srclist[], gex_Flags_t flags);              \
  R gex_VIS_IndexedGet##FORM(gex_TM_t tm, size_t dstcount, void* const dstlist[], size_t dstlen,            \
                             gex_Rank_t srcrank, size_t srccount, void* const srclist[], size_t srclen,     \
                             gex_Flags_t flags);                                                            \
  R gex_VIS_IndexedPut##FORM(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount, void* const dstlist[],       \
                             size_t dstlen, size_t srccount, void* const srclist[], size_t srclen,          \
                             gex_Flags_t flags);                                                            \
  R gex_VIS_StridedGet##FORM(gex_TM_t tm, void* dstaddr, const ptrdiff_t dststrides[], gex_Rank_t srcrank,  \
                             void* srcaddr, const ptrdiff_t srcstrides[], size_t elemsz,                    \
                             const size_t count[], size_t stridelevels, gex_Flags_t flags);                 \
  R gex_VIS_StridedPut##FORM(gex_TM_t tm, gex_Rank_t dstrank, void* dstaddr, const ptrdiff_t dststrides[],  \
                             void* srcaddr, const ptrdiff_t srcstrides[], size_t elemsz,                    \
                             const size_t count[], size_t stridelevels, gex_Flags_t flags);
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
