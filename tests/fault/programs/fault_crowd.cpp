// fault_crowd MODE: hello (start, barrier, end), ring (barriers, and a token that goes round by messages), barriers COUNT (by
// ranks that share two processors), idle (rank 0 enters the barrier four seconds late),
// linger (waits until it is killed) or huge (asks for too much memory).

#include <aqueduct/aqueduct.hpp>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include <sched.h>
#include <unistd.h>

using namespace aqueduct;

namespace {

int ring(Endpoint& me) {
  constexpr int kRounds = 3;
  int tokens = 0;
  const auto handler = on_short_request<NoArguments>(me, [&](auto&, const NoArguments&) { ++tokens; });
  if (!handler || !me.barrier()) return 2;
  const Rank next = (me.rank() + 1) % me.ranks();
  for (int round = 1; round <= kRounds; ++round) {
    if (me.rank() == 0 && !request(me, next, *handler)) return 3;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (tokens < round) {
      if (me.progress() == 0) std::this_thread::yield();
      if (std::chrono::steady_clock::now() > until) return 4;
    }
    if (me.rank() != 0 && !request(me, next, *handler)) return 5;
  }
  for (int i = 0; i < 20; ++i) {
    if (!me.barrier()) return 6;
  }
  return tokens == kRounds ? 0 : 7;
}

/// Leaves this process the first two of its processors.
void share_two_processors() {
  cpu_set_t mine, two;
  CPU_ZERO(&mine);
  CPU_ZERO(&two);
  if (::sched_getaffinity(0, sizeof mine, &mine) != 0) return;
  for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&two) < 2; ++i) {
    if (CPU_ISSET(i, &mine)) CPU_SET(i, &two);
  }
  ::sched_setaffinity(0, sizeof two, &two);
}

int barriers(Endpoint& me, int count) {
  for (int i = 0; i < count; ++i) {
    if (!me.barrier()) return 9;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 64;
  const std::string_view mode = argv[1];
  if (mode == "barriers") share_two_processors();
  auto job = Job::start();
  if (!job) return job.status().exit_code();
  Endpoint& me = job->endpoint();
  if (mode == "ring") {
    if (const int failed = ring(me); failed != 0) return failed;
  }
  if (mode == "barriers") {
    if (const int failed = barriers(me, argc > 2 ? std::atoi(argv[2]) : 1); failed != 0) return failed;
  }
  if (mode == "idle" && me.rank() == 0) std::this_thread::sleep_for(std::chrono::seconds(4));
  if (mode == "linger") {
    std::printf("pid %d\n", ::getpid());
    std::fflush(stdout);
    return wait_until(me, 0, 1, me.rank()).exit_code();
  }
  if (mode == "huge") {
    const auto segment = Segment::create(me, me.rank() == 0 ? std::size_t{1} << 46 : 64);
    std::printf("create %s\n", segment.status().text().c_str());
    const auto modest = Segment::create(me, 64);
    std::printf("then %s\n", modest.status().text().c_str());
  }
  if (!me.barrier()) return 8;
  if (mode == "hello") std::printf("hello from %u of %u\n", me.rank(), me.ranks());
  return job->finish().exit_code();
}
