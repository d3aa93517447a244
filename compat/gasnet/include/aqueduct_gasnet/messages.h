#pragma once
#if defined(__cplusplus) && __cplusplus < 201103L
#pragma GCC system_header  // C++98 has no macros with variable or empty arguments, as -pedantic says
#endif

// The active messages of GASNet-EX for 0 to 16 arguments, included by gasnetex.h. A function puts its arguments into an
// array and makes one call. Without a number in its name, a macro counts the arguments.

int aqg_request_short(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, gex_Flags_t flags, unsigned nargs,
                      const gex_AM_Arg_t* args);
int aqg_request_medium(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, const void* source, size_t nbytes,
                       gex_Event_t* lc_opt, gex_Flags_t flags, unsigned nargs, const gex_AM_Arg_t* args);
int aqg_request_long(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, const void* source, size_t nbytes,
                     void* dest, gex_Event_t* lc_opt, gex_Flags_t flags, unsigned nargs,
                     const gex_AM_Arg_t* args);
int aqg_reply_short(gex_Token_t token, gex_AM_Index_t handler, gex_Flags_t flags, unsigned nargs,
                    const gex_AM_Arg_t* args);
int aqg_reply_medium(gex_Token_t token, gex_AM_Index_t handler, const void* source, size_t nbytes,
                     gex_Event_t* lc_opt, gex_Flags_t flags, unsigned nargs, const gex_AM_Arg_t* args);
int aqg_reply_long(gex_Token_t token, gex_AM_Index_t handler, const void* source, size_t nbytes, void* dest,
                   gex_Event_t* lc_opt, gex_Flags_t flags, unsigned nargs, const gex_AM_Arg_t* args);
int aqg_commit(gex_AM_SrcDesc_t sd, int is_request, int is_long, gex_AM_Index_t handler, size_t nbytes,
               void* dest, gex_Flags_t flags, unsigned nargs, const gex_AM_Arg_t* args);

/// An argument as a client gives it. GASNet's macros cast it, so in C++ an enumerator of an enum class is one too.
#ifdef __cplusplus
extern "C++" {
struct aqg_arg {
  gex_AM_Arg_t value;
  template <class T>
  aqg_arg(T given) : value((gex_AM_Arg_t)given) {}
  operator gex_AM_Arg_t() const { return value; }
};
}
#else
typedef gex_AM_Arg_t aqg_arg;
#endif

// M: the number. P: the parameters, each after a comma. A: a declaration of the array `args`.
#define AQG_MESSAGES(M, P, A)                                                                                  \
  static inline int gex_AM_RequestShort##M(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,               \
                                           gex_Flags_t flags AQG_UNPACK P) {                                   \
    AQG_UNPACK A;                                                                                              \
    return aqg_request_short(tm, rank, handler, flags, M, args);                                               \
  }                                                                                                            \
  static inline int gex_AM_RequestMedium##M(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,              \
                                            const void* source_addr, size_t nbytes, gex_Event_t* lc_opt,       \
                                            gex_Flags_t flags AQG_UNPACK P) {                                  \
    AQG_UNPACK A;                                                                                              \
    return aqg_request_medium(tm, rank, handler, source_addr, nbytes, lc_opt, flags, M, args);                 \
  }                                                                                                            \
  static inline int gex_AM_RequestLong##M(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,                \
                                          const void* source_addr, size_t nbytes, void* dest_addr,             \
                                          gex_Event_t* lc_opt, gex_Flags_t flags AQG_UNPACK P) {               \
    AQG_UNPACK A;                                                                                              \
    return aqg_request_long(tm, rank, handler, source_addr, nbytes, dest_addr, lc_opt, flags, M, args);        \
  }                                                                                                            \
  static inline int gex_AM_ReplyShort##M(gex_Token_t token, gex_AM_Index_t handler,                            \
                                         gex_Flags_t flags AQG_UNPACK P) {                                     \
    AQG_UNPACK A;                                                                                              \
    return aqg_reply_short(token, handler, flags, M, args);                                                    \
  }                                                                                                            \
  static inline int gex_AM_ReplyMedium##M(gex_Token_t token, gex_AM_Index_t handler, const void* source_addr,  \
                                          size_t nbytes, gex_Event_t* lc_opt,                                  \
                                          gex_Flags_t flags AQG_UNPACK P) {                                    \
    AQG_UNPACK A;                                                                                              \
    return aqg_reply_medium(token, handler, source_addr, nbytes, lc_opt, flags, M, args);                      \
  }                                                                                                            \
  static inline int gex_AM_ReplyLong##M(gex_Token_t token, gex_AM_Index_t handler, const void* source_addr,    \
                                        size_t nbytes, void* dest_addr, gex_Event_t* lc_opt,                   \
                                        gex_Flags_t flags AQG_UNPACK P) {                                      \
    AQG_UNPACK A;                                                                                              \
    return aqg_reply_long(token, handler, source_addr, nbytes, dest_addr, lc_opt, flags, M, args);             \
  }                                                                                                            \
  AQG_COMMITS(M, P, A, RequestMedium, 1, 0, , NULL)                                                            \
  AQG_COMMITS(M, P, A, ReplyMedium, 0, 0, , NULL)                                                              \
  AQG_COMMITS(M, P, A, RequestLong, 1, 1, AQG_DEST, dest_addr)                                                 \
  AQG_COMMITS(M, P, A, ReplyLong, 0, 1, AQG_DEST, dest_addr)
