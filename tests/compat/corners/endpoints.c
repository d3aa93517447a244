#include "tests/compat/corners/corners.h"

// Messages between all pairs of endpoints: each has handlers of its own, and gets the replies to what it has sent.

enum { kFurther = 2, kPlaces = kFurther + 1, kToEndpoint = 220, kBack = 221, kBytes = 300, kSharedBytes = 65536 };

static gex_EP_t all[kPlaces];
static gasnett_atomic_t requests[kPlaces], replies;

static int number_of(gex_EP_t ep) {
  for (int i = 0; i < kPlaces; ++i)
    if (all[i] == ep) return i;
  return -1;
}
static void to_endpoint(gex_Token_t token, void* payload, size_t bytes, gex_AM_Arg_t from) {
  gex_Token_Info_t info;
  HOLDS((gex_Token_Info(token, &info, GEX_TI_EP | GEX_TI_ENTRY) & GEX_TI_EP) != 0);
  const int here = number_of(info.gex_ep);
  HOLDS(here >= 0 && info.gex_entry->gex_cdata == &requests[here]);
  gasnett_atomic_increment(&requests[here], 0);
  gex_AM_ReplyMedium1(token, kBack, payload, bytes, GEX_EVENT_NOW, 0, from);
}
static void back(gex_Token_t token, void* payload, size_t bytes, gex_AM_Arg_t from) {
  gex_Token_Info_t info;
  (void)payload, (void)bytes;
  gex_Token_Info(token, &info, GEX_TI_EP | GEX_TI_IS_REQ);
  HOLDS(info.gex_ep == all[from] && !info.gex_is_req);
  gasnett_atomic_increment(&replies, 0);
}

static void create_endpoints(void) {
  all[0] = endpoint;
  for (int i = 0; i < kPlaces; ++i) {
    gex_Segment_t segment;
    if (i != 0) {
      OK(gex_EP_Create(&all[i], client, GEX_EP_CAPABILITY_RMA | GEX_EP_CAPABILITY_AM, 0));
      OK(gex_Segment_Create(&segment, client, NULL, kSharedBytes, GEX_MK_HOST, 0));
      OK(gex_EP_BindSegment(all[i], segment, 0));
    }
    gex_AM_Entry_t table[] = {
        {kToEndpoint, (gex_AM_Fn_t)to_endpoint, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, 1, &requests[i], "to"},
        {kBack, (gex_AM_Fn_t)back, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_MEDIUM, 1, NULL, "back"},
    };
    OK(gex_EP_RegisterHandlers(all[i], table, 2));
  }
  OK(gex_EP_PublishBoundSegment(world, all + 1, kFurther, 0));
  barrier(world);
}

void endpoints(void) {
  char bytes[kBytes];
  memset(bytes, (char)me, sizeof bytes);
  create_endpoints();
  for (int from = 0; from < kPlaces; ++from) {
    for (int i = 0; i < kPlaces; ++i) {
      const gex_TM_t pair = gex_TM_Pair(all[from], gex_EP_QueryIndex(all[i]));
      for (gex_Rank_t to = 0; to < ranks; ++to) {
        gex_AM_RequestMedium1(pair, to, kToEndpoint, bytes, kBytes, GEX_EVENT_NOW, 0, from);
        char* const at = segment_of(pair, to) + 1024 + kBytes * (size_t)me;
        gex_AM_RequestLong1(pair, to, kToEndpoint, bytes, kBytes, at, GEX_EVENT_NOW, 0, from);
        gex_AM_SrcDesc_t room = gex_AM_PrepareRequestMedium(pair, to, NULL, 8, 64, NULL, 0, 1);
        memset(gex_AM_SrcDescAddr(room), 1, 8);
        gex_AM_CommitRequestMedium1(room, kToEndpoint, 8, from);
      }
    }
  }
  GASNET_BLOCKUNTIL(gasnett_atomic_read(&replies, 0) == 3u * kPlaces * kPlaces * ranks);
  barrier(world);
  for (int i = 0; i < kPlaces; ++i) {
    HOLDS(gasnett_atomic_read(&requests[i], 0) == 3u * kPlaces * ranks);
    const char* const got = segment_of(gex_TM_Pair(endpoint, gex_EP_QueryIndex(all[i])), me) + 1024;
    for (gex_Rank_t r = 0; r < ranks; ++r) HOLDS(got[kBytes * r] == (char)r && got[kBytes * r + kBytes - 1] == (char)r);
  }
  barrier(world);
}
