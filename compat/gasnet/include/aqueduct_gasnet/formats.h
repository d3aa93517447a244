#pragma once

// Texts of GASNet-EX's bit masks and lists, for messages. Included by gasnetex.h, after its types. The functions that take
// a mask return the bytes that the text needs, with the final 0; `buf` may be null.

size_t gasnett_format_ti(char* buf, gex_TI_t mask);
size_t gasnett_format_dt(char* buf, gex_DT_t mask);
size_t gasnett_format_op(char* buf, gex_OP_t mask);

size_t gasnett_format_memveclist_bufsz(size_t count);
const char* gasnett_format_memveclist(char* buf, size_t count, const gex_Memvec_t* list);
size_t gasnett_format_addrlist_bufsz(size_t count);
const char* gasnett_format_addrlist(char* buf, size_t count, void* const* list, size_t bytes);
size_t gasnett_format_putsgets_bufsz(size_t stridelevels);
const char* gasnett_format_putsgets(char* buf, void* unused, gex_TM_t tm, gex_Rank_t rank, void* dstaddr,
                                    const ptrdiff_t dststrides[], void* srcaddr, const ptrdiff_t srcstrides[],
                                    size_t elemsz, const size_t count[], size_t stridelevels);
