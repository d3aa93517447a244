#include "tests/conformance/property.hpp"

#include <atomic>
#include <thread>

namespace aqueduct::conformance {
namespace {

/// Posts packets with the numbers first … first + count - 1 to rank 1, from whatever thread. Returns how many were posted.
std::size_t post_numbers(core::Conduit& conduit, std::uint64_t first, std::uint64_t count,
                         const std::function<void()>& make_room) {
  std::size_t posted = 0;
  for (std::uint64_t number = first; number < first + count; ++number) {
    core::Post post = core::Post::retry();
    while (post.kind == core::Post::Kind::retry) {
      post = conduit.send(1, std::as_bytes(std::span(&number, 1)), {}, number);
      if (post.kind == core::Post::Kind::retry) make_room();
    }
    if (post.kind == core::Post::Kind::failed) return posted;
    posted += post.kind == core::Post::Kind::posted;
  }
  return posted;
}

TEST_P(Property, ConcurrentPostsOfAnotherThreadArriveOnceEach) {
  on_bench(2, [](ConduitBench& bench) {
    if (!bench.conduit(0).properties().concurrent_posts) return;  // one thread at a time
    ASSERT_TRUE(meet(bench));
    constexpr std::uint64_t kEach = 500;
    std::atomic<std::size_t> posted{0};
    std::atomic<bool> over{false};
    std::thread other([&] {
      posted += post_numbers(bench.conduit(0), 1 + kEach, kEach, [] { std::this_thread::yield(); });
      over = true;
    });
    posted +=
        post_numbers(bench.conduit(0), 1, kEach, [&] { bench.poll(); });  // beside it, the poller's thread
    const Recorder& sender = bench.inbox(0);
    const Recorder& receiver = bench.inbox(1);
    const bool arrived = bench.poll_until(
        [&] { return over && receiver.packets.size() >= 2 * kEach && sender.completions.size() >= posted; });
    while (!over) bench.poll();  // the thread may still wait for room
    other.join();
    ASSERT_TRUE(arrived) << receiver.packets.size() << " of " << 2 * kEach << " packets, "
                         << sender.completions.size() << " of " << posted << " completions";
    for (int i = 0; i < 200; ++i) bench.poll();
    EXPECT_EQ(receiver.packets.size(), 2 * kEach);
    EXPECT_EQ(sender.completions.size(), posted);
    for (const auto& [token, count] : sender.completions) EXPECT_EQ(count, 1) << "completions of " << token;
    EXPECT_TRUE(sender.failures.empty());
    std::vector<int> arrivals(2 * kEach + 1);
    for (const auto& packet : receiver.packets) {
      std::uint64_t number = 0;
      ASSERT_EQ(packet.bytes.size(), sizeof number);
      std::memcpy(&number, packet.bytes.data(), sizeof number);
      ASSERT_LE(number, 2 * kEach);
      ++arrivals[number];
    }
    for (std::uint64_t number = 1; number <= 2 * kEach; ++number) EXPECT_EQ(arrivals[number], 1) << number;
  });
}

}  // namespace
}  // namespace aqueduct::conformance
