// A client of GASNet-1 in C++, with several threads where the library has them. With an argument, it makes a call too early.

#include "tests/compat/check.h"

#include <gasnet.h>
#include <gasnet_coll.h>
#include <gasnet_vis.h>

#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

namespace {

gasnett_atomic_t replies = gasnett_atomic_init(0);
gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;
unsigned handled = 0;

void request(gasnet_token_t token, void* payload, std::size_t bytes, gasnet_handlerarg_t sum) {
  gasnet_node_t from = 0;
  OK(gasnet_AMGetMsgSource(token, &from));
  gasnet_hsl_lock(&lock);
  ++handled;
  gasnet_hsl_unlock(&lock);
  HOLDS(bytes == 4 && sum == static_cast<unsigned char*>(payload)[0] + 1);
  OK(gasnet_AMReplyShort1(token, 131, static_cast<gasnet_handlerarg_t>(from)));
}
void reply(gasnet_token_t, gasnet_handlerarg_t who) {
  HOLDS(who == static_cast<gasnet_handlerarg_t>(gasnet_mynode()));
  gasnett_atomic_increment(&replies, 0);
}

constexpr int kThreads = GASNETT_MAX_THREADS > 1 ? 3 : 1;
constexpr int kRounds = 50;

void work(int thread, gasnet_node_t next, char* theirs) {
  for (int i = 0; i < kRounds; ++i) {
    unsigned char payload[4] = {static_cast<unsigned char>(i), 0, 0, 0};
    OK(gasnet_AMRequestMedium1(next, 130, payload, sizeof payload, i + 1));
    const int value = i + 1000 * thread;
    int back = -1;
    char* const at = theirs + 256 * (thread + 1);
    gasnet_put_nbi(next, at, const_cast<int*>(&value), sizeof value);
    gasnet_wait_syncnbi_puts();
    gasnet_get(&back, next, at, sizeof back);
    HOLDS(back == value);
    gasnet_wait_syncnb(gasnet_put_nb_val(next, at, 17, 4));
    HOLDS(gasnet_get_val(next, at, 4) == 17);
    HOLDS(gasnet_wait_syncnb_valget(gasnet_get_nb_val(next, at, 4)) == 17);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return static_cast<int>(gasnet_getMaxLocalSegmentSize());
  gex_System_SetVerboseErrors(0);  // holds also before the start
  if (gasnet_attach(nullptr, 0, 65536, 0) != GASNET_ERR_NOT_INIT || gex_System_GetVerboseErrors() != 0) return 1;
  OK(gasnet_init(&argc, &argv));
  HOLDS(gasnet_attach(nullptr, 0, UINTPTR_MAX, 0) == GASNET_ERR_BAD_ARG);
  HOLDS(gasnet_attach(nullptr, 0, gasnet_getMaxLocalSegmentSize() + 1, 0) == GASNET_ERR_BAD_ARG);
  gasnet_handlerentry_t table[] = {{130, reinterpret_cast<void (*)()>(request)},
                                   {131, reinterpret_cast<void (*)()>(reply)}};
  // A refused call has registered no handler.
  HOLDS(gasnet_attach(table, 2, gasnet_getMaxLocalSegmentSize() + GASNET_PAGESIZE, 0) == GASNET_ERR_BAD_ARG);
  HOLDS(gasnet_attach(table, 2, 65536 + 1, 0) == GASNET_ERR_BAD_ARG);
  gex_System_SetVerboseErrors(1);
  OK(gasnet_attach(table, 2, 65536, 0));
  const gasnet_node_t me = gasnet_mynode(), nodes = gasnet_nodes(), next = (me + 1) % nodes;
  std::vector<gasnet_seginfo_t> segments(nodes);
  OK(gasnet_getSegmentInfo(segments.data(), static_cast<int>(nodes)));
  HOLDS(segments[next].size == 65536);
  auto* const theirs = static_cast<char*>(segments[next].addr);
  OK(gasnet_barrier(0, GASNET_BARRIERFLAG_UNNAMED));

  std::vector<std::thread> threads;
  for (int i = 1; i < kThreads; ++i) threads.emplace_back(work, i, next, theirs);
  work(0, next, theirs);
  for (std::thread& one : threads) one.join();
  GASNET_BLOCKUNTIL(gasnett_atomic_read(&replies, 0) == kThreads * kRounds);

  gasnet_memset(next, theirs + 8192, 0x33, 5000);
  std::vector<char> got(5000);
  gasnet_get_bulk(got.data(), next, theirs + 8192, got.size());
  HOLDS(got == std::vector<char>(5000, 0x33));
  gasnet_begin_nbi_accessregion();
  gasnet_memset_nbi(next, theirs + 24576, 0x44, 5000);
  gasnet_memset_nbi(next, theirs + 30000, 0x55, 5000);
  gasnet_wait_syncnb(gasnet_end_nbi_accessregion());
  for (int part = 0; part < 2; ++part) {
    gasnet_get_bulk(got.data(), next, theirs + (part == 0 ? 24576 : 30000), got.size());
    HOLDS(got == std::vector<char>(5000, part == 0 ? 0x44 : 0x55));
  }
  gasnet_memvec_t there{theirs + 16384, 8}, here{got.data(), 8};
  gasnet_putv_bulk(next, 1, &there, 1, &here);
  OK(gasnet_barrier(5, 0));
  HOLDS(std::memcmp(static_cast<char*>(segments[me].addr) + 16384, got.data(), 8) == 0);
  std::vector<gasnet_node_t> all(nodes);
  gasnet_node_t mine = me;
  gasnet_coll_gather_all(GASNET_TEAM_ALL, all.data(), &mine, sizeof mine,
                         GASNET_COLL_IN_ALLSYNC | GASNET_COLL_OUT_ALLSYNC);
  for (gasnet_node_t i = 0; i < nodes; ++i) HOLDS(all[i] == i);
  OK(gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS));
  HOLDS(handled == kThreads * kRounds);
  if (me == 0) std::puts("all right");
  gasnet_exit(0);
}
