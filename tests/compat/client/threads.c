#include "tests/compat/client/client.h"

#include <pthread.h>

// Threads that end with puts in flight, whose destructors wait for them: with implicit completion, in an access region that
// the destructor ends, and in one that nobody ends.
enum Ending { kImplicit = 1, kRegion, kLeftOpen };
struct End {
  enum Ending how;
  gex_Rank_t* source;
};
static pthread_key_t at_end;
static void wait_at_end(void* given) {
  struct End* const end = given;
  if (end->how == kRegion) gex_Event_Wait(gex_NBI_EndAccessRegion(0));
  if (end->how == kImplicit) gex_NBI_Wait(GEX_EC_ALL, 0);
  if (end->how != kLeftOpen) {
    gex_Rank_t got = GEX_RANK_INVALID;
    OK(gex_RMA_GetBlocking(world, &got, next, theirs, sizeof got, 0));
    HOLDS(got == me);
    free(end->source);
  }
}
static void* begin_and_end(void* given) {
  struct End* const end = given;
  pthread_setspecific(at_end, end);
  end->source = malloc(sizeof me);
  *end->source = me;
  if (end->how != kImplicit) gex_NBI_BeginAccessRegion(0);
  OK(gex_RMA_PutNBI(world, next, theirs, end->source, sizeof me, GEX_EVENT_DEFER, 0));
  return NULL;
}
void threads(void) {
#if GASNET_PAR
  pthread_t one;
  gex_NBI_Wait(GEX_EC_ALL, 0);  // the layer's key comes first
  HOLDS(pthread_key_create(&at_end, wait_at_end) == 0);
  for (int i = 0; i < 9; ++i) {
    struct End end = {(enum Ending)(i % 3 + 1), NULL};
    HOLDS(pthread_create(&one, NULL, begin_and_end, &end) == 0);
    pthread_join(one, NULL);
    if (end.how == kLeftOpen) {  // its puts are waited for by the next region
      gex_NBI_BeginAccessRegion(0);
      gex_Event_Wait(gex_NBI_EndAccessRegion(0));
      free(end.source);
    }
  }
  gex_HSL_t lock = GEX_HSL_INITIALIZER, other = GEX_HSL_INITIALIZER;
  for (int i = 0; i < 3; ++i) {
    gex_HSL_Lock(&lock);
    gex_HSL_Lock(&other);
    gex_HSL_Unlock(&lock);
    gex_HSL_Lock(&lock);
    gex_HSL_Unlock(&other);
    gex_HSL_Unlock(&lock);
  }
#else
  (void)begin_and_end;
  (void)wait_at_end;
  (void)at_end;
#endif
}
