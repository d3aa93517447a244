// Pi in C: the ranks share out the integral of 4 / (1 + x^2) from 0 to 1, and add up their parts in a ring.
//
//   aqrun -n 4 pi_c [STEPS]

#include <aqueduct/aqueduct.h>

#include <errno.h>
#include <stdio.h>

#include <stdlib.h>

// Ends the program, and with it the job, unless the call succeeded.
static void need(aq_status status, const char* what) {
  if (aq_ok(status)) return;
  char text[256];
  (void)aq_status_text(status, text, sizeof text);
  fprintf(stderr, "failed: %s: %s\n", what, text);
  exit(aq_exit_code(status));
}

// My share of the sum: every ranks-th of the steps, by the midpoint rule.
static double part_of(uint32_t rank, uint32_t ranks, uint64_t steps) {
  const double width = 1.0 / (double)steps;
  double sum = 0;
  for (uint64_t i = rank; i < steps; i += ranks) {
    const double x = ((double)i + 0.5) * width;
    sum += 4.0 / (1.0 + x * x);
  }
  return sum * width;
}

// The sum over all ranks, on all ranks.
//
// `parts` is an array of one double for each rank, at the same offset of every rank's segment. In each step a rank passes
// on the part that has arrived last: it puts the part into the next rank's array and raises that rank's counter 0 in the
// same call. So a rank that sees `step` on its counter sees as many parts. Every rank adds the parts in the same order and
// gets the same bits.
static double sum_over_ranks(aq_endpoint* ep, aq_segment* segment, double mine) {
  const uint32_t rank = aq_rank(ep), ranks = aq_ranks(ep);
  const uint32_t next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
  size_t bytes = 0;
  double* const parts = aq_segment_mine(segment, &bytes);
  parts[rank] = mine;
  for (uint32_t step = 1; step < ranks; ++step) {
    const uint32_t whose = (rank + ranks - (step - 1)) % ranks;
    const aq_ptr there = aq_at(next, aq_segment_id(segment), whose * sizeof(double));
    need(aq_put_signal(ep, there, &parts[whose], sizeof(double), 0, 1), "pass a part on");
    need(aq_wait_signal(ep, 0, step, previous, AQ_FOREVER), "wait for a part");
  }
  double sum = 0;
  for (uint32_t i = 0; i < ranks; ++i) sum += parts[i];
  return sum;
}

static void run(aq_endpoint* ep, void* context) {
  const uint64_t steps = *(const uint64_t*)context;
  aq_segment* segment = NULL;
  need(aq_segment_create(aq_world(ep), aq_ranks(ep) * sizeof(double), &segment), "make a segment");
  const double pi = sum_over_ranks(ep, segment, part_of(aq_rank(ep), aq_ranks(ep), steps));
  const double wrong = pi > 3.14159265358979 ? pi - 3.14159265358979 : 3.14159265358979 - pi;
  if (wrong > 1.0 / (double)steps) {
    fprintf(stderr, "failed: rank %u has pi as %.15f\n", aq_rank(ep), pi);
    exit(1);
  }
  need(aq_segment_release(segment), "release the segment");
  aq_segment_destroy(segment);
  if (aq_rank(ep) == 0)
    printf("pi is %.14f on %u ranks, by %llu steps\n", pi, aq_ranks(ep), (unsigned long long)steps);
}

int main(int count, char** arguments) {
  char* end = NULL;
  errno = 0;
  const uint64_t steps = count > 1 ? strtoull(arguments[1], &end, 10) : 10000000;
  const int is_number =
      count == 1 || (*end == '\0' && errno == 0 && arguments[1][0] >= '0' && arguments[1][0] <= '9');
  if (count > 2 || !is_number || steps == 0) {
    fprintf(stderr, "pi_c [STEPS]: computes pi by that many steps (10000000)\n");
    return 1;
  }
  aq_job* job = NULL;
  need(aq_job_start(NULL, &job), "start the job");
  need(aq_job_run_each(job, run, (void*)&steps), "start a thread");
  need(aq_job_finish(job), "finish the job");
  return 0;
}
