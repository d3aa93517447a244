// Measures how far apart the first two cores are by the round trip of a cache line. On a virtual machine that changes
// from one run to the next, so the judge asks around every turn: it writes a line, and reads nanoseconds.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>

#include <pthread.h>
#include <sched.h>

namespace {

constexpr std::uint64_t kTurns = 2000;
constexpr std::size_t kSamples = 5;

struct alignas(64) Line {
  std::atomic<std::uint64_t> value{0};
};
Line there;
Line back;

void bind(unsigned core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

double measure() {
  there.value = 0;
  back.value = 0;
  std::thread answering([] {
    bind(1);
    for (std::uint64_t turn = 1; turn <= kTurns * (kSamples + 1); ++turn) {
      while (there.value.load(std::memory_order_acquire) != turn) {
      }
      back.value.store(turn, std::memory_order_release);
    }
  });
  std::array<double, kSamples + 1> samples{};
  std::uint64_t turn = 0;
  for (double& sample : samples) {
    const auto began = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < kTurns; ++i) {
      there.value.store(++turn, std::memory_order_release);
      while (back.value.load(std::memory_order_acquire) != turn) {
      }
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - began;
    sample = took.count() / kTurns;
  }
  answering.join();
  // The minimum: other processes make a round trip longer, nothing makes it shorter. The first sample wakes a core.
  return *std::min_element(samples.begin() + 1, samples.end());
}

}  // namespace

int main() {
  bind(0);
  for (int c = 0; (c = std::getchar()) != EOF;) {
    if (c != '\n') continue;
    std::printf("%.1f\n", measure());
    std::fflush(stdout);
  }
  return 0;
}
