// A client of GASNet-EX whose two ranks are bound to one processor, however many the host has: a loop of polls in vain gives the
// processor away.

#include <gasnetex.h>

#include "tests/compat/check.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long yields = 0;
// In place of the system's library's: a wait of Aqueduct's calls it.
int sched_yield(void) {
  ++yields;
  return (int)syscall(SYS_sched_yield);
}
static long times_given_away(void) {
  struct rusage used;
  HOLDS(getrusage(RUSAGE_THREAD, &used) == 0);
  return yields + used.ru_nvcsw;  // by a sleep
}

static void bind_to_first_processor(void) {
  cpu_set_t may, one;
  int first = 0;
  HOLDS(sched_getaffinity(0, sizeof may, &may) == 0);
  while (!CPU_ISSET(first, &may)) ++first;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  HOLDS(sched_setaffinity(0, sizeof one, &one) == 0);
}

int main(int argc, char** argv) {
  enum { kPolls = 64, kSeconds = 20 };
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t world;
  bind_to_first_processor();
  OK(gex_Client_Init(&client, &endpoint, &world, "POLLS", &argc, &argv, 0));
  gex_Event_Wait(gex_Coll_BarrierNB(world, 0));
  // 64 polls in vain must take less than 100 us: they do at some time, also beside other programs.
  const long before = times_given_away();
  const time_t until = time(NULL) + kSeconds;
  while (times_given_away() == before && time(NULL) < until) {
    for (int i = 0; i < kPolls; ++i) gasnet_AMPoll();
  }
  HOLDS(times_given_away() > before);
  gex_Event_Wait(gex_Coll_BarrierNB(world, 0));
  if (gex_System_QueryJobRank() == 0) puts("all right");
  return 0;
}
