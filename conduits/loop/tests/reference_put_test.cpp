// The cost of the reference layer on a conduit that has only packets: packets and allocations are counted, not timed.

#include <aqueduct/aqueduct.hpp>

#include "conduits/loop/tests/allocation_count.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <span>
#include <thread>
#include <vector>

namespace aqueduct::conduits::loop {
namespace {

TEST(ReferencePut, OfEightBytesIsOneRequestAndOneAckWithoutAllocation) {
  Config config;
  ASSERT_TRUE(config.set("conduit", "loop"));
  ASSERT_TRUE(config.set("near", "off"));
  auto job = Job::in_process(2, config);
  ASSERT_TRUE(job);
  Endpoint& writer = job->endpoint(0);
  Endpoint& target = job->endpoint(1);
  std::atomic<bool> over{false};
  std::uint64_t target_allocations = ~std::uint64_t{0};
  std::thread owner([&] {
    const auto before = allocations();
    while (!over) {
      if (target.progress() == 0) std::this_thread::yield();
    }
    target_allocations = allocations() - before;
  });

  constexpr std::uint64_t kPuts = 1000;
  const GlobalPtr<std::uint64_t> place{1, 8};
  const auto before = allocations();
  const Statistics writer_before = writer.statistics();
  Status first;
  for (std::uint64_t i = 0; i < kPuts && first; ++i) first = put_value(writer, place, i);
  const auto writer_allocations = allocations() - before;
  const Statistics writer_after = writer.statistics();
  over = true;
  owner.join();

  EXPECT_TRUE(first) << first.text();
  EXPECT_EQ(writer_allocations, 0u);
  EXPECT_EQ(target_allocations, 0u);
  EXPECT_EQ(writer_after.reference_puts - writer_before.reference_puts, kPuts);
  EXPECT_EQ(writer_after.packets_sent - writer_before.packets_sent, kPuts);
  EXPECT_EQ(writer_after.packets_received - writer_before.packets_received, kPuts);
  EXPECT_EQ(target.statistics().packets_received, kPuts);
  EXPECT_EQ(target.statistics().packets_sent, kPuts);
  EXPECT_EQ(*reinterpret_cast<std::uint64_t*>(target.segment().data() + 8), kPuts - 1);
}

TEST(ReferencePut, ByTheTenThousandWaitsForNothingThoughEveryEventIsHeld) {
  Config config;
  ASSERT_TRUE(config.set("conduit", "loop"));
  ASSERT_TRUE(config.set("near", "off"));
  auto job = Job::in_process(2, config);
  ASSERT_TRUE(job);
  // No rank answers, so a call that waited would never return.
  std::vector<Event> held;
  const std::uint64_t value = 1;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    held.push_back(put_nb(job->endpoint(0), GlobalPtr<std::uint64_t>{1, 8 * i}, std::span(&value, 1)));
    ASSERT_FALSE(held.back().done());
  }
  while (!held.back().done()) {
    for (Rank rank = 0; rank < 2; ++rank) job->endpoint(rank).progress();
  }
  for (Event& event : held) EXPECT_TRUE(job->endpoint(0).wait(event));
}

}  // namespace
}  // namespace aqueduct::conduits::loop
