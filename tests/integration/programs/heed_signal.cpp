// A rank that says "ready" when it has joined, waits for SIGUSR1, and says "heard". For tests of what aqrun passes on.

#include <aqueduct/aqueduct.hpp>

#include <chrono>
#include <cstdio>

#include <signal.h>

namespace {

volatile sig_atomic_t heard = 0;

}  // namespace

int main() {
  using namespace std::chrono_literals;
  ::signal(SIGUSR1, [](int) { heard = 1; });
  auto job = aqueduct::Job::start();
  if (!job) return 1;
  aqueduct::Endpoint& me = job->endpoint();
  std::puts("ready");
  std::fflush(stdout);
  const auto until = std::chrono::steady_clock::now() + 20s;
  while (heard == 0 && std::chrono::steady_clock::now() < until) static_cast<void>(me.progress_for(10ms));
  std::puts(heard != 0 ? "heard" : "not heard");
  std::fflush(stdout);
  return job->finish() ? 0 : 1;
}
