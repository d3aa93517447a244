#pragma once
#if defined(__cplusplus) && __cplusplus < 201103L
#pragma GCC system_header  // C++98 has no macros with variable or empty arguments, as -pedantic says
#endif

// GASNet-1's active messages for 0 to 16 arguments, included by gasnet.h.

// M: the number. P: the parameters, A: the arguments, each after a comma.
#define AQG_LEGACY(M, P, A)                                                                                            \
  static inline int gasnet_AMRequestShort##M(gasnet_node_t dest, gasnet_handler_t handler AQG_UNPACK P) {              \
    return gex_AM_RequestShort##M(aqg_world_tm, dest, handler, 0 AQG_UNPACK A);                                        \
  }                                                                                                                    \
  static inline int gasnet_AMRequestMedium##M(gasnet_node_t dest, gasnet_handler_t handler, const void* source_addr,   \
                                              size_t nbytes AQG_UNPACK P) {                                            \
    return gex_AM_RequestMedium##M(aqg_world_tm, dest, handler, source_addr, nbytes, GEX_EVENT_NOW,                    \
                                   0 AQG_UNPACK A);                                                                    \
  }                                                                                                                    \
  static inline int gasnet_AMRequestLong##M(gasnet_node_t dest, gasnet_handler_t handler, const void* source_addr,     \
                                            size_t nbytes, void* dest_addr AQG_UNPACK P) {                             \
    return gex_AM_RequestLong##M(aqg_world_tm, dest, handler, source_addr, nbytes, dest_addr, GEX_EVENT_NOW,           \
                                 0 AQG_UNPACK A);                                                                      \
  }                                                                                                                    \
  static inline int gasnet_AMRequestLongAsync##M(gasnet_node_t dest, gasnet_handler_t handler,                         \
                                                 const void* source_addr, size_t nbytes,                               \
                                                 void* dest_addr AQG_UNPACK P) {                                       \
    return gex_AM_RequestLong##M(aqg_world_tm, dest, handler, source_addr, nbytes, dest_addr, GEX_EVENT_NOW,           \
                                 0 AQG_UNPACK A);                                                                      \
  }                                                                                                                    \
  static inline int gasnet_AMReplyShort##M(gasnet_token_t token, gasnet_handler_t handler AQG_UNPACK P) {              \
    return gex_AM_ReplyShort##M(token, handler, 0 AQG_UNPACK A);                                                       \
  }                                                                                                                    \
  static inline int gasnet_AMReplyMedium##M(gasnet_token_t token, gasnet_handler_t handler, const void* source_addr,   \
                                            size_t nbytes AQG_UNPACK P) {                                              \
    return gex_AM_ReplyMedium##M(token, handler, source_addr, nbytes, GEX_EVENT_NOW, 0 AQG_UNPACK A);                  \
  }                                                                                                                    \
  static inline int gasnet_AMReplyLong##M(gasnet_token_t token, gasnet_handler_t handler, const void* source_addr,     \
                                          size_t nbytes, void* dest_addr AQG_UNPACK P) {                               \
    return gex_AM_ReplyLong##M(token, handler, source_addr, nbytes, dest_addr, GEX_EVENT_NOW, 0 AQG_UNPACK A);         \
  }
#define AQG_UNPACK(...) __VA_ARGS__

