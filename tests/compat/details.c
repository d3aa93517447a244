// A client of GASNet-EX in C: parts of the layer that the other two do not reach.

#include <gasnet.h>
#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <aqueduct/c/atomic_domain.h>
#include <gasnetex.h>

#include "tests/compat/check.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static gex_Client_t client;
static gex_EP_t endpoint;
static gex_TM_t world;
static gex_Segment_t segment;
static gex_Rank_t me;

static void barrier(void) { gex_Event_Wait(gex_Coll_BarrierNB(world, 0)); }

static char* segment_of(gex_TM_t tm, gex_Rank_t rank) {
  void* address = NULL;
  uintptr_t size = 0;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, rank, &address, NULL, &size, 0));
  HOLDS(size == 65536);
  return address;
}

// A second endpoint with the segment of gex_Segment_Attach, published in a team.
static void attached_twice(gex_TM_t team) {
  gex_EP_t second;
  OK(gex_EP_Create(&second, client, GEX_EP_CAPABILITY_RMA, 0));
  OK(gex_EP_BindSegment(second, segment, 0));
  gex_EP_t both[2] = {endpoint, second};
  OK(gex_EP_PublishBoundSegment(team, both, 2, 0));
  const gex_TM_t pair = gex_TM_Pair(endpoint, gex_EP_QueryIndex(second));
  const gex_Rank_t members = gex_TM_QuerySize(team);
  const gex_Rank_t other = gex_TM_TranslateRankToJobrank(team, (gex_TM_QueryRank(team) + 1) % members);
  char* const at = segment_of(pair, other);
  HOLDS(at == segment_of(world, other));
  gex_Rank_t got = GEX_RANK_INVALID;
  const gex_Rank_t sent = me + 77;
  OK(gex_RMA_PutBlocking(pair, other, at + 2048, &sent, sizeof sent, 0));
  OK(gex_RMA_GetBlocking(world, &got, other, at + 2048, sizeof got, 0));
  HOLDS(got == sent);
  barrier();
}

// Without a flag, a domain of ranks that share memory has the processor do its atomics.
static void favours(gex_TM_t team) {
  gex_Rank_t nearby = 0;
  gex_System_QueryNbrhdInfo(NULL, &nearby, NULL);
  const gex_Flags_t near_flags[3] = {0, GEX_FLAG_AD_FAVOR_MY_RANK, GEX_FLAG_AD_FAVOR_MY_NBRHD};
  for (int i = nearby == gex_System_QueryJobSize() ? 0 : 1; i < 3; ++i) {
    gex_AD_t domain;
    gex_AD_Create(&domain, team, GEX_DT_U64, GEX_OP_FADD, near_flags[i]);
    HOLDS(!aq_domain_is_native((const aq_domain*)domain));  // its first member
    gex_AD_Destroy(domain);
  }
}

// What follows a number and its unit is ignored, and what has more than 64 bits wraps around.
static void numbers(void) {
  const struct {
    const char* text;
    uint64_t multiplier;
    int64_t value;
  } cases[] = {
      {NULL, 0, 0},          {"", 0, 0},
      {"17", 0, 17},         {"  -17 ", 0, -17},
      {"+ 8", 0, 8},         {"0x1F", 0, 31},
      {"1e3", 0, 1},         {"1.5e3", 0, 1},
      {"0xffffffffffffffff", 0, -1},
      {"0x8000000000000001", 0, INT64_MIN + 1},
      {"18446744073709551615", 0, -1},
      {"-9223372036854775808", 0, INT64_MIN},
      {"3", 1024, 3072},     {"3x", 1024, 3072},
      {"2KB", 1, 2048},      {"1.5 m", 1, 3 << 19},
      {"-0.5k", 1, -512},    {"0.25", 4096, 1024},
      {"7B", 1024, 7},       {"1T", 1, INT64_C(1) << 40},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const int64_t value = gasnett_parse_int(cases[i].text, cases[i].multiplier);
    if (value != cases[i].value) fprintf(stderr, "'%s' is %lld\n", cases[i].text, (long long)value);
    HOLDS(value == cases[i].value);
  }
}

