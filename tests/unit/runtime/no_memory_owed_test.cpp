// What a rank owes its peers, while the conduit's library finds no memory for it.

#include "am/messages.hpp"
#include "core/endpoint_state.hpp"
#include "tests/support/fast_clock.hpp"
#include "tests/unit/runtime/refusing_job.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::refusing {
namespace {

using core::Post;
using std::chrono::milliseconds;
using support::FastClock;

/// What rank 1 owes, or sends behind a put, finds no room for want of memory. No call of it could tell of that.
class NoMemoryForWhatIsOwed : public testing::Test {
 protected:
  /// Rank 1 gives rank 0 up, and says why.
  void expect_loss() {
    Endpoint& owing = refusing_.endpoint(1);
    const core::EndpointClock before = std::exchange(owing.state().clock, fast_.clock());
    testing::internal::CaptureStderr();
    for (int i = 0; i < 100'000 && !owing.is_lost(0); ++i) owing.progress();
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(owing.is_lost(0));
    EXPECT_NE(said.find("finds no memory: the rank is taken for lost"), std::string::npos) << said;
    owing.state().clock = before;
    refusing_.endpoint(0).state().peer_lost(1);
  }
  void TearDown() override {
    if (refusing_.job) {
      refusing_.network.refusals[1] = RefusingNetwork::kNone;
      for (Rank rank = 0; rank < 2; ++rank) refusing_.endpoint(rank).state().peer_lost(1 - rank);
      EXPECT_EQ(refusing_.job->finish().code(), ErrorCode::peer_lost);
    }
  }

  RefusingJob refusing_;
  const FastClock fast_{milliseconds(30)};
};

TEST_F(NoMemoryForWhatIsOwed, OfAReplyGivesThePeerUp) {
  ASSERT_NO_FATAL_FAILURE(refusing_.begin(2, "none"));
  refusing_.network.refusals[1][0] = Post::retry(ErrorCode::no_memory);
  std::vector<std::byte> got(100);
  const Event event = get_nb(refusing_.endpoint(0), got, GlobalPtr<std::byte>{1, 0});
  expect_loss();
  EXPECT_TRUE(event.done());
}

TEST_F(NoMemoryForWhatIsOwed, OfCreditsGivesThePeerUp) {
  ASSERT_NO_FATAL_FAILURE(refusing_.begin(2, "none"));
  const auto handlers = refusing_.handlers([](auto&, std::uint64_t) {});
  ASSERT_EQ(handlers.size(), 2u);
  refusing_.network.refusals[1][0] = Post::retry(ErrorCode::no_memory);
  Endpoint& sender = refusing_.endpoint(0);
  while (sender.state().messages->credits_left(1) != 0) ASSERT_TRUE(request(sender, 1, handlers[0], 1));
  expect_loss();
}

TEST_F(NoMemoryForWhatIsOwed, OfAMessageBehindAPutGivesThePeerUp) {
  ASSERT_NO_FATAL_FAILURE(refusing_.begin(2, "rma"));
  std::vector<LongRequest<std::uint64_t>> handlers;
  int heard = 0;
  for (Rank rank = 0; rank < 2; ++rank) {
    auto made = on_long_request<std::uint64_t>(refusing_.endpoint(rank),
                                               [&](auto&, std::uint64_t, auto) { ++heard; });
    ASSERT_TRUE(made);
    handlers.push_back(*made);
  }
  refusing_.network.only_messages = true;
  refusing_.network.refusals[1][0] = Post::retry(ErrorCode::no_memory);
  const std::vector<std::byte> payload(20'000, std::byte{3});
  Event reusable;
  AmOptions options;
  options.source_event = &reusable;
  ASSERT_TRUE(request(refusing_.endpoint(1), handlers[1], 1, payload, GlobalPtr<std::byte>{0, 0}, options));
  expect_loss();
  EXPECT_TRUE(reusable.done());
  EXPECT_EQ(heard, 0);
}

}  // namespace
}  // namespace aqueduct::refusing
