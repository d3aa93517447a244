// Texts of GASNet-EX's bit masks and lists.

#include "compat/gasnet/state.hpp"

#include <cstdio>
#include <cstring>
#include <string>

namespace {

struct Bit {
  unsigned bit;
  const char* name;
};
#define AQG_BIT(prefix, name) \
  { prefix##name, #prefix #name }
constexpr Bit kTokenBits[] = {AQG_BIT(GEX_TI_, SRCRANK), AQG_BIT(GEX_TI_, ENTRY), AQG_BIT(GEX_TI_, IS_REQ),
                              AQG_BIT(GEX_TI_, IS_LONG), AQG_BIT(GEX_TI_, EP)};
constexpr Bit kTypeBits[] = {AQG_BIT(GEX_DT_, I32), AQG_BIT(GEX_DT_, U32), AQG_BIT(GEX_DT_, I64),
                             AQG_BIT(GEX_DT_, U64), AQG_BIT(GEX_DT_, FLT), AQG_BIT(GEX_DT_, DBL),
                             AQG_BIT(GEX_DT_, USER)};
constexpr Bit kOperationBits[] = {
    AQG_BIT(GEX_OP_, AND),  AQG_BIT(GEX_OP_, OR),    AQG_BIT(GEX_OP_, XOR),    AQG_BIT(GEX_OP_, ADD),
    AQG_BIT(GEX_OP_, SUB),  AQG_BIT(GEX_OP_, MULT),  AQG_BIT(GEX_OP_, MIN),    AQG_BIT(GEX_OP_, MAX),
    AQG_BIT(GEX_OP_, INC),  AQG_BIT(GEX_OP_, DEC),   AQG_BIT(GEX_OP_, SET),    AQG_BIT(GEX_OP_, CAS),
    AQG_BIT(GEX_OP_, FAND), AQG_BIT(GEX_OP_, FOR),   AQG_BIT(GEX_OP_, FXOR),   AQG_BIT(GEX_OP_, FADD),
    AQG_BIT(GEX_OP_, FSUB), AQG_BIT(GEX_OP_, FMULT), AQG_BIT(GEX_OP_, FMIN),   AQG_BIT(GEX_OP_, FMAX),
    AQG_BIT(GEX_OP_, FINC), AQG_BIT(GEX_OP_, FDEC),  AQG_BIT(GEX_OP_, SWAP),   AQG_BIT(GEX_OP_, FCAS),
    AQG_BIT(GEX_OP_, GET),  AQG_BIT(GEX_OP_, USER),  AQG_BIT(GEX_OP_, USER_NC)};
#undef AQG_BIT

template <std::size_t kBits>
size_t format(char* buf, unsigned mask, const Bit (&bits)[kBits]) {
  std::string text;
  for (const Bit& one : bits) {
    if ((mask & one.bit) == 0) continue;
    if (!text.empty()) text += '|';
    text += one.name;
  }
  if (text.empty()) text = "0";
  if (buf != nullptr) std::memcpy(buf, text.c_str(), text.size() + 1);
  return text.size() + 1;
}

constexpr size_t kEntry = 64;  // bytes of text for an entry of a list, at most

const char* put_text(char* buf, const std::string& text, size_t room) {
  std::snprintf(buf, room, "%s", text.c_str());
  return buf;
}
std::string of_transfer(gex_Rank_t rank, size_t bytes) {
  return "rank " + std::to_string(rank) + ", " + std::to_string(bytes) + " bytes; to ";
}
std::string address(const void* at) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", at);
  return text;
}
std::string of_list(size_t count, const gex_Memvec_t* list) {
  std::string text = std::to_string(count) + " pieces:";
  for (size_t i = 0; i < count; ++i)
    text += " [" + address(list[i].gex_addr) + ", " + std::to_string(list[i].gex_len) + ")";
  return text;
}
std::string of_list(size_t count, void* const* list, size_t bytes) {
  std::string text = std::to_string(count) + " pieces of " + std::to_string(bytes) + " bytes:";
  for (size_t i = 0; i < count; ++i) text += " " + address(list[i]);
  return text;
}

}  // namespace

