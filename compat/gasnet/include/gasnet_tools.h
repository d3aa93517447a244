#pragma once
#if defined(__cplusplus) && __cplusplus < 201103L
#pragma GCC system_header  // C++98 has no macros with variable or empty arguments, as -pedantic says
#endif

// GASNet's tools (specification 1.20): timers, fences, atomics, locks, thread keys, environment, annotations. They need
// no job. A client without a job includes this header alone, defines GASNETT_THREAD_SAFE or GASNETT_THREAD_SINGLE, and
// links libaqueduct-gasnet-tools.

#include <aqueduct_gasnet/configuration.h>

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

// The C library hides the read-write locks from strict ISO C.
#if AQG_THREADS && !defined(PTHREAD_RWLOCK_INITIALIZER)
#error "with threads these headers need pthread_rwlock_t: compile with -std=gnu99 (or later), or define _POSIX_C_SOURCE=200809L or _GNU_SOURCE before the first #include"
#endif

#define _INCLUDED_GASNET_TOOLS_H 1
#define GASNETT_CONFIG_STRING                                                                            \
  "RELEASE=" AQG_RELEASE ",SPEC=" AQG_SPEC(GASNETT_SPEC_VERSION_MAJOR, GASNETT_SPEC_VERSION_MINOR)        \
  ",PTR=64bit,nodebug," GASNETT_THREAD_MODEL_STR "," AQG_PRIMITIVES
#define GASNETT_CONFIGURE_ARGS ""
#define GASNETT_SYSTEM_TUPLE AQG_STRINGIFY(PLATFORM_ARCH_FAMILYNAME) "-" AQG_STRINGIFY(PLATFORM_OS_FAMILYNAME)

// ------------------------------------------------------------------------------------------- annotations

#ifdef __cplusplus
#define GASNETT_EXTERNC extern "C"
#define GASNETT_BEGIN_EXTERNC extern "C" {
#define GASNETT_END_EXTERNC }
#else
#define GASNETT_EXTERNC extern
#define GASNETT_BEGIN_EXTERNC
#define GASNETT_END_EXTERNC
#endif
#define GASNETT_INLINE(name) static inline __attribute__((__always_inline__))
#define GASNETT_NEVER_INLINE(name, ...) __attribute__((__noinline__)) __VA_ARGS__
#ifdef GASNETT_USE_RESTRICT
#define GASNETT_RESTRICT GASNETT_USE_RESTRICT
#else
#define GASNETT_RESTRICT __restrict__
#endif
#define GASNETT_FORMAT_PRINTF(name, format, first, ...) \
  __attribute__((__format__(__printf__, format, first))) __VA_ARGS__
#define GASNETT_FORMAT_PRINTF_FUNCPTR(name, format, first, ...) \
  __VA_ARGS__ __attribute__((__format__(__printf__, format, first)))
#define GASNETT_NORETURN __attribute__((__noreturn__))
#define GASNETT_NORETURNP(name)
#define GASNETT_MALLOC __attribute__((__malloc__))
#define GASNETT_MALLOCP(name)
#define GASNETT_PURE __attribute__((__pure__))
#define GASNETT_PUREP(name)
#define GASNETT_CONST __attribute__((__const__))
#define GASNETT_CONSTP(name)
#define GASNETT_HOT __attribute__((__hot__))
#define GASNETT_COLD __attribute__((__cold__))
#define GASNETT_DEPRECATED __attribute__((__deprecated__))
#define GASNETT_WARN_UNUSED_RESULT __attribute__((__warn_unused_result__))
#define GASNETT_USED __attribute__((__used__))
#define GASNETT_PREDICT_TRUE(e) __builtin_expect(!!(e), 1)
#define GASNETT_PREDICT_FALSE(e) __builtin_expect(!!(e), 0)
#define if_pf(e) if (GASNETT_PREDICT_FALSE(e))
#define if_pt(e) if (GASNETT_PREDICT_TRUE(e))
#define gasnett_constant_p(e) __builtin_constant_p(e)
#define gasnett_unreachable() __builtin_unreachable()
#define gasnett_assume(e)                \
  do {                                   \
    if (!(e)) __builtin_unreachable();   \
  } while (0)