#define AQG_COMMITS(M, P, A, NAME, IS_REQUEST, IS_LONG, DEST, dest)                                            \
  static inline void gex_AM_Commit##NAME##M(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler,                       \
                                            size_t nbytes DEST AQG_UNPACK P) {                                 \
    AQG_UNPACK A;                                                                                              \
    (void)aqg_commit(sd, IS_REQUEST, IS_LONG, handler, nbytes, dest, 0, M, args);                              \
  }                                                                                                            \
  static inline int gex_AM_Commit##NAME##M##_v2(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler,                   \
                                                size_t nbytes DEST, gex_Flags_t commit_flags AQG_UNPACK P) {   \
    AQG_UNPACK A;                                                                                              \
    return aqg_commit(sd, IS_REQUEST, IS_LONG, handler, nbytes, dest, commit_flags, M, args);                  \
  }
#define AQG_DEST , void* dest_addr
#define AQG_UNPACK(...) __VA_ARGS__

AQG_MESSAGES(0, (), (const gex_AM_Arg_t* const args = NULL))
AQG_MESSAGES(1, (, aqg_arg a0), (const gex_AM_Arg_t args[1] = {a0}))
AQG_MESSAGES(2, (, aqg_arg a0, aqg_arg a1), (const gex_AM_Arg_t args[2] = {a0, a1}))
AQG_MESSAGES(3, (, aqg_arg a0, aqg_arg a1, aqg_arg a2), (const gex_AM_Arg_t args[3] = {a0, a1, a2}))
AQG_MESSAGES(4, (, aqg_arg a0, aqg_arg a1, aqg_arg a2, aqg_arg a3), (const gex_AM_Arg_t args[4] = {a0, a1, a2, a3}))
AQG_MESSAGES(5, (, aqg_arg a0, aqg_arg a1, aqg_arg a2, aqg_arg a3, aqg_arg a4), (const gex_AM_Arg_t args[5] = {a0, a1, a2, a3, a4}))
AQG_MESSAGES(6, (, aqg_arg a0, aqg_arg a1, aqg_arg a2, aqg_arg a3, aqg_arg a4, aqg_arg a5), (const gex_AM_Arg_t args[6] = {a0, a1, a2, a3, a4, a5}))
AQG_MESSAGES(7, (, aqg_arg a0, aqg_arg a1, aqg_arg a2, aqg_arg a3, aqg_arg a4, aqg_arg a5, aqg_arg a6), (const gex_AM_Arg_t args[7] = {a0, a1, a2, a3, a4, a5, a6}))
AQG_MESSAGES(8, (, aqg_arg a0, aqg_arg a1, aqg_arg a2, aqg_arg a3, aqg_arg a4, aqg_arg a5, aqg_arg a6, aqg_arg a7), (const gex_AM_Arg_t args[8] = {a0, a1, a2, a3, a4, a5, a6, a7}))
AQG_MESSAGES(9, (, aqg_arg a0, aqg_arg a1, aqg_arg a2, aqg_arg a3, aqg_arg a4, aqg_arg a5, aqg_arg a6, aqg_arg a7, aqg_arg a8), (const gex_AM_Arg_t args[9] = {a0, a1, a2, a3, a4, a5, a6, a7, a8}))
AQG_MESSAGES(10, (, aqg_arg a0, aqg_arg a1, aqg_arg a2, aqg_arg a3, aqg_arg a4, aqg_arg a5, aqg_arg a6, aqg_arg a7, aqg_arg a8, aqg_arg a9), (const gex_AM_Arg_t args[10] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9}))
AQG_MESSAGES(11, (, aqg_arg a0, aqg_arg a1, aqg_arg a2, aqg_arg a3, aqg_arg a4, aqg_arg a5, aqg_arg a6, aqg_arg a7, aqg_arg a8, aqg_arg a9, aqg_arg a10), (const gex_AM_Arg_t args[11] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10}))
AQG_MESSAGES(12, (, aqg_arg a0, aqg_arg a1, aqg_arg a2, aqg_arg a3, aqg_arg a4, aqg_arg a5, aqg_arg a6, aqg_arg a7, aqg_arg a8, aqg_arg a9, aqg_arg a10, aqg_arg a11), (const gex_AM_Arg_t args[12] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11}))
AQG_MESSAGES(13, (, aqg_arg a0, aqg_arg a1, aqg_arg a2, aqg_arg a3, aqg_arg a4, aqg_arg a5, aqg_arg a6, aqg_arg a7, aqg_arg a8, aqg_arg a9, aqg_arg a10, aqg_arg a11, aqg_arg a12), (const gex_AM_Arg_t args[13] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12}))
AQG_MESSAGES(14, (, aqg_arg a0, aqg_arg a1, aqg_arg a2, aqg_arg a3, aqg_arg a4, aqg_arg a5, aqg_arg a6, aqg_arg a7, aqg_arg a8, aqg_arg a9, aqg_arg a10, aqg_arg a11, aqg_arg a12, aqg_arg a13), (const gex_AM_Arg_t args[14] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13}))
AQG_MESSAGES(15, (, aqg_arg a0, aqg_arg a1, aqg_arg a2, aqg_arg a3, aqg_arg a4, aqg_arg a5, aqg_arg a6, aqg_arg a7, aqg_arg a8, aqg_arg a9, aqg_arg a10, aqg_arg a11, aqg_arg a12, aqg_arg a13, aqg_arg a14), (const gex_AM_Arg_t args[15] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14}))
AQG_MESSAGES(16, (, aqg_arg a0, aqg_arg a1, aqg_arg a2, aqg_arg a3, aqg_arg a4, aqg_arg a5, aqg_arg a6, aqg_arg a7, aqg_arg a8, aqg_arg a9, aqg_arg a10, aqg_arg a11, aqg_arg a12, aqg_arg a13, aqg_arg a14, aqg_arg a15), (const gex_AM_Arg_t args[16] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15}))
#undef AQG_MESSAGES
#undef AQG_COMMITS
#undef AQG_DEST
#undef AQG_UNPACK