static void texts(void) {
  HOLDS(strcmp(gasnett_signame_fromval(SIGSEGV), "SIGSEGV") == 0 && gasnett_signame_fromval(9999) == NULL);
  HOLDS(strlen(GASNETT_CONFIGURE_ARGS) < 1000);
  const ptrdiff_t strides[3] = {-8, 0, INT64_C(123456789012)};
  char* text = malloc(gasnett_format_strides_bufsz(3));
  gasnett_format_strides(text, 3, strides);
  HOLDS(strcmp(text, "[-8, 0, 123456789012]") == 0);
  free(text);
  const gex_Memvec_t there[2] = {{&world, 8}, {NULL, 4}}, here[1] = {{&me, 12}};
  text = malloc(gasnett_format_putvgetv_bufsz(2, 1));
  HOLDS(gasnett_format_putvgetv(text, world, 0, 2, there, 1, here) == 12);
  HOLDS(strstr(text, "2 pieces") != NULL && strstr(text, "1 pieces") != NULL);
  HOLDS(strlen(text) < gasnett_format_putvgetv_bufsz(2, 1));
  free(text);
  void* const places[2] = {&me, &world};
  text = malloc(gasnett_format_putigeti_bufsz(2, 2));
  HOLDS(gasnett_format_putigeti(text, world, 0, 2, places, 6, 2, places, 6) == 12);
  HOLDS(strlen(text) < gasnett_format_putigeti_bufsz(2, 2));
  free(text);
}

// The forms of GASNet-1's calls for several handles, and those that do not poll.
static void handles(void) {
  char* const at = segment_of(world, me) + 4096;
  char byte = 5;
  gasnet_handle_t some[2] = {GASNET_INVALID_HANDLE, GASNET_INVALID_HANDLE};
  some[0] = gasnet_put_nb(me, at, &byte, 1);
  while (gasnet_try_syncnb_some_nopoll(some, 2) != GASNET_OK) gasnet_AMPoll();
  while (gasnet_try_syncnb_all_nopoll(some, 2) != GASNET_OK) gasnet_AMPoll();
  HOLDS(gasnet_try_syncnb_nopoll(some[0]) == GASNET_OK && *at == 5);

  int in = (int)me, first = -1, all[256];
  const int flags = GASNET_COLL_IN_ALLSYNC | GASNET_COLL_OUT_ALLSYNC | GASNET_COLL_NO_IMAGES;
  gasnet_coll_handle_t flights[2];
  flights[0] = gasnet_coll_broadcast_nb(GASNET_TEAM_ALL, &first, 0, &in, sizeof in, flags);
  flights[1] = gasnet_coll_gather_all_nb(GASNET_TEAM_ALL, all, &in, sizeof in, flags);
  gasnet_coll_wait_sync_some(flights, 2);
  while (gasnet_coll_try_sync_some(flights, 2) != GASNET_OK) gasnet_AMPoll();
  while (gasnet_coll_try_sync_all(flights, 2) != GASNET_OK) gasnet_AMPoll();
  gasnet_coll_wait_sync_all(flights, 2);
  HOLDS(first == 0 && all[me] == in);
  HOLDS(GASNET_COLL_AMSAFE == 1);
  OK(gasnet_coll_barrier(GASNET_TEAM_ALL, 31, 0));
  int name = 0;
  HOLDS(gasnet_coll_barrier_result(GASNET_TEAM_ALL, &name) == 0 && name == 31);
}

