// fault_cut_off leaves|stays: rank 1 may open nothing more, so that it reaches no other rank over a network that connects at first
// use. It finishes its job, or goes on without it. The others wait for it in a barrier, and print what they notice.

#include <aqueduct/aqueduct.hpp>

#include <chrono>
#include <cstdio>
#include <string_view>

#include <sys/resource.h>

using namespace aqueduct;
using Clock = std::chrono::steady_clock;

namespace {

/// Until no other rank is reached, and for a while after that.
void lose_all(Endpoint& me, ShortRequest<NoArguments> handler, std::chrono::seconds further) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = 0;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  auto until = Clock::now() + std::chrono::seconds(20);
  for (Rank rank = 0; rank < me.ranks() && Clock::now() < until; ++rank) {
    while (rank != me.rank() && !me.is_lost(rank) && Clock::now() < until) {
      static_cast<void>(request(me, rank, handler, {}, {.immediate = true}));
      me.progress();
    }
  }
  until = Clock::now() + further;
  while (Clock::now() < until) me.progress();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  const bool stays = std::string_view(argv[1]) == "stays";
  auto job = Job::start();
  if (!job) return job.status().exit_code();
  Endpoint& me = job->endpoint();
  const auto handler = on_short_request<NoArguments>(me, [](auto&, const NoArguments&) {});
  if (!handler) return handler.status().exit_code();
  if (me.rank() == 1) {
    lose_all(me, *handler, std::chrono::seconds(stays ? 8 : 0));
  } else {
    const auto began = Clock::now();
    const Status status = me.barrier();
    const auto took = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - began);
    std::printf("noticed %s; in time %d\n", status.text().c_str(), took.count() < (stays ? 7 : 5));
    std::fflush(stdout);
  }
  static_cast<void>(job->finish());
  return 0;
}