#define GASNETT_FALLTHROUGH __attribute__((__fallthrough__));
#define GASNETT_CURRENT_FUNCTION __func__
#ifndef GASNETT_USE_PRAGMA_GCC_DIAGNOSTIC
#define GASNETT_USE_PRAGMA_GCC_DIAGNOSTIC 1
#endif
#define GASNETT_IDENT(name, text) static const char name[] __attribute__((__used__)) = text

#define AQG_UNUSED(a) ((void)(a))
#define GASNETT_UNUSED_ARGS1(a) AQG_UNUSED(a)
#define GASNETT_UNUSED_ARGS2(a, b) (AQG_UNUSED(a), AQG_UNUSED(b))
#define GASNETT_UNUSED_ARGS3(a, b, c) (AQG_UNUSED(a), GASNETT_UNUSED_ARGS2(b, c))
#define GASNETT_UNUSED_ARGS4(a, b, c, d) (AQG_UNUSED(a), GASNETT_UNUSED_ARGS3(b, c, d))
#define GASNETT_UNUSED_ARGS5(a, b, c, d, e) (AQG_UNUSED(a), GASNETT_UNUSED_ARGS4(b, c, d, e))
#define GASNETT_UNUSED_ARGS6(a, b, c, d, e, f) (AQG_UNUSED(a), GASNETT_UNUSED_ARGS5(b, c, d, e, f))
#define GASNETT_UNUSED_ARGS7(a, b, c, d, e, f, g) (AQG_UNUSED(a), GASNETT_UNUSED_ARGS6(b, c, d, e, f, g))
#define GASNETT_UNUSED_ARGS8(a, b, c, d, e, f, g, h) (AQG_UNUSED(a), GASNETT_UNUSED_ARGS7(b, c, d, e, f, g, h))

#ifndef AQG_WITHOUT_TEXTS
AQG_TEXT(tools_threads, "ToolsThreadModel: " GASNETT_THREAD_MODEL_STR);
AQG_TEXT(tools_config, "ToolsConfig: " GASNETT_CONFIG_STRING);
#endif

