#pragma once
#if defined(__cplusplus) && __cplusplus < 201103L
#pragma GCC system_header  // C++98 has no macros with variable or empty arguments, as -pedantic says
#endif

// GASNet-1's active messages for 0 to 16 arguments, included by gasnet.h.

// M: the number. P: the parameters, A: the arguments, each after a comma.
#define AQG_LEGACY(M, P, A)                                                                                      \
  static inline int gasnet_AMRequestShort##M(gasnet_node_t dest, gasnet_handler_t handler AQG_UNPACK P) {        \
    return gex_AM_RequestShort##M(aqg_world_tm, dest, handler, 0 AQG_UNPACK A);                                  \
  }                                                                                                              \
  static inline int gasnet_AMRequestMedium##M(gasnet_node_t dest, gasnet_handler_t handler, void* source_addr,   \
                                              size_t nbytes AQG_UNPACK P) {                                      \
    return gex_AM_RequestMedium##M(aqg_world_tm, dest, handler, source_addr, nbytes, GEX_EVENT_NOW,              \
                                   0 AQG_UNPACK A);                                                              \
  }                                                                                                              \
  static inline int gasnet_AMRequestLong##M(gasnet_node_t dest, gasnet_handler_t handler, void* source_addr,     \
                                            size_t nbytes, void* dest_addr AQG_UNPACK P) {                       \
    return gex_AM_RequestLong##M(aqg_world_tm, dest, handler, source_addr, nbytes, dest_addr, GEX_EVENT_NOW,     \
                                 0 AQG_UNPACK A);                                                                \
  }                                                                                                              \
  static inline int gasnet_AMRequestLongAsync##M(gasnet_node_t dest, gasnet_handler_t handler,                   \
                                                 void* source_addr, size_t nbytes,                               \
                                                 void* dest_addr AQG_UNPACK P) {                                 \
    return gex_AM_RequestLong##M(aqg_world_tm, dest, handler, source_addr, nbytes, dest_addr, GEX_EVENT_NOW,     \
                                 0 AQG_UNPACK A);                                                                \
  }                                                                                                              \
  static inline int gasnet_AMReplyShort##M(gasnet_token_t token, gasnet_handler_t handler AQG_UNPACK P) {        \
    return gex_AM_ReplyShort##M(token, handler, 0 AQG_UNPACK A);                                                 \
  }                                                                                                              \
  static inline int gasnet_AMReplyMedium##M(gasnet_token_t token, gasnet_handler_t handler, void* source_addr,   \
                                            size_t nbytes AQG_UNPACK P) {                                        \
    return gex_AM_ReplyMedium##M(token, handler, source_addr, nbytes, GEX_EVENT_NOW, 0 AQG_UNPACK A);            \
  }                                                                                                              \
  static inline int gasnet_AMReplyLong##M(gasnet_token_t token, gasnet_handler_t handler, void* source_addr,     \
                                          size_t nbytes, void* dest_addr AQG_UNPACK P) {                         \
    return gex_AM_ReplyLong##M(token, handler, source_addr, nbytes, dest_addr, GEX_EVENT_NOW, 0 AQG_UNPACK A);   \
  }
#define AQG_UNPACK(...) __VA_ARGS__

