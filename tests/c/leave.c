// Rank 1 leaves the job with the code of the first argument, while the others wait in a barrier for ever.
#include "tests/c/check.h"

int main(int count, char** arguments) {
  HOLDS(count == 2);
  aq_job* job = NULL;
  OK(aq_job_start(NULL, &job));
  aq_endpoint* const ep = aq_job_endpoint(job, 0);
  HOLDS(aq_ranks(ep) >= 2);
  OK(aq_barrier(ep));
  if (aq_rank(ep) == 1) aq_job_leave(job, atoi(arguments[1]));
  const aq_status status = aq_barrier(ep);
  fprintf(stderr, "the barrier returned code %d\n", status.code);
  return 1;
}