#ifdef __cplusplus
extern "C" {
#endif

// ------------------------------------------------------------------------------------------- timers

/// Nanoseconds of the system's monotonic clock.
typedef uint64_t gasnett_tick_t;
#define GASNETT_TICK_MIN ((gasnett_tick_t)0)
#define GASNETT_TICK_MAX (~(gasnett_tick_t)0)
gasnett_tick_t gasnett_ticks_now(void);
static inline uint64_t gasnett_ticks_to_ns(gasnett_tick_t ticks) { return ticks; }
static inline uint64_t gasnett_ticks_to_us(gasnett_tick_t ticks) { return ticks / 1000; }
double gasnett_tick_granularityus(void);
double gasnett_tick_overheadus(void);
uint64_t gasnett_gettimeofday_us(void);
int gasnett_nsleep(uint64_t ns_delay);

// ------------------------------------------------------------------------------------------- fences

static inline void gasnett_compiler_fence(void) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
static inline void gasnett_local_wmb(void) { __atomic_thread_fence(__ATOMIC_RELEASE); }
static inline void gasnett_local_rmb(void) { __atomic_thread_fence(__ATOMIC_ACQUIRE); }
static inline void gasnett_local_mb(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
#if AQG_THREADS
static inline void gasnett_weak_wmb(void) { gasnett_local_wmb(); }
static inline void gasnett_weak_rmb(void) { gasnett_local_rmb(); }
static inline void gasnett_weak_mb(void) { gasnett_local_mb(); }
#else
static inline void gasnett_weak_wmb(void) {}
static inline void gasnett_weak_rmb(void) {}
static inline void gasnett_weak_mb(void) {}
#endif
static inline void gasnett_spinloop_hint(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
  gasnett_compiler_fence();
}

// ------------------------------------------------------------------------------------------- atomics

#define GASNETT_ATOMIC_NONE 0
#define GASNETT_ATOMIC_RMB_PRE 1
#define GASNETT_ATOMIC_WMB_PRE 2
#define GASNETT_ATOMIC_MB_PRE 4
#define GASNETT_ATOMIC_RMB_POST 8
#define GASNETT_ATOMIC_WMB_POST 16
#define GASNETT_ATOMIC_MB_POST 32
#define GASNETT_ATOMIC_RMB_POST_IF_TRUE 64
#define GASNETT_ATOMIC_RMB_POST_IF_FALSE 128
#define GASNETT_ATOMIC_REL GASNETT_ATOMIC_WMB_PRE
#define GASNETT_ATOMIC_ACQ GASNETT_ATOMIC_RMB_POST
#define GASNETT_ATOMIC_ACQ_IF_TRUE GASNETT_ATOMIC_RMB_POST_IF_TRUE
#define GASNETT_ATOMIC_ACQ_IF_FALSE GASNETT_ATOMIC_RMB_POST_IF_FALSE
#define GASNETT_HAVE_ATOMIC_ADD_SUB 1
#define GASNETT_HAVE_ATOMIC_CAS 1
#define GASNETT_HAVE_STRONGATOMIC_ADD_SUB 1
#define GASNETT_HAVE_STRONGATOMIC_CAS 1

// Loads are acquires, stores releases, and the other operations both: what the flags can ask for, but for full fences.
static inline void aqg_fence_before(int flags) {
  if (flags & GASNETT_ATOMIC_MB_PRE) gasnett_local_mb();
}
static inline void aqg_fence_after(int flags) {
  if (flags & (GASNETT_ATOMIC_MB_POST | GASNETT_ATOMIC_WMB_POST)) gasnett_local_mb();
}

#define AQG_DEFINE_ATOMIC(NAME, TYPE, T)                                                               \
  static inline T NAME##_read(TYPE* p, int flags) {                                                    \
    aqg_fence_before(flags);                                                                           \
    const T old = __atomic_load_n(&p->value, __ATOMIC_ACQUIRE);                                        \
    aqg_fence_after(flags);                                                                            \
    return old;                                                                                        \
  }                                                                                                    \
  static inline void NAME##_set(TYPE* p, T v, int flags) {                                             \
    aqg_fence_before(flags);                                                                           \
    __atomic_store_n(&p->value, v, __ATOMIC_RELEASE);                                                  \
    aqg_fence_after(flags);                                                                            \
  }                                                                                                    \
  static inline T NAME##_add(TYPE* p, T v, int flags) {                                                \
    (void)flags;                                                                                       \
    return __atomic_add_fetch(&p->value, v, __ATOMIC_SEQ_CST);                                         \
  }                                                                                                    \
  static inline T NAME##_subtract(TYPE* p, T v, int flags) {                                           \
    (void)flags;                                                                                       \
    return __atomic_sub_fetch(&p->value, v, __ATOMIC_SEQ_CST);                                         \
  }                                                                                                    \
  static inline int NAME##_compare_and_swap(TYPE* p, T oldval, T newval, int flags) {                  \
    (void)flags;                                                                                       \
    return __atomic_compare_exchange_n(&p->value, &oldval, newval, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                                    \
  static inline T NAME##_swap(TYPE* p, T v, int flags) {                                               \
    (void)flags;                                                                                       \
    return __atomic_exchange_n(&p->value, v, __ATOMIC_SEQ_CST);                                        \
  }
