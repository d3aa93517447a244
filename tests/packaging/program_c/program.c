// A user's program in C: a job of one rank that writes to itself and checks what arrived.
#include <aqueduct/aqueduct.h>

#include <stdio.h>

static int failed(aq_status status) {
  char text[256];
  (void)aq_status_text(status, text, sizeof text);
  if (!aq_ok(status)) fprintf(stderr, "%s\n", text);
  return !aq_ok(status);
}

int main(void) {
  aq_job* job = NULL;
  if (failed(aq_job_start(NULL, &job))) return 1;
  aq_endpoint* const me = aq_job_endpoint(job, 0);
  const aq_ptr place = aq_at(aq_rank(me), 0, 0);
  uint64_t read = 0;
  if (failed(aq_put_u64(me, place, 42)) || failed(aq_get_u64(me, place, &read))) return 1;
  if (read != 42) {
    fprintf(stderr, "the value put is not the value got\n");
    return 1;
  }
  if (failed(aq_job_finish(job))) return 1;
  printf("aqueduct %s in C: one rank, one value, as it should be\n", aq_library_version_text());
  return aq_library_version() != AQ_VERSION;
}
