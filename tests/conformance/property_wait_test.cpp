#include "tests/conformance/pattern.hpp"
#include "tests/conformance/property.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include <poll.h>

namespace aqueduct::conformance {
namespace {

using WaitClock = std::chrono::steady_clock;
// Chosen: a sleep that no arrival ends lasts longer than a turn may.
constexpr std::chrono::seconds kLongestSleep{12};
constexpr std::chrono::seconds kLongestTurn{10};

/// One sleep of rank 0: arm, poll once more, sleep, disarm, on the descriptor if `by_descriptor` and there is one.
void sleep_once(ConduitBench& bench, std::size_t expected, bool by_descriptor) {
  core::Waitable& waitable = *bench.conduit(0).waitable();
  const int descriptor = by_descriptor ? waitable.arm_descriptor() : -1;
  if (descriptor < 0) waitable.arm();
  bench.conduit(0).poll(bench.inbox(0));
  const auto limit = std::min<std::chrono::nanoseconds>(kLongestSleep, waitable.within());
  if (bench.inbox(0).packets.size() < expected && limit.count() > 0) {
    pollfd readable{descriptor, POLLIN, 0};
    if (descriptor < 0) {
      waitable.sleep(limit);
    } else {
      ::poll(&readable, 1, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(limit).count()));
    }
  }
  waitable.disarm();
}

// The peer sends from another thread, at any moment: before `arm`, between it and the sleep, and during the sleep.
TEST_P(Property, AnArrivalEndsASleepWheneverItComes) {
  on_bench(2, [seed = seed()](ConduitBench& bench) {
    if (bench.conduit(0).waitable() == nullptr) return;  // the endpoint naps
    ASSERT_TRUE(meet(bench));
    std::atomic<std::uint64_t> wanted{0};
    const std::jthread peer([&, seed](const std::stop_token& stop) {
      Random random(seed);
      core::Conduit& conduit = bench.conduit(1);
      for (std::uint64_t turn = 1; !stop.stop_requested();) {
        conduit.poll(bench.inbox(1));
        if (wanted.load(std::memory_order_acquire) < turn) {
          std::this_thread::yield();
          continue;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(random.any_magnitude(10)));
        const auto number = std::as_bytes(std::span(&turn, 1));
        while (conduit.send(0, number, {}, turn).kind == core::Post::Kind::retry && !stop.stop_requested()) {
          conduit.poll(bench.inbox(1));
        }
        ++turn;
      }
    });
    for (std::uint64_t turn = 1; turn <= 60; ++turn) {
      const auto began = WaitClock::now();
      wanted.store(turn, std::memory_order_release);
      while (bench.inbox(0).packets.size() < turn) {
        sleep_once(bench, turn, /*by_descriptor=*/turn % 2 == 0);
        ASSERT_LT(WaitClock::now() - began, kLongestTurn)
            << "turn " << turn << ": no arrival ended the sleep";
      }
    }
  });
}

}  // namespace
}  // namespace aqueduct::conformance