// Without threads: plain operations.
#define AQG_DEFINE_PLAIN(NAME, TYPE, T)                                                      \
  static inline T NAME##_read(TYPE* p, int flags) {                                          \
    (void)flags;                                                                             \
    return p->value;                                                                         \
  }                                                                                          \
  static inline void NAME##_set(TYPE* p, T v, int flags) {                                   \
    (void)flags;                                                                             \
    p->value = v;                                                                            \
  }                                                                                          \
  static inline T NAME##_add(TYPE* p, T v, int flags) {                                      \
    (void)flags;                                                                             \
    p->value = p->value + v;                                                                 \
    return p->value;                                                                         \
  }                                                                                          \
  static inline T NAME##_subtract(TYPE* p, T v, int flags) {                                 \
    (void)flags;                                                                             \
    p->value = p->value - v;                                                                 \
    return p->value;                                                                         \
  }                                                                                          \
  static inline int NAME##_compare_and_swap(TYPE* p, T oldval, T newval, int flags) {        \
    (void)flags;                                                                             \
    if (p->value != oldval) return 0;                                                        \
    p->value = newval;                                                                       \
    return 1;                                                                                \
  }                                                                                          \
  static inline T NAME##_swap(TYPE* p, T v, int flags) {                                     \
    const T old = p->value;                                                                  \
    (void)flags;                                                                             \
    p->value = v;                                                                            \
    return old;                                                                              \
  }
#define AQG_DEFINE_STEPS(NAME, TYPE)                                                                     \
  static inline void NAME##_increment(TYPE* p, int flags) { (void)NAME##_add(p, 1, flags); }             \
  static inline void NAME##_decrement(TYPE* p, int flags) { (void)NAME##_subtract(p, 1, flags); }        \
  static inline int NAME##_decrement_and_test(TYPE* p, int flags) {                                      \
    return NAME##_subtract(p, 1, flags) == 0;                                                            \
  }

// The 32- and 64-bit types lie over any object of that size.
typedef uint32_t __attribute__((__may_alias__)) aqg_any32;
typedef uint64_t __attribute__((__may_alias__)) aqg_any64;
typedef struct {
  volatile aqg_any32 value;
} gasnett_atomic32_t;
typedef struct {
  volatile aqg_any64 value;
} gasnett_atomic64_t;
typedef gasnett_atomic32_t gasnett_strongatomic32_t;
typedef gasnett_atomic64_t gasnett_strongatomic64_t;
typedef gasnett_atomic32_t gasnett_atomic_t;
typedef gasnett_atomic32_t gasnett_strongatomic_t;
typedef uint32_t gasnett_atomic_val_t;
typedef int32_t gasnett_atomic_sval_t;
typedef uint32_t gasnett_strongatomic_val_t;
typedef int32_t gasnett_strongatomic_sval_t;
#define AQG_ATOMIC_INIT(T, v) \
  { (T)(v) }
#define gasnett_atomic_init(v) AQG_ATOMIC_INIT(uint32_t, v)
#define gasnett_atomic32_init(v) AQG_ATOMIC_INIT(uint32_t, v)
#define gasnett_atomic64_init(v) AQG_ATOMIC_INIT(uint64_t, v)
#define gasnett_strongatomic_init(v) gasnett_atomic_init(v)
#define gasnett_strongatomic32_init(v) gasnett_atomic32_init(v)
#define gasnett_strongatomic64_init(v) gasnett_atomic64_init(v)
#define gasnett_atomic_signed(v) ((gasnett_atomic_sval_t)(v))
#define gasnett_strongatomic_signed(v) ((gasnett_atomic_sval_t)(v))
#define GASNETT_ATOMIC_MAX ((gasnett_atomic_val_t)0xffffffffu)
#define GASNETT_ATOMIC_SIGNED_MIN ((gasnett_atomic_sval_t)INT32_MIN)
#define GASNETT_ATOMIC_SIGNED_MAX ((gasnett_atomic_sval_t)INT32_MAX)
#define GASNETT_STRONGATOMIC_MAX GASNETT_ATOMIC_MAX
#define GASNETT_STRONGATOMIC_SIGNED_MIN GASNETT_ATOMIC_SIGNED_MIN
#define GASNETT_STRONGATOMIC_SIGNED_MAX GASNETT_ATOMIC_SIGNED_MAX