AQG_LEGACY(0, (), ())
AQG_LEGACY(1, (, aqg_arg a0), (, a0))
AQG_LEGACY(2, (, aqg_arg a0, aqg_arg a1), (, a0, a1))
AQG_LEGACY(3, (, aqg_arg a0, aqg_arg a1, aqg_arg a2), (, a0, a1, a2))
AQG_LEGACY(4, (, aqg_arg a0, aqg_arg a1, aqg_arg a2, aqg_arg a3), (, a0, a1, a2, a3))
AQG_LEGACY(5, (, aqg_arg a0, aqg_arg a1, aqg_arg a2, aqg_arg a3, aqg_arg a4), (, a0, a1, a2, a3, a4))
AQG_LEGACY(6, (, aqg_arg a0, aqg_arg a1, aqg_arg a2, aqg_arg a3, aqg_arg a4, aqg_arg a5), (, a0, a1, a2, a3, a4, a5))
AQG_LEGACY(7, (, aqg_arg a0, aqg_arg a1, aqg_arg a2, aqg_arg a3, aqg_arg a4, aqg_arg a5, aqg_arg a6), (, a0, a1, a2, a3, a4, a5, a6))
AQG_LEGACY(8, (, aqg_arg a0, aqg_arg a1, aqg_arg a2, aqg_arg a3, aqg_arg a4, aqg_arg a5, aqg_arg a6, aqg_arg a7), (, a0, a1, a2, a3, a4, a5, a6, a7))
AQG_LEGACY(9, (, aqg_arg a0, aqg_arg a1, aqg_arg a2, aqg_arg a3, aqg_arg a4, aqg_arg a5, aqg_arg a6, aqg_arg a7, aqg_arg a8), (, a0, a1, a2, a3, a4, a5, a6, a7, a8))
AQG_LEGACY(10, (, aqg_arg a0, aqg_arg a1, aqg_arg a2, aqg_arg a3, aqg_arg a4, aqg_arg a5, aqg_arg a6, aqg_arg a7, aqg_arg a8, aqg_arg a9), (, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9))
AQG_LEGACY(11, (, aqg_arg a0, aqg_arg a1, aqg_arg a2, aqg_arg a3, aqg_arg a4, aqg_arg a5, aqg_arg a6, aqg_arg a7, aqg_arg a8, aqg_arg a9, aqg_arg a10), (, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10))
AQG_LEGACY(12, (, aqg_arg a0, aqg_arg a1, aqg_arg a2, aqg_arg a3, aqg_arg a4, aqg_arg a5, aqg_arg a6, aqg_arg a7, aqg_arg a8, aqg_arg a9, aqg_arg a10, aqg_arg a11), (, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11))
AQG_LEGACY(13, (, aqg_arg a0, aqg_arg a1, aqg_arg a2, aqg_arg a3, aqg_arg a4, aqg_arg a5, aqg_arg a6, aqg_arg a7, aqg_arg a8, aqg_arg a9, aqg_arg a10, aqg_arg a11, aqg_arg a12), (, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12))
AQG_LEGACY(14, (, aqg_arg a0, aqg_arg a1, aqg_arg a2, aqg_arg a3, aqg_arg a4, aqg_arg a5, aqg_arg a6, aqg_arg a7, aqg_arg a8, aqg_arg a9, aqg_arg a10, aqg_arg a11, aqg_arg a12, aqg_arg a13), (, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13))
AQG_LEGACY(15, (, aqg_arg a0, aqg_arg a1, aqg_arg a2, aqg_arg a3, aqg_arg a4, aqg_arg a5, aqg_arg a6, aqg_arg a7, aqg_arg a8, aqg_arg a9, aqg_arg a10, aqg_arg a11, aqg_arg a12, aqg_arg a13, aqg_arg a14), (, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14))
AQG_LEGACY(16, (, aqg_arg a0, aqg_arg a1, aqg_arg a2, aqg_arg a3, aqg_arg a4, aqg_arg a5, aqg_arg a6, aqg_arg a7, aqg_arg a8, aqg_arg a9, aqg_arg a10, aqg_arg a11, aqg_arg a12, aqg_arg a13, aqg_arg a14, aqg_arg a15), (, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15))
#undef AQG_LEGACY

// Without a number in its name a call has the count of its arguments before them, unlike gex_AM_…, which counts them. The
// call with the number has all but that one: `1 ? 0 : __VA_ARGS__` are its flags, 0, and the arguments.
#define AQG_COUNT_1(...) AQG_AT_26(__VA_ARGS__, too_many, too_many, too_many, too_many, too_many, too_many, too_many, too_many, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0)
#define AQG_FIRST(first, ...) first
static inline void aqg_check_count(int given, int counted) {
  if (given != counted)
    gasnett_fatalerror("a message with %d arguments says that it has %d", counted, given);
}
#define AQG_COUNTED(NAME, fixed, ...)                                           \
  (aqg_check_count((int)(AQG_FIRST(__VA_ARGS__, 0)), AQG_COUNT_1(__VA_ARGS__)), \
   AQG_JOIN(NAME, AQG_COUNT_1(__VA_ARGS__))(AQG_UNPACK fixed, 1 ? 0 : __VA_ARGS__))
#define gasnet_AMRequestShort(dest, handler, ...) \
  AQG_COUNTED(gex_AM_RequestShort, (aqg_world_tm, dest, handler), __VA_ARGS__)
#define gasnet_AMRequestMedium(dest, handler, source_addr, nbytes, ...) \
  AQG_COUNTED(gex_AM_RequestMedium, (aqg_world_tm, dest, handler, source_addr, nbytes, GEX_EVENT_NOW), __VA_ARGS__)
#define gasnet_AMRequestLong(dest, handler, source_addr, nbytes, dest_addr, ...) \
  AQG_COUNTED(gex_AM_RequestLong, (aqg_world_tm, dest, handler, source_addr, nbytes, dest_addr, GEX_EVENT_NOW), __VA_ARGS__)
#define gasnet_AMRequestLongAsync gasnet_AMRequestLong
#define gasnet_AMReplyShort(token, handler, ...) AQG_COUNTED(gex_AM_ReplyShort, (token, handler), __VA_ARGS__)
#define gasnet_AMReplyMedium(token, handler, source_addr, nbytes, ...) \
  AQG_COUNTED(gex_AM_ReplyMedium, (token, handler, source_addr, nbytes, GEX_EVENT_NOW), __VA_ARGS__)
#define gasnet_AMReplyLong(token, handler, source_addr, nbytes, dest_addr, ...) \
  AQG_COUNTED(gex_AM_ReplyLong, (token, handler, source_addr, nbytes, dest_addr, GEX_EVENT_NOW), __VA_ARGS__)
