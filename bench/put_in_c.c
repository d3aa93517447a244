// How long an inline put of 8 bytes takes in a program in C, beside a plain store. bench/put_in_c.py runs it on two ranks
// of one host: rank 0 measures, in turns. Prints the medians in nanoseconds: put, store.

#include <aqueduct/aqueduct.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kTurns = 401, kBatch = 20000 };

static void must(aq_status status, const char* what) {
  if (aq_ok(status)) return;
  fprintf(stderr, "put_in_c: %s failed\n", what);
  exit(1);
}

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return (x > y) - (x < y);
}

// Both loops are settled alike: the compiler may neither merge nor drop an access.
#define SETTLE() __asm__ volatile("" ::: "memory")

static double time_puts(aq_endpoint* ep, aq_ptr to) {
  const double begin = now_ns();
  for (uint64_t i = 0; i < kBatch; ++i) {
    if (!aq_ok(aq_put_u64(ep, to, i))) exit(1);
    SETTLE();
  }
  return (now_ns() - begin) / kBatch;
}

static double time_stores(uint64_t* to) {
  const double begin = now_ns();
  for (uint64_t i = 0; i < kBatch; ++i) {
    *to = i;
    SETTLE();
  }
  return (now_ns() - begin) / kBatch;
}

int main(void) {
  aq_job* job = NULL;
  must(aq_job_start(NULL, &job), "aq_job_start");
  aq_endpoint* const ep = aq_job_endpoint(job, 0);
  must(aq_team_barrier(aq_world(ep)), "aq_team_barrier");
  if (aq_rank(ep) == 0) {
    const aq_ptr to = aq_at(aq_ranks(ep) - 1, 0, 0);
    uint64_t* const place = aq_local(ep, to, sizeof *place);
    if (place == NULL) {
      fprintf(stderr, "put_in_c: the other rank's memory is not mapped here\n");
      exit(1);
    }
    static double puts[kTurns];
    static double stores[kTurns];
    for (int turn = 0; turn < kTurns; ++turn) {
      puts[turn] = time_puts(ep, to);
      stores[turn] = time_stores(place);
    }
    qsort(puts, kTurns, sizeof *puts, compare);
    qsort(stores, kTurns, sizeof *stores, compare);
    printf("%.3f %.3f\n", puts[kTurns / 2], stores[kTurns / 2]);
  }
  must(aq_team_barrier(aq_world(ep)), "aq_team_barrier");
  return aq_exit_code(aq_job_finish(job));
}