#if AQG_THREADS
AQG_DEFINE_ATOMIC(gasnett_atomic, gasnett_atomic_t, uint32_t)
AQG_DEFINE_ATOMIC(gasnett_atomic32, gasnett_atomic32_t, uint32_t)
AQG_DEFINE_ATOMIC(gasnett_atomic64, gasnett_atomic64_t, uint64_t)
#else
AQG_DEFINE_PLAIN(gasnett_atomic, gasnett_atomic_t, uint32_t)
AQG_DEFINE_PLAIN(gasnett_atomic32, gasnett_atomic32_t, uint32_t)
AQG_DEFINE_PLAIN(gasnett_atomic64, gasnett_atomic64_t, uint64_t)
#endif
AQG_DEFINE_ATOMIC(gasnett_strongatomic, gasnett_strongatomic_t, uint32_t)
AQG_DEFINE_ATOMIC(gasnett_strongatomic32, gasnett_strongatomic32_t, uint32_t)
AQG_DEFINE_ATOMIC(gasnett_strongatomic64, gasnett_strongatomic64_t, uint64_t)
AQG_DEFINE_STEPS(gasnett_atomic, gasnett_atomic_t)
AQG_DEFINE_STEPS(gasnett_atomic32, gasnett_atomic32_t)
AQG_DEFINE_STEPS(gasnett_atomic64, gasnett_atomic64_t)
AQG_DEFINE_STEPS(gasnett_strongatomic, gasnett_strongatomic_t)
AQG_DEFINE_STEPS(gasnett_strongatomic32, gasnett_strongatomic32_t)
AQG_DEFINE_STEPS(gasnett_strongatomic64, gasnett_strongatomic64_t)

// ------------------------------------------------------------------------------------------- locks

#if AQG_THREADS
typedef pthread_mutex_t gasnett_mutex_t;
typedef pthread_cond_t gasnett_cond_t;
typedef pthread_rwlock_t gasnett_rwlock_t;
#define GASNETT_MUTEX_INITIALIZER PTHREAD_MUTEX_INITIALIZER
#define GASNETT_COND_INITIALIZER PTHREAD_COND_INITIALIZER
#define GASNETT_RWLOCK_INITIALIZER PTHREAD_RWLOCK_INITIALIZER
static inline void gasnett_mutex_init(gasnett_mutex_t* m) { (void)pthread_mutex_init(m, NULL); }
static inline void gasnett_mutex_destroy(gasnett_mutex_t* m) { (void)pthread_mutex_destroy(m); }
static inline int gasnett_mutex_destroy_ignoreerr(gasnett_mutex_t* m) { return pthread_mutex_destroy(m); }
static inline void gasnett_mutex_lock(gasnett_mutex_t* m) { (void)pthread_mutex_lock(m); }
static inline void gasnett_mutex_unlock(gasnett_mutex_t* m) { (void)pthread_mutex_unlock(m); }
static inline int gasnett_mutex_trylock(gasnett_mutex_t* m) { return pthread_mutex_trylock(m); }
static inline void gasnett_cond_init(gasnett_cond_t* c) { (void)pthread_cond_init(c, NULL); }
static inline void gasnett_cond_destroy(gasnett_cond_t* c) { (void)pthread_cond_destroy(c); }
static inline void gasnett_cond_signal(gasnett_cond_t* c) { (void)pthread_cond_signal(c); }
static inline void gasnett_cond_broadcast(gasnett_cond_t* c) { (void)pthread_cond_broadcast(c); }
static inline void gasnett_cond_wait(gasnett_cond_t* c, gasnett_mutex_t* m) { (void)pthread_cond_wait(c, m); }
static inline void gasnett_rwlock_init(gasnett_rwlock_t* l) { (void)pthread_rwlock_init(l, NULL); }
static inline void gasnett_rwlock_destroy(gasnett_rwlock_t* l) { (void)pthread_rwlock_destroy(l); }
static inline void gasnett_rwlock_rdlock(gasnett_rwlock_t* l) {
  while (pthread_rwlock_rdlock(l) == EAGAIN) sched_yield();
}
static inline void gasnett_rwlock_wrlock(gasnett_rwlock_t* l) { (void)pthread_rwlock_wrlock(l); }
static inline void gasnett_rwlock_unlock(gasnett_rwlock_t* l) { (void)pthread_rwlock_unlock(l); }
static inline int gasnett_rwlock_tryrdlock(gasnett_rwlock_t* l) { return pthread_rwlock_tryrdlock(l); }
static inline int gasnett_rwlock_trywrlock(gasnett_rwlock_t* l) { return pthread_rwlock_trywrlock(l); }
#else
typedef struct {
  char unused;
} gasnett_mutex_t;
typedef gasnett_mutex_t gasnett_cond_t;
typedef gasnett_mutex_t gasnett_rwlock_t;
#define GASNETT_MUTEX_INITIALIZER \
  { 0 }
