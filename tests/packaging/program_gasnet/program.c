/* A client of GASNet-EX that calls nothing of libaqueduct itself. */
#include <gasnetex.h>
#include <stdio.h>

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t world;
  if (gex_Client_Init(&client, &endpoint, &world, "PROGRAM", &argc, &argv, 0) != GASNET_OK) return 1;
  if (gex_TM_QueryRank(world) == 0)
    printf("%u ranks, %s\n", (unsigned)gex_TM_QuerySize(world), PLATFORM_COMPILER_IDSTR);
  return 0;
}
