// A conduit whose library finds no memory refuses every post: what was begun ends with no_memory, and works again later.

#include "core/endpoint_state.hpp"
#include "tests/support/fast_clock.hpp"
#include "tests/unit/runtime/refusing_job.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::refusing {
namespace {

using core::Post;
using std::chrono::milliseconds;
using support::FastClock;

/// Parameter: AQUEDUCT_LOOP_NATIVE. Without, the reference layer's queue waits for room.
class NoMemoryForPosts : public testing::TestWithParam<const char*> {};

TEST_P(NoMemoryForPosts, EndsOperationsAndLosesNothing) {
  RefusingJob refusing;
  ASSERT_NO_FATAL_FAILURE(refusing.begin(2, GetParam()));
  Job& job = *refusing.job;
  RefusingNetwork& network = refusing.network;
  const FastClock fast{milliseconds(30)};
  std::atomic<int> heard{0};
  const auto handlers = refusing.handlers([&](auto&, std::uint64_t) { ++heard; });
  ASSERT_EQ(handlers.size(), 2u);
  Endpoint& me = job.endpoint(0);
  const GlobalPtr<std::uint64_t> word{1, 8};
  const GlobalPtr<std::byte> there{1, 64};
  const std::vector<std::byte> sent(20'000, std::byte{7});
  std::vector<std::byte> got(sent.size());
  const std::pair<const char*, std::function<Status()>> calls[] = {
      {"put", [&] { return put(me, there, sent); }},
      {"get", [&] { return get(me, got, there); }},
      {"atomic", [&] { return fetch_add(me, word, 1).status(); }},
      {"message", [&] { return request(me, 1, handlers[0], 1); }},
      {"strided put",
       [&] {
         return put(me, pieces(there, Strided(100, {{50, 300}})),
                    pieces(sent.data(), Strided(100, {{50, 100}})));
       }},
      {"put of a group",
       [&] {
         const Status begun = put_nbi(me, there, sent);
         return begun ? me.wait_implicit() : begun;
       }},
  };
  const core::EndpointClock before = std::exchange(me.state().clock, fast.clock());
  network.refusals[0][1] = Post::retry(ErrorCode::no_memory);
  testing::internal::CaptureStderr();
  for (const auto& [name, call] : calls) {
    const Status status = call();
    EXPECT_EQ(status.code(), ErrorCode::no_memory) << name << ": " << status.text();
    EXPECT_EQ(status.peer(), 1u) << name;
    EXPECT_FALSE(me.is_lost(1)) << name;
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("finds no memory"), std::string::npos) << said;
  network.refusals[0][1] = Post::done();
  me.state().clock = before;
  EXPECT_EQ(heard, 0);
  job.run_each([&](Endpoint& ep) {
    if (ep.rank() == 0) {
      for (const auto& [name, call] : calls) EXPECT_TRUE(call()) << name;
      ASSERT_TRUE(get(me, got, there));
      EXPECT_EQ(got, sent);
    }
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_EQ(heard, 1);
  EXPECT_EQ(*reinterpret_cast<const std::uint64_t*>(job.endpoint(1).segment().data() + 8), 1u);
  EXPECT_TRUE(job.finish());
}

INSTANTIATE_TEST_SUITE_P(Loop, NoMemoryForPosts, testing::Values("rma", "none"),
                         [](const auto& info) { return std::string(info.param); });

// Operations on a peer that only has no room wait on, though the library has no memory for another peer.
TEST(NoMemoryForOnePeer, EndsNoOperationOnAnother) {
  RefusingJob refusing;
  ASSERT_NO_FATAL_FAILURE(refusing.begin(kMostRanks, "none"));
  Job& job = *refusing.job;
  RefusingNetwork& network = refusing.network;
  const FastClock fast{milliseconds(30)};
  Endpoint& me = job.endpoint(0);
  const std::vector<std::byte> sent(20'000, std::byte{7});
  const core::EndpointClock before = std::exchange(me.state().clock, fast.clock());
  network.refusals[0] = {Post::done(), Post::retry(ErrorCode::no_memory), Post::retry()};
  testing::internal::CaptureStderr();
  Event without_memory = put_nb(me, GlobalPtr<std::byte>{1, 64}, sent);
  Event without_room = put_nb(me, GlobalPtr<std::byte>{2, 64}, sent);
  for (int i = 0; i < 100'000 && !without_memory.done(); ++i) me.progress();
  for (int i = 0; i < 10'000; ++i) me.progress();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("finds no memory"), std::string::npos) << said;
  ASSERT_TRUE(without_memory.done());
  EXPECT_EQ(me.wait(without_memory), Status(ErrorCode::no_memory, 1));
  EXPECT_FALSE(without_room.done());
  network.refusals[0] = RefusingNetwork::kNone;
  me.state().clock = before;
  job.run_each([&](Endpoint& ep) {
    if (ep.rank() == 0) {
      EXPECT_TRUE(ep.wait(without_room));
    }
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_EQ(job.endpoint(2).segment()[64], std::byte{7});
  EXPECT_TRUE(job.finish());
}

/// As FastClock. After two minutes there is memory again, so that a wait which does not end by itself fails its test.
struct EndingClock {
  static core::Clock::time_point tell(const void* self) noexcept {
    const auto& clock = *static_cast<const EndingClock*>(self);
    const auto now = FastClock::tell(&clock.fast);
    if (clock.fast.looks.load() * clock.fast.step > std::chrono::minutes(2)) clock.refusal = Post::done();
    return now;
  }
  core::EndpointClock clock() const noexcept { return {tell, this}; }
  Post& refusal;
  const FastClock fast{milliseconds(30)};
};

// A message behind a fence waits for the credits of those before it, and asks the peer for these: that too needs memory.
TEST(NoMemoryBehindAFence, EndsTheMessageAndLosesNothing) {
  RefusingJob refusing;
  ASSERT_NO_FATAL_FAILURE(refusing.begin(2, "none"));
  Job& job = *refusing.job;
  RefusingNetwork& network = refusing.network;
  std::atomic<int> heard{0};
  const auto handlers = refusing.handlers([&](auto&, std::uint64_t) { ++heard; });
  ASSERT_EQ(handlers.size(), 2u);
  Post& refusal = network.refusals[0][1];
  const EndingClock ending{refusal};
  std::atomic<bool> over{false};
  job.run_each([&](Endpoint& ep) {
    if (ep.rank() == 1) {
      while (!over) ep.progress();
    } else {
      EXPECT_TRUE(request(ep, 1, handlers[0], 1));
      const core::EndpointClock before = std::exchange(ep.state().clock, ending.clock());
      refusal = Post::retry(ErrorCode::no_memory);
      testing::internal::CaptureStderr();
      EXPECT_TRUE(fence(ep, 1));
      EXPECT_EQ(request(ep, 1, handlers[0], 2), Status(ErrorCode::no_memory, 1));
      const std::string said = testing::internal::GetCapturedStderr();
      EXPECT_NE(said.find("finds no memory: it ends with no_memory"), std::string::npos) << said;
      refusal = Post::done();
      ep.state().clock = before;
      EXPECT_FALSE(ep.is_lost(1));
      EXPECT_TRUE(request(ep, 1, handlers[0], 3));
      over = true;
    }
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_EQ(heard, 2);
  EXPECT_TRUE(job.finish());
}

}  // namespace
}  // namespace aqueduct::refusing