#define GASNETT_COND_INITIALIZER \
  { 0 }
#define GASNETT_RWLOCK_INITIALIZER \
  { 0 }
static inline void gasnett_mutex_init(gasnett_mutex_t* m) { (void)m; }
static inline void gasnett_mutex_destroy(gasnett_mutex_t* m) { (void)m; }
static inline int gasnett_mutex_destroy_ignoreerr(gasnett_mutex_t* m) { return (void)m, 0; }
static inline void gasnett_mutex_lock(gasnett_mutex_t* m) { (void)m; }
static inline void gasnett_mutex_unlock(gasnett_mutex_t* m) { (void)m; }
static inline int gasnett_mutex_trylock(gasnett_mutex_t* m) { return (void)m, 0; }
static inline void gasnett_cond_init(gasnett_cond_t* c) { (void)c; }
static inline void gasnett_cond_destroy(gasnett_cond_t* c) { (void)c; }
static inline void gasnett_cond_signal(gasnett_cond_t* c) { (void)c; }
static inline void gasnett_cond_broadcast(gasnett_cond_t* c) { (void)c; }
static inline void gasnett_cond_wait(gasnett_cond_t* c, gasnett_mutex_t* m) { (void)c, (void)m; }
static inline void gasnett_rwlock_init(gasnett_rwlock_t* l) { (void)l; }
static inline void gasnett_rwlock_destroy(gasnett_rwlock_t* l) { (void)l; }
static inline void gasnett_rwlock_rdlock(gasnett_rwlock_t* l) { (void)l; }
static inline void gasnett_rwlock_wrlock(gasnett_rwlock_t* l) { (void)l; }
static inline void gasnett_rwlock_unlock(gasnett_rwlock_t* l) { (void)l; }
static inline int gasnett_rwlock_tryrdlock(gasnett_rwlock_t* l) { return (void)l, 0; }
static inline int gasnett_rwlock_trywrlock(gasnett_rwlock_t* l) { return (void)l, 0; }
#endif
#define gasnett_mutex_assertlocked(m) ((void)(m))
#define gasnett_mutex_assertunlocked(m) ((void)(m))
#define gasnett_rwlock_assertrdlocked(l) ((void)(l))
#define gasnett_rwlock_assertwrlocked(l) ((void)(l))
#define gasnett_rwlock_assertlocked(l) ((void)(l))
#define gasnett_rwlock_assertunlocked(l) ((void)(l))

// ------------------------------------------------------------------------------------------- thread keys