AQG_LEGACY(0, (), ())
AQG_LEGACY(1, (, gasnet_handlerarg_t a0), (, a0))
AQG_LEGACY(2, (, gasnet_handlerarg_t a0, gasnet_handlerarg_t a1), (, a0, a1))
AQG_LEGACY(3, (, gasnet_handlerarg_t a0, gasnet_handlerarg_t a1, gasnet_handlerarg_t a2), (, a0, a1, a2))
AQG_LEGACY(4, (, gasnet_handlerarg_t a0, gasnet_handlerarg_t a1, gasnet_handlerarg_t a2, gasnet_handlerarg_t a3), (, a0, a1, a2, a3))
AQG_LEGACY(5, (, gasnet_handlerarg_t a0, gasnet_handlerarg_t a1, gasnet_handlerarg_t a2, gasnet_handlerarg_t a3, gasnet_handlerarg_t a4), (, a0, a1, a2, a3, a4))
AQG_LEGACY(6, (, gasnet_handlerarg_t a0, gasnet_handlerarg_t a1, gasnet_handlerarg_t a2, gasnet_handlerarg_t a3, gasnet_handlerarg_t a4, gasnet_handlerarg_t a5), (, a0, a1, a2, a3, a4, a5))
AQG_LEGACY(7, (, gasnet_handlerarg_t a0, gasnet_handlerarg_t a1, gasnet_handlerarg_t a2, gasnet_handlerarg_t a3, gasnet_handlerarg_t a4, gasnet_handlerarg_t a5, gasnet_handlerarg_t a6), (, a0, a1, a2, a3, a4, a5, a6))
AQG_LEGACY(8, (, gasnet_handlerarg_t a0, gasnet_handlerarg_t a1, gasnet_handlerarg_t a2, gasnet_handlerarg_t a3, gasnet_handlerarg_t a4, gasnet_handlerarg_t a5, gasnet_handlerarg_t a6, gasnet_handlerarg_t a7), (, a0, a1, a2, a3, a4, a5, a6, a7))
AQG_LEGACY(9, (, gasnet_handlerarg_t a0, gasnet_handlerarg_t a1, gasnet_handlerarg_t a2, gasnet_handlerarg_t a3, gasnet_handlerarg_t a4, gasnet_handlerarg_t a5, gasnet_handlerarg_t a6, gasnet_handlerarg_t a7, gasnet_handlerarg_t a8), (, a0, a1, a2, a3, a4, a5, a6, a7, a8))
AQG_LEGACY(10, (, gasnet_handlerarg_t a0, gasnet_handlerarg_t a1, gasnet_handlerarg_t a2, gasnet_handlerarg_t a3, gasnet_handlerarg_t a4, gasnet_handlerarg_t a5, gasnet_handlerarg_t a6, gasnet_handlerarg_t a7, gasnet_handlerarg_t a8, gasnet_handlerarg_t a9), (, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9))
AQG_LEGACY(11, (, gasnet_handlerarg_t a0, gasnet_handlerarg_t a1, gasnet_handlerarg_t a2, gasnet_handlerarg_t a3, gasnet_handlerarg_t a4, gasnet_handlerarg_t a5, gasnet_handlerarg_t a6, gasnet_handlerarg_t a7, gasnet_handlerarg_t a8, gasnet_handlerarg_t a9, gasnet_handlerarg_t a10), (, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10))
AQG_LEGACY(12, (, gasnet_handlerarg_t a0, gasnet_handlerarg_t a1, gasnet_handlerarg_t a2, gasnet_handlerarg_t a3, gasnet_handlerarg_t a4, gasnet_handlerarg_t a5, gasnet_handlerarg_t a6, gasnet_handlerarg_t a7, gasnet_handlerarg_t a8, gasnet_handlerarg_t a9, gasnet_handlerarg_t a10, gasnet_handlerarg_t a11), (, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11))
AQG_LEGACY(13, (, gasnet_handlerarg_t a0, gasnet_handlerarg_t a1, gasnet_handlerarg_t a2, gasnet_handlerarg_t a3, gasnet_handlerarg_t a4, gasnet_handlerarg_t a5, gasnet_handlerarg_t a6, gasnet_handlerarg_t a7, gasnet_handlerarg_t a8, gasnet_handlerarg_t a9, gasnet_handlerarg_t a10, gasnet_handlerarg_t a11, gasnet_handlerarg_t a12), (, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12))
AQG_LEGACY(14, (, gasnet_handlerarg_t a0, gasnet_handlerarg_t a1, gasnet_handlerarg_t a2, gasnet_handlerarg_t a3, gasnet_handlerarg_t a4, gasnet_handlerarg_t a5, gasnet_handlerarg_t a6, gasnet_handlerarg_t a7, gasnet_handlerarg_t a8, gasnet_handlerarg_t a9, gasnet_handlerarg_t a10, gasnet_handlerarg_t a11, gasnet_handlerarg_t a12, gasnet_handlerarg_t a13), (, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13))
AQG_LEGACY(15, (, gasnet_handlerarg_t a0, gasnet_handlerarg_t a1, gasnet_handlerarg_t a2, gasnet_handlerarg_t a3, gasnet_handlerarg_t a4, gasnet_handlerarg_t a5, gasnet_handlerarg_t a6, gasnet_handlerarg_t a7, gasnet_handlerarg_t a8, gasnet_handlerarg_t a9, gasnet_handlerarg_t a10, gasnet_handlerarg_t a11, gasnet_handlerarg_t a12, gasnet_handlerarg_t a13, gasnet_handlerarg_t a14), (, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14))
AQG_LEGACY(16, (, gasnet_handlerarg_t a0, gasnet_handlerarg_t a1, gasnet_handlerarg_t a2, gasnet_handlerarg_t a3, gasnet_handlerarg_t a4, gasnet_handlerarg_t a5, gasnet_handlerarg_t a6, gasnet_handlerarg_t a7, gasnet_handlerarg_t a8, gasnet_handlerarg_t a9, gasnet_handlerarg_t a10, gasnet_handlerarg_t a11, gasnet_handlerarg_t a12, gasnet_handlerarg_t a13, gasnet_handlerarg_t a14, gasnet_handlerarg_t a15), (, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15))
#undef AQG_LEGACY
#undef AQG_UNPACK

#define AQG_COUNT_2(...) AQG_AT_26(__VA_ARGS__, too_many, too_many, too_many, too_many, too_many, too_many, too_many, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, too_few, 0)
#define gasnet_AMRequestShort(...) AQG_JOIN(gasnet_AMRequestShort, AQG_COUNT_2(__VA_ARGS__))(__VA_ARGS__)
#define gasnet_AMRequestMedium(...) AQG_JOIN(gasnet_AMRequestMedium, AQG_COUNT_4(__VA_ARGS__))(__VA_ARGS__)
#define gasnet_AMRequestLong(...) AQG_JOIN(gasnet_AMRequestLong, AQG_COUNT_5(__VA_ARGS__))(__VA_ARGS__)
#define gasnet_AMRequestLongAsync(...) AQG_JOIN(gasnet_AMRequestLongAsync, AQG_COUNT_5(__VA_ARGS__))(__VA_ARGS__)
#define gasnet_AMReplyShort(...) AQG_JOIN(gasnet_AMReplyShort, AQG_COUNT_2(__VA_ARGS__))(__VA_ARGS__)
#define gasnet_AMReplyMedium(...) AQG_JOIN(gasnet_AMReplyMedium, AQG_COUNT_4(__VA_ARGS__))(__VA_ARGS__)
#define gasnet_AMReplyLong(...) AQG_JOIN(gasnet_AMReplyLong, AQG_COUNT_5(__VA_ARGS__))(__VA_ARGS__)
