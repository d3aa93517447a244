// News of calls that disagree, while there is neither room to send it nor memory to list the members that must hear it.

#include <aqueduct/aqueduct.hpp>

#include "am/messages.hpp"
#include "coll/engine/abort_messages.hpp"
#include "conduits/loop/tests/allocation_count.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace aqueduct::conduits::loop {
namespace {

// A number that no layer has: the library's own may be registered already.
constexpr HandlerId kTestAbort = 29;
static_assert(am::kLayerHandlers.back() < kTestAbort && kTestAbort < am::kFirstUserHandler);

struct Member {
  static bool hear(void* self, std::uint64_t, Rank, std::uint64_t number, const coll::CallDescription&) {
    static_cast<Member*>(self)->heard.push_back(number);
    return true;
  }
  bool has_heard(std::uint64_t number) const {
    return std::find(heard.begin(), heard.end(), number) != heard.end();
  }
  std::vector<std::uint64_t> heard;
  std::optional<coll::AbortMessages> abort;
};

class AbortMessagesMemory : public testing::Test {
 protected:
  static constexpr Rank kRanks = 5;
  void SetUp() override {
    Config config;
    ASSERT_TRUE(config.set("conduit", "loop") && config.set("near", "off") &&
                config.set("segment_bytes", "4K") && config.set("credits", "1") && config.set("log", "off"));
    auto made = Job::in_process(kRanks, config);
    ASSERT_TRUE(made) << made.status().text();
    job_.emplace(std::move(*made));
    for (Rank rank = 0; rank < kRanks; ++rank) {
      Member& one = members_.emplace_back();
      auto& state = job_->endpoint(rank).state();
      one.abort.emplace(state, &Member::hear, &one, kTestAbort);
      ASSERT_TRUE(state.messages->layers_problem());
    }
  }
  coll::AbortMessages& abort() { return *members_[0].abort; }
  void tell(std::uint64_t number) { abort().tell(job_->endpoint(0).world().state(), number, {}); }
  void forget() { abort().forget(job_->endpoint(0).world().state().id); }
  void send_all() {
    for (int i = 0; i < 1000 && abort().busy(); ++i) {
      static_cast<void>(abort().advance());
      for (Rank rank = 0; rank < kRanks; ++rank) job_->endpoint(rank).progress();
    }
    for (Rank rank = 0; rank < kRanks; ++rank) job_->endpoint(rank).progress();
  }

  std::deque<Member> members_;  // outlive the job, whose end may still run handlers
  std::optional<Job> job_;
};

// It was dropped: members that had made the call waited for ever.
TEST_F(AbortMessagesMemory, NewsIsToldLater) {
  tell(1);  // takes the credits
  {
    const NoMemory none;
    tell(2);
  }
  EXPECT_EQ(abort().queued(), 1u);
  send_all();
  EXPECT_FALSE(abort().busy());
  for (Rank rank = 1; rank < kRanks; ++rank) {
    EXPECT_TRUE(members_[rank].has_heard(2)) << rank;
    EXPECT_EQ(members_[rank].heard.size(), 2u) << rank;
  }
}

// The list grows to 1, 2 and 4 places, so it has that many members when memory ends.
TEST_F(AbortMessagesMemory, NewsWhoseListIsCutShortReachesAllOnce) {
  for (const std::uint64_t allocations : {1, 2, 3}) {
    tell(2 * allocations - 1);
    {
      const NoMemory none(UINT64_MAX, allocations);
      tell(2 * allocations);
    }
    send_all();
    for (Rank rank = 1; rank < kRanks; ++rank) {
      EXPECT_TRUE(members_[rank].has_heard(2 * allocations)) << rank;
      EXPECT_EQ(members_[rank].heard.size(), 2 * allocations) << rank;
    }
  }
}

TEST_F(AbortMessagesMemory, NewsOfATeamThatEndsIsToldIfThereIsMemoryAgain) {
  tell(1);
  {
    const NoMemory none;
    tell(2);
  }
  forget();
  EXPECT_EQ(abort().queued(), 1u);
  send_all();
  for (Rank rank = 1; rank < kRanks; ++rank) EXPECT_TRUE(members_[rank].has_heard(2)) << rank;
}

TEST_F(AbortMessagesMemory, NewsOfATeamThatEndsWithoutMemoryIsDropped) {
  tell(1);
  {
    const NoMemory none;
    tell(2);
    forget();
  }
  EXPECT_FALSE(abort().busy());
}

}  // namespace
}  // namespace aqueduct::conduits::loop