#if AQG_THREADS
#define AQG_PER_THREAD __thread
#else
#define AQG_PER_THREAD
#endif
#define GASNETT_THREADKEY_DECLARE(key) extern AQG_PER_THREAD void* aqg_key_##key
#define GASNETT_THREADKEY_DEFINE(key) AQG_PER_THREAD void* aqg_key_##key
#define gasnett_threadkey_get(key) (aqg_key_##key)
#define gasnett_threadkey_set(key, value) ((void)(aqg_key_##key = (value)))
#define gasnett_threadkey_init(key) ((void)0)
#define gasnett_threadkey_get_noinit(key) gasnett_threadkey_get(key)
#define gasnett_threadkey_set_noinit(key, value) gasnett_threadkey_set(key, value)

// ------------------------------------------------------------------------------------------- environment

char* gasnett_format_number(int64_t val, char* buf, size_t bufsz, int is_mem_size);
int64_t gasnett_parse_int(const char* str, uint64_t mem_size_multiplier);
void gasnett_setenv(const char* key, const char* value);
void gasnett_unsetenv(const char* key);
char* gasnett_getenv(const char* keyname);
char* gasnett_getenv_withdefault(const char* keyname, const char* defaultval);
int gasnett_getenv_yesno_withdefault(const char* keyname, int defaultval);
int64_t gasnett_getenv_int_withdefault(const char* keyname, int64_t defaultval, uint64_t mem_size_multiplier);
double gasnett_getenv_dbl_withdefault(const char* keyname, double defaultval);
int gasnett_verboseenv(void);
void gasnett_envint_display(const char* key, int64_t val, int is_dflt, int is_mem_size);
void gasnett_envstr_display(const char* key, const char* val, int is_dflt);
void gasnett_envdbl_display(const char* key, double val, int is_dflt);

// ------------------------------------------------------------------------------------------- errors, backtraces

void aqg_fatal(const char* file, int line, const char* function, const char* msg, ...)
    __attribute__((__noreturn__, __format__(__printf__, 4, 5)));
#define gasnett_fatalerror(...) aqg_fatal(__FILE__, __LINE__, __func__, __VA_ARGS__)
#define gasnett_fatalerror_nopos(...) aqg_fatal(NULL, 0, NULL, __VA_ARGS__)
void gasnett_killmyprocess(int exitcode) __attribute__((__noreturn__));
typedef void (*gasnett_sighandlerfn_t)(int);
gasnett_sighandlerfn_t gasnett_reghandler(int sigtocatch, gasnett_sighandlerfn_t fp);
/// SIGSEGV and so on; null for a number that no signal with a name has.
const char* gasnett_signame_fromval(int sigval);
void gasnett_freezeForDebuggerNow(volatile int* flag, const char* flagsymname);
void gasnett_freezeForDebuggerErr(void);

typedef struct {
  const char* name;
  int (*fnp)(int fd);
  int threadsupport;
} gasnett_backtrace_type_t;
/// A client may define it: a mechanism of its own.
extern gasnett_backtrace_type_t gasnett_backtrace_user;
void gasnett_backtrace_init(const char* exename);
int gasnett_print_backtrace(int fd);
extern int (*gasnett_print_backtrace_ifenabled)(int fd);
#define gasnett_current_loc aqg_location(__FILE__, __LINE__, __func__)
char* aqg_location(const char* file, int line, const char* function);

// ------------------------------------------------------------------------------------------- the system

const char* gasnett_gethostname(void);
const char* gasnett_exe_name(void);
int gasnett_cpu_count(void);
uint64_t gasnett_getPhysMemSz(int failureIsFatal);
static inline int gasnett_isLittleEndian(void) { return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__; }
const char* gasnett_performance_warning_str(void);
const char* gasnett_release_version_str(void);
uint64_t gasnett_release_version(void);
#define GASNETT_SET_AFFINITY_SUPPORT 1
int gasnett_set_affinity(int rank);
static inline void gasnett_sched_yield(void) { (void)sched_yield(); }
void gasnett_flush_streams(void);
void gasnett_close_streams(void);
int gasnett_maximize_rlimits(void);
int gasnett_maximize_rlimit(int res, const char* lim_desc);
/// Anonymous memory of that many bytes, which ends with the process.
void* gasnett_mmap(uintptr_t segsize);

