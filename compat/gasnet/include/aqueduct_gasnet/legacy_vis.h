#pragma once
#if defined(__cplusplus) && __cplusplus < 201103L
#pragma GCC system_header  // C++98 has no macros with variable or empty arguments, as -pedantic says
#endif

// GASNet-1's vector, indexed and strided transfers. Included by gasnet_vis.h and gasnet.h, whichever comes last.

#ifdef __cplusplus
extern "C" {
#endif

#define AQG_LEGACY_VIS(R, GIVE, form, FORM)                                                                    \
  static inline R gasnet_putv##form##_bulk(gasnet_node_t node, size_t dstcount,                                \
                                           gasnet_memvec_t const dstlist[], size_t srccount,                   \
                                           gasnet_memvec_t const srclist[]) {                                  \
    GIVE gex_VIS_VectorPut##FORM(aqg_world_tm, node, dstcount, (gex_Memvec_t const*)dstlist, srccount,         \
                                      (gex_Memvec_t const*)srclist, 0);                                        \
  }                                                                                                            \
  static inline R gasnet_getv##form##_bulk(size_t dstcount, gasnet_memvec_t const dstlist[],                   \
                                           gasnet_node_t node, size_t srccount,                                \
                                           gasnet_memvec_t const srclist[]) {                                  \
    GIVE gex_VIS_VectorGet##FORM(aqg_world_tm, dstcount, (gex_Memvec_t const*)dstlist, node, srccount,         \
                                      (gex_Memvec_t const*)srclist, 0);                                        \
  }                                                                                                            \
  static inline R gasnet_puti##form##_bulk(gasnet_node_t node, size_t dstcount, void* const dstlist[],         \
                                           size_t dstlen, size_t srccount, void* const srclist[],              \
                                           size_t srclen) {                                                    \
    GIVE gex_VIS_IndexedPut##FORM(aqg_world_tm, node, dstcount, dstlist, dstlen, srccount, srclist,            \
                                       srclen, 0);                                                             \
  }                                                                                                            \
  static inline R gasnet_geti##form##_bulk(size_t dstcount, void* const dstlist[], size_t dstlen,              \
                                           gasnet_node_t node, size_t srccount, void* const srclist[],         \
                                           size_t srclen) {                                                    \
    GIVE gex_VIS_IndexedGet##FORM(aqg_world_tm, dstcount, dstlist, dstlen, node, srccount, srclist,            \
                                       srclen, 0);                                                             \
  }                                                                                                            \
  /* count[0] is in bytes, as the length of an element; the others count elements of their dimension. */       \
  static inline R gasnet_puts##form##_bulk(gasnet_node_t node, void* dstaddr, const size_t dststrides[],       \
                                           void* srcaddr, const size_t srcstrides[], const size_t count[],     \
                                           size_t stridelevels) {                                              \
    GIVE gex_VIS_StridedPut##FORM(aqg_world_tm, node, dstaddr, (const ptrdiff_t*)dststrides, srcaddr,          \
                                       (const ptrdiff_t*)srcstrides, count[0], count + 1, stridelevels, 0);    \
  }                                                                                                            \
  static inline R gasnet_gets##form##_bulk(void* dstaddr, const size_t dststrides[], gasnet_node_t node,       \
                                           void* srcaddr, const size_t srcstrides[], const size_t count[],     \
                                           size_t stridelevels) {                                              \
    GIVE gex_VIS_StridedGet##FORM(aqg_world_tm, dstaddr, (const ptrdiff_t*)dststrides, node, srcaddr,          \
                                       (const ptrdiff_t*)srcstrides, count[0], count + 1, stridelevels, 0);    \
  }
/* (void): in C, a function of type void returns no expression. */
AQG_LEGACY_VIS(void, (void), , Blocking)
AQG_LEGACY_VIS(gasnet_handle_t, return (gasnet_handle_t), _nb, NB)
AQG_LEGACY_VIS(void, (void), _nbi, NBI)
#undef AQG_LEGACY_VIS

#ifdef __cplusplus
}
#endif
