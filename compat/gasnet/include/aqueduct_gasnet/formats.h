#pragma once

// Texts of GASNet-EX's bit masks and lists, for messages. Included by gasnetex.h, after its types. The functions that take
// a mask return the bytes that the text needs, with the final 0; `buf` may be null.

size_t gasnett_format_ti(char* buf, gex_TI_t mask);
size_t gasnett_format_dt(char* buf, gex_DT_t mask);
size_t gasnett_format_op(char* buf, gex_OP_t mask);

size_t gasnett_format_memveclist_bufsz(size_t count);
const char* gasnett_format_memveclist(char* buf, size_t count, const gex_Memvec_t* list);
/// Returns the bytes of the transfer, as gasnett_format_putigeti does.
size_t gasnett_format_putvgetv(char* buf, gex_TM_t tm, gex_Rank_t rank, size_t dstcount,
                               const gex_Memvec_t dstlist[], size_t srccount, const gex_Memvec_t srclist[]);
size_t gasnett_format_putvgetv_bufsz(size_t dstcount, size_t srccount);
size_t gasnett_format_addrlist_bufsz(size_t count);
const char* gasnett_format_addrlist(char* buf, size_t count, void* const* list, size_t bytes);
size_t gasnett_format_putigeti_bufsz(size_t dstcount, size_t srccount);
size_t gasnett_format_putigeti(char* buf, gex_TM_t tm, gex_Rank_t rank, size_t dstcount, void* const dstlist[],
                               size_t dstlen, size_t srccount, void* const srclist[], size_t srclen);
size_t gasnett_format_strides_bufsz(size_t count);
void gasnett_format_strides(char* buf, size_t count, const ptrdiff_t* list);
size_t gasnett_format_putsgets_bufsz(size_t stridelevels);
const char* gasnett_format_putsgets(char* buf, void* unused, gex_TM_t tm, gex_Rank_t rank, void* dstaddr,
                                    const ptrdiff_t dststrides[], void* srcaddr, const ptrdiff_t srcstrides[],
                                    size_t elemsz, const size_t count[], size_t stridelevels);
