// How long operations wait for memory that is short.

#include <aqueduct/aqueduct.hpp>

#include "core/endpoint_state.hpp"
#include "core/memory_patience.hpp"
#include "tests/support/fast_clock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

namespace aqueduct::core {
namespace {

using std::chrono::milliseconds;
using support::FastClock;

// What a conduit without room answers says nothing of memory: then only the look for memory decides.
TEST(MemoryPatience, EndsWhatFindsNoMemoryForTheLimitAndNothingElse) {
  Config config;
  ASSERT_TRUE(config.set("conduit", "loop") && config.set("near", "off"));
  auto job = Job::in_process(2, config);
  ASSERT_TRUE(job);
  EndpointState& state = job->endpoint(0).state();
  const FastClock fast{milliseconds(10)};
  const EndpointClock before = std::exchange(state.clock, fast.clock());
  static bool there_is_memory;
  there_is_memory = true;
  MemoryPatience patience([]() noexcept { return there_is_memory; });
  const auto attempts_until_over = [&](bool in_flight, int most) {
    int attempts = 0;
    while (attempts < most && !patience.is_over(state, 1, Post::retry(), in_flight)) ++attempts;
    return attempts;
  };
  constexpr int kMany = 10'000;  // 100 s
  EXPECT_EQ(attempts_until_over(false, kMany), kMany);
  testing::internal::CaptureStderr();
  there_is_memory = false;
  const auto within = [](int attempts, std::chrono::seconds limit) {
    const milliseconds took(10 * attempts);
    return took >= limit && took < limit + std::chrono::seconds(1);
  };
  EXPECT_TRUE(within(attempts_until_over(false, kMany), MemoryPatience::kLimit));
  EXPECT_EQ(attempts_until_over(false, kMany), 0);  // those behind it end at once
  patience.begin_again();
  EXPECT_TRUE(within(attempts_until_over(true, kMany), MemoryPatience::kLimitInFlight));
  // A rank that was away has not tried meanwhile.
  fast.looks += 1000;
  EXPECT_GT(attempts_until_over(false, kMany), 100);
  // Memory comes back in time.
  patience.begin_again();
  EXPECT_EQ(attempts_until_over(false, 400), 400);
  there_is_memory = true;
  EXPECT_EQ(attempts_until_over(false, 10), 10);
  there_is_memory = false;
  EXPECT_EQ(attempts_until_over(false, 400), 400);
  state.clock = before;
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("gives this rank no more memory"), std::string::npos) << said;
  EXPECT_TRUE(job->finish());
}

}  // namespace
}  // namespace aqueduct::core
