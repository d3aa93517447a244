#include "tests/compat/corners/corners.h"

#if defined(GASNET_HAVE_MK_CLASS_CUDA_UVA) || defined(GASNET_HAVE_MK_CLASS_HIP) || defined(GASNET_HAVE_MK_CLASS_ZE) || \
    defined(GASNET_HAVE_MK_CLASS_MULTIPLE)
#error "only host memory is there"
#endif

// Kinds of devices are answered as the specification has it for those that are not supported; nothing is stored then.
static void device_kinds(void) {
  const gex_MK_Class_t classes[4] = {GEX_MK_CLASS_CUDA_UVA, GEX_MK_CLASS_HIP, GEX_MK_CLASS_ZE, GEX_MK_CLASS_HOST};
  gex_MK_Create_args_t args;
  HOLDS((char*)&args.gex_flags == (char*)&args && sizeof args.gex_flags == 8 && GEX_MK_HOST != GEX_MK_INVALID);
  for (int i = 0; i < 4; ++i) {
    gex_MK_t kind = GEX_MK_INVALID;
    memset(&args, 0, sizeof args);
    args.gex_class = classes[i];
    HOLDS(gex_MK_Create(&kind, client, &args, 0) == GASNET_ERR_BAD_ARG && kind == GEX_MK_INVALID);
  }
}

// What is refused leaves the place of the result alone.
static void refused(void) {
  gex_Segment_t none = GEX_SEGMENT_INVALID;
  gex_EP_t nobody = GEX_EP_INVALID;
  const uintptr_t most = gasnet_getMaxLocalSegmentSize();
  HOLDS(gex_Segment_Create(&none, client, NULL, most + 1, GEX_MK_HOST, 0) == GASNET_ERR_BAD_ARG);
  HOLDS(gex_Segment_Create(&none, client, NULL, 0, GEX_MK_HOST, 0) == GASNET_ERR_BAD_ARG);
  HOLDS(gex_Segment_Create(&none, client, mine, 0, GEX_MK_HOST, 0) == GASNET_ERR_BAD_ARG);
  HOLDS(gex_Segment_Create(&none, client, NULL, 4096, GEX_MK_INVALID, 0) == GASNET_ERR_BAD_ARG);
  HOLDS(gex_EP_Create(&nobody, client, GEX_EP_CAPABILITY_RMA | GEX_EP_CAPABILITY_COLL, 0) == GASNET_ERR_BAD_ARG);
  HOLDS(gex_EP_Create(&nobody, client, GEX_EP_CAPABILITY_AD, 0) == GASNET_ERR_BAD_ARG);
  HOLDS(gex_EP_Create(&nobody, client, GEX_EP_CAPABILITY_ALL << 1, 0) == GASNET_ERR_BAD_ARG);
  HOLDS(none == GEX_SEGMENT_INVALID && nobody == GEX_EP_INVALID);
}

// One segment of two endpoints, which are published together, apart, and again.
static void shared_segment(void) {
  static char own[4096];
  gex_EP_t both[2];
  gex_Segment_t segment;
  OK(gex_Segment_Create(&segment, client, own + 1, sizeof own - 1, GEX_MK_HOST, 0));
  for (int i = 0; i < 2; ++i) {
    OK(gex_EP_Create(&both[i], client, GEX_EP_CAPABILITY_RMA, i == 0 ? GEX_FLAG_HINT_ACCEL_ALL : 0));
    HOLDS(gex_EP_QueryFlags(both[i]) == (i == 0 ? (gex_Flags_t)GEX_FLAG_HINT_ACCEL_ALL : 0));
    OK(gex_EP_BindSegment(both[i], segment, 0));
    HOLDS(gex_EP_QuerySegment(both[i]) == segment);
  }
  OK(gex_EP_PublishBoundSegment(world, both, 2, 0));
  OK(gex_EP_PublishBoundSegment(world, both + 1, 1, 0));
  const gex_Rank_t to = (me + 1) % ranks;
  for (int i = 0; i < 2; ++i) {
    const gex_TM_t pair = gex_TM_Pair(both[1 - i], gex_EP_QueryIndex(both[i]));
    HOLDS(gex_TM_TranslateRankToEP(pair, to, 0).gex_ep_index == gex_EP_QueryIndex(both[i]));
    char* const at = segment_of(pair, to);
    HOLDS(ranks > 1 || at == own + 1);
    const char byte = (char)(me + 10 + (gex_Rank_t)i);
    char back = 0;
    OK(gex_RMA_PutBlocking(pair, to, at + sizeof own - 2 - i, &byte, 1, 0));
    OK(gex_RMA_GetBlocking(pair, &back, to, at + sizeof own - 2 - i, 1, 0));
    HOLDS(back == byte);
  }
  barrier(world);
  HOLDS(own[sizeof own - 1] == (char)((me + ranks - 1) % ranks + 10) && own[sizeof own - 2] == (char)((me + ranks - 1) % ranks + 11));
}

void kinds(void) {
  gex_System_SetVerboseErrors(0);
  device_kinds();
  refused();
  gex_System_SetVerboseErrors(1);
  shared_segment();
}
