// A client of GASNet-1 in C++, with several threads where the library has them. With an argument, it makes a call too early.

#include "tests/compat/check.h"

#include <gasnet.h>
#include <gasnet_coll.h>
#include <gasnet_vis.h>

#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>
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

// Messages that say how many arguments they have.
int counted_sum = 0;
void counted(gasnet_token_t token, gasnet_handlerarg_t a, gasnet_handlerarg_t b) {
  counted_sum = a * 10 + b;
  OK(gasnet_AMReplyMedium(token, 133, &counted_sum, sizeof counted_sum, 1, b));
}
gasnett_atomic_t counted_answers = gasnett_atomic_init(0);
void counted_answer(gasnet_token_t, void* payload, std::size_t bytes, gasnet_handlerarg_t b) {
  int sum = 0;
  HOLDS(bytes == sizeof sum);
  std::memcpy(&sum, payload, sizeof sum);
  HOLDS(sum == 75 && b == 5);
  gasnett_atomic_increment(&counted_answers, 0);
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

// Threads that register handlers at an endpoint at once, and create endpoints, get different ones.
void register_at_once() {
  gex_Client_t client;
  gasnet_QueryGexObjects(&client, nullptr, nullptr, nullptr);
  constexpr int kEach = 40;
  for (int round = 0; round < 8; ++round) {
    gex_EP_t shared;
    OK(gex_EP_Create(&shared, client, GEX_EP_CAPABILITY_AM, 0));
    gex_EP_t own[3] = {};
    gex_AM_Entry_t entries[3][kEach] = {};
    gasnett_atomic_t ready = gasnett_atomic_init(0);
    const auto work = [&](int thread) {
      gasnett_atomic_increment(&ready, 0);
      while (gasnett_atomic_read(&ready, GASNETT_ATOMIC_ACQ) < kThreads) gasnett_spinloop_hint();
      for (gex_AM_Entry_t& entry : entries[thread]) {
        entry.gex_fnptr = reinterpret_cast<gex_AM_Fn_t>(counted);
        entry.gex_flags = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST;
        OK(gex_EP_RegisterHandlers(shared, &entry, 1));
      }
      OK(gex_EP_Create(&own[thread], client, GEX_EP_CAPABILITY_RMA, 0));
    };
    std::vector<std::thread> threads;
    for (int i = 1; i < kThreads; ++i) threads.emplace_back(work, i);
    work(0);
    for (std::thread& one : threads) one.join();
    bool taken[256] = {};
    for (int i = 0; i < kThreads; ++i) {
      for (const gex_AM_Entry_t& entry : entries[i]) HOLDS(!std::exchange(taken[entry.gex_index], true));
      for (int j = 0; j < i; ++j) HOLDS(own[i] != own[j]);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return static_cast<int>(gasnet_getMaxLocalSegmentSize());
  gex_System_SetVerboseErrors(0);  // holds also before the start
  if (gasnet_attach(nullptr, 0, 65536, 0) != GASNET_ERR_NOT_INIT || gex_System_GetVerboseErrors() != 0)
    return 1;
  OK(gasnet_init(&argc, &argv));
  HOLDS(gasnet_attach(nullptr, 0, UINTPTR_MAX, 0) == GASNET_ERR_BAD_ARG);
  HOLDS(gasnet_attach(nullptr, 0, gasnet_getMaxLocalSegmentSize() + 1, 0) == GASNET_ERR_BAD_ARG);
  gasnet_handlerentry_t table[] = {{130, reinterpret_cast<void (*)()>(request)},
                                   {131, reinterpret_cast<void (*)()>(reply)},
                                   {132, reinterpret_cast<void (*)()>(counted)},
                                   {133, reinterpret_cast<void (*)()>(counted_answer)}};
  // A refused call has registered no handler.
  HOLDS(gasnet_attach(table, 4, gasnet_getMaxLocalSegmentSize() + GASNET_PAGESIZE, 0) == GASNET_ERR_BAD_ARG);
  HOLDS(gasnet_attach(table, 4, 65536 + 1, 0) == GASNET_ERR_BAD_ARG);
  gex_System_SetVerboseErrors(1);
  OK(gasnet_attach(table, 4, 65536, 0));
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

  int count = 2;
  OK(gasnet_AMRequestShort(next, 132, count, 7, 5));
  GASNET_BLOCKUNTIL(gasnett_atomic_read(&counted_answers, 0) == 1);
  register_at_once();

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
