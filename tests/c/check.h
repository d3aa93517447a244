#pragma once

// Checks for the programs in C. A check that fails says what and where, and ends the program with status 1.

#include <aqueduct/aqueduct.h>

#include <stdio.h>

#include <stdlib.h>

#define SECOND INT64_C(1000000000)

static inline void check_true(int holds, const char* what, const char* file, int line) {
  if (holds) return;
  fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
  exit(1);
}
static inline void check_code(aq_status status, int code, const char* what, const char* file, int line) {
  if (status.code == code) return;
  char text[256];
  (void)aq_status_text(status, text, sizeof text);
  fprintf(stderr, "%s:%d: %s: expected code %d, got %d: %s\n", file, line, what, code, status.code, text);
  exit(1);
}
#define HOLDS(condition) check_true((condition), #condition, __FILE__, __LINE__)
#define OK(call) check_code((call), AQ_OK, #call, __FILE__, __LINE__)
#define FAILS(code, call) check_code((call), (code), #call, __FILE__, __LINE__)

static inline uint32_t next_of(const aq_endpoint* ep) { return (aq_rank(ep) + 1) % aq_ranks(ep); }
static inline uint32_t previous_of(const aq_endpoint* ep) {
  return (aq_rank(ep) + aq_ranks(ep) - 1) % aq_ranks(ep);
}

/// Bytes that tell their writer and their place.
static inline unsigned char* new_pattern(uint32_t writer, size_t bytes) {
  unsigned char* const made = malloc(bytes + 1);
  HOLDS(made != NULL);
  for (size_t i = 0; i < bytes; ++i) made[i] = (unsigned char)(i * 7 + (i >> 8) + writer * 31 + 1);
  return made;
}
/// Ends the program unless the bytes are the pattern of that writer.
static inline void check_pattern(const void* bytes, uint32_t writer, size_t count, const char* file,
                                 int line) {
  unsigned char* const expected = new_pattern(writer, count);
  const unsigned char* const found = bytes;
  for (size_t i = 0; i < count; ++i) {
    if (found[i] == expected[i]) continue;
    fprintf(stderr, "%s:%d: byte %zu of %zu is %d, not rank %u's %d\n", file, line, i, count, found[i],
            writer, expected[i]);
    exit(1);
  }
  free(expected);
}
#define IS_PATTERN(bytes, writer, count) check_pattern((bytes), (writer), (count), __FILE__, __LINE__)

/// Waits for an event, which must succeed.
#define DONE(ep, event) OK(aq_wait((ep), &(event)))

/// Starts a job, runs `body` on each endpoint, and ends the job.
static inline int run_job(void (*body)(aq_endpoint* ep, void* context)) {
  aq_job* job = NULL;
  OK(aq_job_start(NULL, &job));
  OK(aq_job_run_each(job, body, NULL));
  OK(aq_job_finish(job));
  return 0;
}
