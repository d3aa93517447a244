// A client that works until SIGUSR2 comes, for signals.sh. It says "ready" when signals may come.

#include <gasnetex.h>

#include "tests/compat/check.h"

#include <signal.h>

static volatile sig_atomic_t over = 0;
static void end(int number) {
  (void)number;
  over = 1;
}

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t world;
  HOLDS(signal(SIGUSR2, end) != SIG_ERR);
  OK(gex_Client_Init(&client, &endpoint, &world, "SIGNALS", &argc, &argv, 0));
  gex_Event_Wait(gex_Coll_BarrierNB(world, 0));
  if (gex_System_QueryJobRank() == 0) {
    fprintf(stderr, "ready\n");
  }
  while (!over) gasnet_AMPoll();
  if (argc > 1) raise(SIGSEGV);
  gex_Event_Wait(gex_Coll_BarrierNB(world, 0));
  if (gex_System_QueryJobRank() == 0) puts("all right");
  return 0;
}
