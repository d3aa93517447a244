#pragma once

// The C face of aqueduct/status.hpp and aqueduct/version.hpp.

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A truth value, in the headers that layers in C include beside their clients' own code: the macros of <stdbool.h> would
/// change what `bool`, `true` and `false` are there.
#ifdef __cplusplus
typedef bool aq_bool;
#else
typedef _Bool aq_bool;
#endif

/// Marks calls whose result must be looked at.
#define AQ_MUST_USE __attribute__((__warn_unused_result__))

/// Why a call failed: the values of aqueduct::ErrorCode.
enum aq_code {
  AQ_OK = 0,
  AQ_INVALID_ARGUMENT,
  AQ_OUT_OF_RANGE,
  AQ_MISALIGNED,
  AQ_TOO_LARGE,
  AQ_WRONG_HANDLER,
  AQ_IN_HANDLER,
  AQ_REFUSED,
  AQ_PEER_LOST,
  AQ_TIMED_OUT,
  AQ_NO_MEMORY,
  AQ_NO_SPACE,
  AQ_BAD_SETTING,
  AQ_VERSION_MISMATCH,
  AQ_BOOTSTRAP_FAILED,
  AQ_NOT_SUPPORTED,
  AQ_NETWORK_FAILED,
  AQ_CLOSED,
  AQ_MISMATCH,
  AQ_INTERNAL
};

/// No rank; and any rank, for calls that can wait for more than one peer.
#define AQ_NO_RANK UINT32_MAX
#define AQ_ANY_RANK (UINT32_MAX - 1)

/// The outcome of a call: a code (enum aq_code), and the rank that the failure concerns or AQ_NO_RANK.
typedef struct aq_status {
  int32_t code;
  uint32_t peer;
} aq_status;

static inline aq_status aq_success(void) {
  const aq_status done = {AQ_OK, AQ_NO_RANK};
  return done;
}
static inline aq_bool aq_ok(aq_status status) { return status.code == AQ_OK; }
/// The exit status for a program that ends because of this: 0, or 10 + the code.
static inline int aq_exit_code(aq_status status) { return aq_ok(status) ? 0 : 10 + status.code; }

/// Writes the status in words, as snprintf does: at most `bytes` bytes with the final 0. Returns the length of the
/// whole text. `text` may be null if `bytes` is 0. The other calls that give a text do the same.
size_t aq_status_text(aq_status status, char* text, size_t bytes);

/// The version of the headers, and of the library that is running: major * 10000 + minor * 100 + patch.
#define AQ_VERSION 100
uint32_t aq_library_version(void);
const char* aq_library_version_text(void);

/// The layout of what inline functions of these headers read, and of the structures that programs fill in. Programs pass it when they
/// start a job, so that a library with another one refuses them: AQ_VERSION_MISMATCH, and the log names both.
#define AQ_LAYOUT 1u

#ifdef __cplusplus
}
#endif