// GASNet-1's sync of all implicit operations also waits for those that gex_… calls have begun.
static void implicit_atomics(void) {
  const gex_Rank_t next = (me + 1) % gex_TM_QuerySize(world);
  uint64_t* const word = (uint64_t*)(segment_of(world, next) + 8192);
  *(uint64_t*)(segment_of(world, me) + 8192) = 0;
  barrier();
  gex_AD_t domain;
  gex_AD_Create(&domain, world, GEX_DT_U64, GEX_OP_FADD, 0);
  for (uint64_t i = 0; i < 20; ++i) {
    uint64_t old = UINT64_MAX;
    OK(gex_AD_OpNBI_U64(domain, &old, next, word, GEX_OP_FADD, 1, 0, 0));
    if (i % 2 == 0) gasnet_wait_syncnbi_all();
    while (i % 2 != 0 && gasnet_try_syncnbi_all() != GASNET_OK) {
    }
    HOLDS(old == i);
  }
  barrier();
  gex_AD_Destroy(domain);
}

uint64_t gasnet_max_segsize = 16 << 20;  // in place of the layer's own

static void limits(void) {
  HOLDS(gasnet_getMaxLocalSegmentSize() <= gasnet_max_segsize);
#if defined(GASNET_SEQ)
  HOLDS(gex_System_QueryMaxThreads() == 1);
#else
  const char* const wanted = gasnet_getenv("GASNET_MAX_THREADS");
  const int most = wanted != NULL ? atoi(wanted) : GASNETT_MAX_THREADS;
  HOLDS(gex_System_QueryMaxThreads() == (uint64_t)(most < GASNETT_MAX_THREADS ? most : GASNETT_MAX_THREADS));
#endif
}

// GASNET_SUPERNODE_MAXSIZE cuts neighbourhoods into parts, whose ranks alone have addresses here.
static void neighbourhoods(void) {
  const char* const wanted = gasnet_getenv("GASNET_SUPERNODE_MAXSIZE");
  const gex_Rank_t ranks = gex_TM_QuerySize(world), most = wanted != NULL ? (gex_Rank_t)atoi(wanted) : ranks;
  gex_RankInfo_t* near_me = NULL;
  gex_Rank_t count = 0, mine = 0, sets = 0, set = 0, inside = 0;
  gex_System_QueryNbrhdInfo(&near_me, &count, &mine);
  gex_System_QueryMyPosition(&sets, &set, NULL, NULL);
  HOLDS(count >= 1 && count <= most && near_me[mine].gex_jobrank == me && sets * most >= ranks && set < sets);
  gasnet_nodeinfo_t nodes[256];
  OK(gasnet_getNodeInfo(nodes, 256));
  for (gex_Rank_t rank = 0; rank < ranks; ++rank) {
    gex_Rank_t at = 0;
    while (at < count && near_me[at].gex_jobrank != rank) ++at;
    void* here = NULL;
    HOLDS(gex_Segment_QueryBound(world, rank, NULL, &here, NULL) == 0);
    HOLDS((at < count) == (here != NULL) && (at < count) == (nodes[rank].supernode == nodes[me].supernode));
    inside += at < count;
  }
  HOLDS(inside == count);
}

int main(int argc, char** argv) {
  // As inline functions of other headers ask.
  HOLDS(aqg_of_layout(AQG_LAYOUT + 1, AQ_LAYOUT) == GASNET_ERR_RESOURCE);
  HOLDS(aqg_of_layout(AQG_LAYOUT, AQ_LAYOUT + 1) == GASNET_ERR_RESOURCE);
  OK(gex_Client_Init(&client, &endpoint, &world, "DETAILS", &argc, &argv, 0));
  OK(gex_Segment_Attach(&segment, world, 65536));
  me = gex_TM_QueryRank(world);
  gex_TM_t halves = GEX_TM_INVALID;
  gex_TM_Split(&halves, world, (int)(me % 2), (int)me, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  attached_twice(halves);
  attached_twice(world);
  favours(halves);
  favours(world);
  HOLDS(gex_TM_Destroy(halves, NULL, 0) == 0);
  numbers();
  texts();
  handles();
  implicit_atomics();
  limits();
  neighbourhoods();
  if (me == 0) puts("all right");
  return 0;
}
