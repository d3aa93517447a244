// fault_compute MILLISECONDS: the last rank computes for that long without calling the library. Meanwhile rank 0 puts
// to it and gets from it; it prints how many times it could, and the longest time.
// fault_compute MILLISECONDS handler: the last rank computes in a handler, and the others wait for it.

#include <aqueduct/aqueduct.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace aqueduct;
using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

namespace {

void compute_until(Clock::time_point end) {
  volatile std::uint64_t work = 1;
  while (Clock::now() < end) {
    for (int i = 0; i < 10'000; ++i) work = work * 6364136223846793005u + 1;
  }
}

/// Writes and reads back until `end`.
int serve_from(Endpoint& me, Rank busy, Clock::time_point end) {
  std::vector<std::uint64_t> sent(500), got(500);
  Milliseconds longest{0};
  std::uint64_t times = 0;
  while (Clock::now() < end) {
    const auto began = Clock::now();
    std::ranges::fill(sent, ++times);
    if (!put(me, GlobalPtr<std::uint64_t>{busy, 64}, sent)) return 2;
    if (!get(me, got, GlobalPtr<std::uint64_t>{busy, 64})) return 3;
    if (got != sent) return 4;
    longest = std::max(longest, Milliseconds(Clock::now() - began));
  }
  std::printf("served %llu times, longest %.1f ms\n", static_cast<unsigned long long>(times),
              longest.count());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 64;
  const bool in_handler = argc > 2;
  auto job = Job::start();
  if (!job) return job.status().exit_code();
  Endpoint& me = job->endpoint();
  const Rank busy = me.ranks() - 1;
  const std::chrono::milliseconds length(std::atoi(argv[1]));
  const auto handler = on_short_request<NoArguments>(
      me, [&](auto&, const NoArguments&) { compute_until(Clock::now() + length); });
  if (!handler || !me.barrier()) return 5;
  const auto began = Clock::now();
  if (in_handler) {
    if (me.rank() == 0 && !request(me, busy, *handler, NoArguments{})) return 8;
  } else if (me.rank() == busy) {
    compute_until(began + length);
  }
  // Ends earlier than the computation, so that no operation is served by the other rank's barrier.
  if (me.rank() == 0 && !in_handler) {
    if (const int failed = serve_from(me, busy, began + length * 8 / 10); failed != 0) return failed;
  }
  if (!me.barrier()) return 6;
  for (Rank rank = 0; rank < me.ranks(); ++rank) {
    if (me.is_lost(rank)) return 7;
  }
  return job->finish().exit_code();
}
