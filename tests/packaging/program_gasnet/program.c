/* A client of GASNet-EX that calls nothing of libaqueduct itself, and includes nothing but GASNet's header, as Realm does. */
#include <gasnetex.h>

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t world;
  if (gex_Client_Init(&client, &endpoint, &world, "PROGRAM", &argc, &argv, 0) != GASNET_OK) return 1;
  if (getpid() <= 0) abort();
  if (gex_TM_QueryRank(world) == 0) printf("%u ranks, %s\n", (unsigned)gex_TM_QuerySize(world), PLATFORM_COMPILER_IDSTR);
  return 0;
}
