#pragma once
#if defined(__cplusplus) && __cplusplus < 201103L
#pragma GCC system_header  // C++98 has no macros with variable or empty arguments, as -pedantic says
#endif

// What this implementation is, for all of its headers: versions, the threads of the client, identification.

#include <gasnet_config.h>
#include <gasnet_portable_platform.h>

#include <stddef.h>
#include <stdint.h>

#define GASNETT_RELEASE_VERSION_MAJOR GASNET_RELEASE_VERSION_MAJOR
#define GASNETT_RELEASE_VERSION_MINOR GASNET_RELEASE_VERSION_MINOR
#define GASNETT_RELEASE_VERSION_PATCH GASNET_RELEASE_VERSION_PATCH
#define GEX_SPEC_VERSION_MAJOR 0
#define GEX_SPEC_VERSION_MINOR 19
#define GASNET_SPEC_VERSION_MAJOR 1
#define GASNET_SPEC_VERSION_MINOR 8
#define GASNET_VERSION GASNET_SPEC_VERSION_MAJOR
#define GASNETT_SPEC_VERSION_MAJOR 1
#define GASNETT_SPEC_VERSION_MINOR 20

// Whether several threads may use the headers' locks, atomics and thread keys. A client of the tools alone need not say so if
// its compiler does (-pthread), or if it has included pthread.h before.
#if defined(GASNET_PAR) || defined(GASNET_PARSYNC) || \
    (defined(GASNETT_THREAD_SAFE) && !defined(GASNET_SEQ)) || \
    (defined(GASNETT_USE_TRUE_MUTEXES) && GASNETT_USE_TRUE_MUTEXES) || \
    (!defined(GASNET_SEQ) && !defined(GASNETT_THREAD_SINGLE) && \
     (defined(_REENTRANT) || defined(_THREAD_SAFE) || defined(PTHREAD_MUTEX_INITIALIZER)))
#define AQG_THREADS 1
#else
#define AQG_THREADS 0
#endif
#if AQG_THREADS && !defined(GASNETT_THREAD_SAFE)
#define GASNETT_THREAD_SAFE 1
#endif

#define AQG_STRINGIFY_(x) #x
#define AQG_STRINGIFY(x) AQG_STRINGIFY_(x)
#ifndef _STRINGIFY
#define _STRINGIFY_HELPER(x) #x
#define _STRINGIFY(x) _STRINGIFY_HELPER(x)
#endif
#ifndef _CONCAT
#define _CONCAT_HELPER(a, b) a##b
#define _CONCAT(a, b) _CONCAT_HELPER(a, b)
#endif

// Results of a configure script that programs rely on.
#ifndef HAVE_PTHREAD_H
#define HAVE_PTHREAD_H 1
#endif
#ifndef HAVE_MMAP
#define HAVE_MMAP 1
#endif

#ifndef PRIuSZ
#define PRIuSZ "zu"
#define PRIiSZ "zi"
#define PRIxSZ "zx"
#endif
// In the words of configure scripts, whose own results a client may include before or after.
#ifndef SIZEOF_CHAR
#define SIZEOF_CHAR 1
#endif
#ifndef SIZEOF_SHORT
#define SIZEOF_SHORT 2
#endif
#ifndef SIZEOF_INT
#define SIZEOF_INT 4
#endif
#ifndef SIZEOF_LONG
#define SIZEOF_LONG 8
#endif
#ifndef SIZEOF_LONG_LONG
#define SIZEOF_LONG_LONG 8
#endif
#ifndef SIZEOF_SIZE_T
#define SIZEOF_SIZE_T 8
#endif
#ifndef SIZEOF_PTRDIFF_T
#define SIZEOF_PTRDIFF_T 8
#endif
#ifndef SIZEOF_VOID_P
#define SIZEOF_VOID_P 8
#endif

#if defined(__x86_64__) || defined(__i386__)
#define GASNETT_PAGESHIFT 12
#else
#define GASNETT_PAGESHIFT 16
#endif
#define GASNETT_PAGESIZE (1 << GASNETT_PAGESHIFT)
#define GASNETT_CACHE_LINE_BYTES 64

#if AQG_THREADS
#define GASNETT_THREAD_MODEL_STR "PAR"
#else
#define GASNETT_THREAD_MODEL_STR "SEQ"
#endif
#define AQG_RELEASE                                                         \
  AQG_STRINGIFY(GASNET_RELEASE_VERSION_MAJOR) "." AQG_STRINGIFY(            \
      GASNET_RELEASE_VERSION_MINOR) "." AQG_STRINGIFY(GASNET_RELEASE_VERSION_PATCH)
#define AQG_SPEC(major, minor) AQG_STRINGIFY(major) "." AQG_STRINGIFY(minor)
#define AQG_PRIMITIVES "timers_os,membars_native,atomics_native,atomic32_native,atomic64_native"
#define AQG_CONFIG_STRING(conduit, threads)                                                               \
  "RELEASE=" AQG_RELEASE ",SPEC=" AQG_SPEC(GEX_SPEC_VERSION_MAJOR, GEX_SPEC_VERSION_MINOR) ",CONDUIT=" conduit \
  "(" conduit "-0.1/" conduit "-0.1),THREADMODEL=" threads ",SEGMENT=FAST,PTR=64bit,CACHE_LINE_BYTES=64,noalign," \
  "pshm,nodebug,notrace,nostats,nodebugmalloc,nosrclines," AQG_PRIMITIVES

// Texts that harnesses and launchers look for in an executable, which is why the headers put them into each file of a
// client. They name the client's thread mode; the layer's own files, compiled once for all modes, have none.
#define AQG_TEXT(name, text) static const char aqg_text_##name[] __attribute__((__used__)) = "$GASNet" text " $"
