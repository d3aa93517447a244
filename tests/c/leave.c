// Rank 1 leaves the job with the code of the first argument, while the others wait in a barrier for ever. With a second
// argument it is a signal handler that asks for it.
#include "tests/c/check.h"

#include <signal.h>

static aq_job* the_job;
static int the_code;

static void on_signal(int number) {
  (void)number;
  aq_job_request_leave(the_job, the_code);
}

int main(int count, char** arguments) {
  HOLDS(count == 2 || count == 3);
  aq_job* job = NULL;
  OK(aq_job_start(NULL, &job));
  aq_endpoint* const ep = aq_job_endpoint(job, 0);
  HOLDS(aq_ranks(ep) >= 2);
  OK(aq_barrier(ep));
  the_job = job;
  the_code = atoi(arguments[1]);
  if (aq_rank(ep) == 1 && count == 2) aq_job_leave(job, the_code);
  if (aq_rank(ep) == 1) {
    HOLDS(signal(SIGUSR1, on_signal) != SIG_ERR);
    HOLDS(raise(SIGUSR1) == 0);
    while (1) (void)aq_ok(aq_progress_for(ep, SECOND));  // leaves at its next check
  }
  const aq_status status = aq_barrier(ep);
  fprintf(stderr, "the barrier returned code %d\n", status.code);
  return 1;
}