extern "C" {

size_t gasnett_format_ti(char* buf, gex_TI_t mask) { return format(buf, mask, kTokenBits); }
size_t gasnett_format_dt(char* buf, gex_DT_t mask) { return format(buf, mask, kTypeBits); }
size_t gasnett_format_op(char* buf, gex_OP_t mask) { return format(buf, mask, kOperationBits); }

size_t gasnett_format_memveclist_bufsz(size_t count) { return 128 + count * kEntry; }
const char* gasnett_format_memveclist(char* buf, size_t count, const gex_Memvec_t* list) {
  return put_text(buf, of_list(count, list), gasnett_format_memveclist_bufsz(count));
}
size_t gasnett_format_putvgetv_bufsz(size_t dstcount, size_t srccount) {
  return 128 + gasnett_format_memveclist_bufsz(dstcount) + gasnett_format_memveclist_bufsz(srccount);
}
size_t gasnett_format_putvgetv(char* buf, gex_TM_t, gex_Rank_t rank, size_t dstcount,
                               const gex_Memvec_t dstlist[], size_t srccount, const gex_Memvec_t srclist[]) {
  size_t bytes = 0;
  for (size_t i = 0; i < dstcount; ++i) bytes += dstlist[i].gex_len;
  put_text(buf,
           of_transfer(rank, bytes) + of_list(dstcount, dstlist) + "; from " + of_list(srccount, srclist),
           gasnett_format_putvgetv_bufsz(dstcount, srccount));
  return bytes;
}
size_t gasnett_format_addrlist_bufsz(size_t count) { return 128 + count * kEntry; }
const char* gasnett_format_addrlist(char* buf, size_t count, void* const* list, size_t bytes) {
  return put_text(buf, of_list(count, list, bytes), gasnett_format_addrlist_bufsz(count));
}
size_t gasnett_format_putigeti_bufsz(size_t dstcount, size_t srccount) {
  return 128 + gasnett_format_addrlist_bufsz(dstcount) + gasnett_format_addrlist_bufsz(srccount);
}
size_t gasnett_format_putigeti(char* buf, gex_TM_t, gex_Rank_t rank, size_t dstcount, void* const dstlist[],
                               size_t dstlen, size_t srccount, void* const srclist[], size_t srclen) {
  const size_t bytes = dstcount * dstlen;
  put_text(buf,
           of_transfer(rank, bytes) + of_list(dstcount, dstlist, dstlen) + "; from " +
               of_list(srccount, srclist, srclen),
           gasnett_format_putigeti_bufsz(dstcount, srccount));
  return bytes;
}
size_t gasnett_format_strides_bufsz(size_t count) { return 16 + count * kEntry; }
void gasnett_format_strides(char* buf, size_t count, const ptrdiff_t* list) {
  std::string text = "[";
  for (size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + std::to_string(list[i]);
  put_text(buf, text + "]", gasnett_format_strides_bufsz(count));
}
size_t gasnett_format_putsgets_bufsz(size_t stridelevels) { return 256 + stridelevels * 2 * kEntry; }
const char* gasnett_format_putsgets(char* buf, void*, gex_TM_t, gex_Rank_t rank, void* dstaddr,
                                    const ptrdiff_t dststrides[], void* srcaddr, const ptrdiff_t srcstrides[],
                                    size_t elemsz, const size_t count[], size_t stridelevels) {
  std::string text = "rank " + std::to_string(rank) + ", from " + address(srcaddr) + " to " +
                     address(dstaddr) + ", elements of " + std::to_string(elemsz) + " bytes;";
  for (size_t i = 0; i < stridelevels; ++i) {
    text += " " + std::to_string(count[i]) + " at " + std::to_string(srcstrides[i]) + "/" +
            std::to_string(dststrides[i]);
  }
  return put_text(buf, text, gasnett_format_putsgets_bufsz(stridelevels));
}
}