uint64_t gasnett_checksum(const void* p, int numbytes);
static inline int gasnett_count0s_uint64_t(uint64_t x) {
  // Gathers the bits of each byte in its lowest one, and counts the bytes that have any.
  x |= x >> 4;
  x |= x >> 2;
  x |= x >> 1;
  return 8 - __builtin_popcountll(x & UINT64_C(0x0101010101010101));
}
static inline int gasnett_count0s_uint32_t(uint32_t x) {
  return gasnett_count0s_uint64_t(UINT64_C(0xffffffff00000000) | x);
}
static inline int gasnett_count0s_uintptr_t(uintptr_t x) {
  return sizeof x == 8 ? gasnett_count0s_uint64_t(x) : gasnett_count0s_uint32_t((uint32_t)x);
}
size_t gasnett_count0s(const void* p, size_t numbytes);
size_t gasnett_count0s_copy(void* GASNETT_RESTRICT dst, const void* GASNETT_RESTRICT src, size_t numbytes);

// ------------------------------------------------------------------------------------------- traces, statistics

// This implementation has no trace files: Aqueduct's counters and log take their place.
static inline __attribute__((__format__(__printf__, 1, 2))) void _gasnett_trace_printf_noop(const char* format, ...) {
  (void)format;
}
#define GASNETT_TRACE_ENABLED 0
#define GASNETT_TRACE_GETMASK() ""
#define GASNETT_STATS_GETMASK() ""
#define GASNETT_TRACE_SETMASK(mask) ((void)(mask))
#define GASNETT_STATS_SETMASK(mask) ((void)(mask))
#define GASNETT_TRACE_GET_TRACELOCAL() 0
#define GASNETT_TRACE_SET_TRACELOCAL(value) ((void)(value))
#define GASNETT_TRACE_PRINTF _gasnett_trace_printf_noop
#define GASNETT_TRACE_PRINTF_FORCE _gasnett_trace_printf_noop
#define GASNETT_STATS_PRINTF _gasnett_trace_printf_noop
#define GASNETT_STATS_PRINTF_FORCE _gasnett_trace_printf_noop
#define GASNETT_STATS_INIT(callback) 0
#define GASNETT_STATS_DUMP(reset) ((void)(reset))
#define GASNETT_TRACE_SETSOURCELINE(file, line) ((void)0)
#define GASNETT_TRACE_GETSOURCELINE(pfile, pline) ((void)(*(pfile) = NULL), (void)(*(pline) = 0))
#define GASNETT_TRACE_FREEZESOURCELINE() ((void)0)
#define GASNETT_TRACE_UNFREEZESOURCELINE() ((void)0)

// The allocator of debug builds is the system's here.
#define gasnett_debug_malloc(bytes) malloc(bytes)
#define gasnett_debug_calloc(count, bytes) calloc(count, bytes)
#define gasnett_debug_realloc(at, bytes) realloc(at, bytes)
#define gasnett_debug_free(at) free(at)
#define gasnett_debug_strdup(text) strdup(text)
#define gasnett_debug_strndup(text, most) strndup(text, most)
#define gasnett_debug_memcheck(at) ((void)(at))
#define gasnett_debug_memcheck_one() ((void)0)
#define gasnett_debug_memcheck_all() ((void)0)
typedef struct {
  uint64_t allocated_bytes;
  uint64_t freed_bytes;
  uint64_t live_bytes;
  uint64_t live_bytes_max;
} gasnett_heapstats_t;
#define gasnett_getheapstats(stats) ((void)memset(stats, 0, sizeof(gasnett_heapstats_t)), 0)

static inline void _gasneti_threadkey_init(void) {}

#ifdef __cplusplus
}
#endif