// AQG_COUNT(fixed, …): the number of arguments after the first `fixed` ones.
#define AQG_AT_26(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, \
                  _24, _25, n, ...)                                                                                     \
  n
#define AQG_JOIN_(a, b) a##b
#define AQG_JOIN(a, b) AQG_JOIN_(a, b)
#define AQG_JOIN3_(a, b, c) a##b##c
#define AQG_JOIN3(a, b, c) AQG_JOIN3_(a, b, c)
#define AQG_COUNT_3(...) AQG_AT_26(__VA_ARGS__, too_many, too_many, too_many, too_many, too_many, too_many, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, too_few, too_few, 0)
#define AQG_COUNT_4(...) AQG_AT_26(__VA_ARGS__, too_many, too_many, too_many, too_many, too_many, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, too_few, too_few, too_few, 0)
#define AQG_COUNT_5(...) AQG_AT_26(__VA_ARGS__, too_many, too_many, too_many, too_many, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, too_few, too_few, too_few, too_few, 0)
#define AQG_COUNT_6(...) AQG_AT_26(__VA_ARGS__, too_many, too_many, too_many, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, too_few, too_few, too_few, too_few, too_few, 0)
#define AQG_COUNT_7(...) AQG_AT_26(__VA_ARGS__, too_many, too_many, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, too_few, too_few, too_few, too_few, too_few, too_few, 0)
#define AQG_COUNT_8(...) AQG_AT_26(__VA_ARGS__, too_many, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, too_few, too_few, too_few, too_few, too_few, too_few, too_few, 0)
#define gex_AM_RequestShort(...) AQG_JOIN(gex_AM_RequestShort, AQG_COUNT_4(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_RequestMedium(...) AQG_JOIN(gex_AM_RequestMedium, AQG_COUNT_7(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_RequestLong(...) AQG_JOIN(gex_AM_RequestLong, AQG_COUNT_8(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_ReplyShort(...) AQG_JOIN(gex_AM_ReplyShort, AQG_COUNT_3(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_ReplyMedium(...) AQG_JOIN(gex_AM_ReplyMedium, AQG_COUNT_6(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_ReplyLong(...) AQG_JOIN(gex_AM_ReplyLong, AQG_COUNT_7(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitRequestMedium(...) AQG_JOIN(gex_AM_CommitRequestMedium, AQG_COUNT_3(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitReplyMedium(...) AQG_JOIN(gex_AM_CommitReplyMedium, AQG_COUNT_3(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitRequestLong(...) AQG_JOIN(gex_AM_CommitRequestLong, AQG_COUNT_4(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitReplyLong(...) AQG_JOIN(gex_AM_CommitReplyLong, AQG_COUNT_4(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitRequestMedium_v2(...) AQG_JOIN3(gex_AM_CommitRequestMedium, AQG_COUNT_4(__VA_ARGS__), _v2)(__VA_ARGS__)
#define gex_AM_CommitReplyMedium_v2(...) AQG_JOIN3(gex_AM_CommitReplyMedium, AQG_COUNT_4(__VA_ARGS__), _v2)(__VA_ARGS__)
#define gex_AM_CommitRequestLong_v2(...) AQG_JOIN3(gex_AM_CommitRequestLong, AQG_COUNT_5(__VA_ARGS__), _v2)(__VA_ARGS__)
#define gex_AM_CommitReplyLong_v2(...) AQG_JOIN3(gex_AM_CommitReplyLong, AQG_COUNT_5(__VA_ARGS__), _v2)(__VA_ARGS__)
