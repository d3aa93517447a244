// The messages about calls that disagree, and the questions about calls, between ranks over loop.

#include <aqueduct/aqueduct.hpp>

#include "am/messages.hpp"
#include "coll/engine/abort_messages.hpp"
#include "coll/engine/call_questions.hpp"
#include "team/team_state.hpp"
#include "tests/support/known_packets.hpp"
#include "tests/support/loop_job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::coll {
namespace {

using testing::HasSubstr;
using testing::Not;

// Numbers that no layer has: the library's own may be registered already.
constexpr HandlerId kTestAbort = 29, kTestAsk = 30, kTestTell = 31;
static_assert(am::kLayerHandlers.back() < kTestAbort && kTestTell < am::kFirstUserHandler);

CallDescription told_broadcast(std::uint64_t bytes) {
  CallDescription call;
  call.operation = Collective::broadcast;
  call.bytes = bytes;
  return call;
}

/// What one rank hears, and what it answers.
struct Listener {
  struct Heard {
    std::uint64_t team;
    Rank from;
    std::uint64_t number;
    CallDescription call;
  };
  static bool hear(void* self, std::uint64_t team, Rank from, std::uint64_t number,
                   const CallDescription& call) {
    auto& me = *static_cast<Listener*>(self);
    if (!me.teams.contains(team)) return false;
    me.heard.push_back({team, from, number, call});
    return true;
  }
  static bool last(void* self, std::uint64_t team, Rank, std::uint64_t& number, CallDescription& call) {
    auto& me = *static_cast<Listener*>(self);
    if (!me.teams.contains(team)) return false;
    number = me.made;
    call = me.call;
    return true;
  }
  static void said(void* self, std::uint64_t team, Rank from, std::uint64_t number,
                   const CallDescription& call) {
    static_cast<Listener*>(self)->answers.push_back({team, from, number, call});
  }
  std::set<std::uint64_t> teams;
  std::vector<Heard> heard;
  std::vector<Heard> answers;
  std::uint64_t made = 0;
  CallDescription call;
  std::optional<AbortMessages> abort;
  std::optional<CallQuestions> questions;
};

class CallMessages : public testing::Test {
 protected:
  void start(Rank ranks, const std::string& credits = "8", const std::string& log = "off") {
    ASSERT_NO_FATAL_FAILURE(support::start_over_loop(job_, ranks, {{"credits", credits}, {"log", log}}));
    for (Rank rank = 0; rank < ranks; ++rank) {
      Listener& one = listeners_.emplace_back();
      one.teams.insert(team(rank).id);
      auto& state = job_->endpoint(rank).state();
      one.abort.emplace(state, &Listener::hear, &one, kTestAbort);
      one.questions.emplace(state, &Listener::last, &Listener::said, &one, kTestAsk, kTestTell);
      ASSERT_TRUE(state.messages->layers_problem());
    }
  }
  aqueduct::detail::TeamState& team(Rank rank) { return job_->endpoint(rank).world().state(); }
  void progress() {
    for (int i = 0; i < 20; ++i) {
      for (Rank rank = 0; rank < listeners_.size(); ++rank) job_->endpoint(rank).progress();
    }
  }
  /// Delivers a message to rank 0 as if rank 1 had sent it.
  template <class Args>
  void say(HandlerId handler, AmCategory category, const Args& args) {
    std::vector<std::byte> body(sizeof args);
    std::memcpy(body.data(), &args, sizeof args);
    const auto packet = test::packet_for({handler, category, sizeof args}, body);
    job_->endpoint(0).state().messages->packet(1, packet.bytes());
  }

  std::deque<Listener> listeners_;  // outlive the job, whose end may still run handlers
  std::optional<Job> job_;
};

TEST_F(CallMessages, ReachAllOtherMembers) {
  start(5);
  listeners_[2].abort->tell(team(2), 7, told_broadcast(64));
  progress();
  for (Rank rank = 0; rank < 5; ++rank) {
    const auto& heard = listeners_[rank].heard;
    ASSERT_EQ(heard.size(), rank == 2 ? 0u : 1u) << rank;
    if (rank == 2) continue;
    EXPECT_EQ(heard[0].team, team(0).id);
    EXPECT_EQ(heard[0].from, 2u);
    EXPECT_EQ(heard[0].number, 7u);
    EXPECT_EQ(heard[0].call, told_broadcast(64));
  }
  EXPECT_FALSE(listeners_[2].abort->busy());
}

TEST_F(CallMessages, WithoutRoomAreSentLater) {
  start(3, "1");
  AbortMessages& abort = *listeners_[0].abort;
  for (std::uint64_t number = 1; number <= 10; ++number) abort.tell(team(0), number, told_broadcast(number));
  EXPECT_TRUE(abort.busy());
  for (int i = 0; i < 1000 && abort.advance(); ++i) progress();
  EXPECT_FALSE(abort.busy());
  progress();
  for (Rank rank = 1; rank < 3; ++rank) {
    std::set<std::uint64_t> numbers;
    for (const auto& one : listeners_[rank].heard) numbers.insert(one.number);
    EXPECT_EQ(listeners_[rank].heard.size(), 10u);
    EXPECT_EQ(numbers.size(), 10u);
  }
}

TEST_F(CallMessages, WaitInABoundedQueueWhereABrokenTeamHasPrecedence) {
  start(2, "1");
  AbortMessages& abort = *listeners_[0].abort;
  const CallDescription bad = refused_call(told_broadcast(8), ErrorCode::invalid_argument);
  constexpr std::uint64_t kMany = 3 * AbortMessages::kMostQueued;
  for (std::uint64_t number = 1; number <= kMany; ++number) abort.tell(team(0), number, bad);
  EXPECT_EQ(abort.queued(), AbortMessages::kMostQueued);
  abort.tell(team(0), kMany + 1, told_broadcast(8));
  EXPECT_EQ(abort.queued(), AbortMessages::kMostQueued);
  for (int i = 0; i < 10'000 && abort.advance(); ++i) progress();
  progress();
  const auto& heard = listeners_[1].heard;
  EXPECT_EQ(heard.size(), AbortMessages::kMostQueued + 1);
  EXPECT_TRUE(std::ranges::any_of(heard, [](const auto& one) { return one.number == kMany + 1; }));
}

// One line for the first call, and one with the number of all.
TEST_F(CallMessages, BeyondTheQueueAreCountedInTheLog) {
  start(2, "1", "warn");
  AbortMessages& abort = *listeners_[0].abort;
  const CallDescription bad = refused_call(told_broadcast(8), ErrorCode::invalid_argument);
  const auto drop = [&](std::size_t count) {
    testing::internal::CaptureStderr();
    // One finds the only credit, and others fill the queue.
    for (std::uint64_t number = 1; number <= 1 + AbortMessages::kMostQueued + count; ++number)
      abort.tell(team(0), number, bad);
    for (int i = 0; i < 10'000 && abort.advance(); ++i) progress();
    progress();
    const std::string log = testing::internal::GetCapturedStderr();
    return std::pair{std::ranges::count(log, '\n'), log};
  };
  const auto [lines, log] = drop(100);
  EXPECT_EQ(lines, 2) << log;
  EXPECT_THAT(log, HasSubstr("no room to tell all members of a team of this rank's call 66 "));
  EXPECT_THAT(log, HasSubstr("of 100 calls of this rank"));
  const auto [again, one] = drop(1);
  EXPECT_EQ(again, 1) << one;
  EXPECT_THAT(one, HasSubstr("no room to tell all members of a team of this rank's call 66 "));
}

TEST_F(CallMessages, ToALostPeerAreForgotten) {
  start(2, "1");
  AbortMessages& abort = *listeners_[0].abort;
  for (std::uint64_t number = 1; number <= 5; ++number) abort.tell(team(0), number, told_broadcast(8));
  EXPECT_TRUE(abort.busy());
  abort.peer_lost(1);
  EXPECT_FALSE(abort.busy());
}

TEST_F(CallMessages, ForATeamToComeAreKept) {
  start(3);
  listeners_[1].teams.clear();
  listeners_[0].abort->tell(team(0), 1, told_broadcast(8));
  listeners_[2].abort->tell(team(2), 2, told_broadcast(16));
  progress();
  EXPECT_TRUE(listeners_[1].heard.empty());
  EXPECT_EQ(listeners_[1].abort->kept(), 2u);
  listeners_[1].abort->take_kept(team(1).id);  // it still refuses them
  EXPECT_EQ(listeners_[1].abort->kept(), 2u);
  listeners_[1].abort->take_kept(team(1).id + 1);
  listeners_[1].teams.insert(team(1).id);
  listeners_[1].abort->take_kept(team(1).id);
  EXPECT_EQ(listeners_[1].heard.size(), 2u);
  EXPECT_EQ(listeners_[1].abort->kept(), 0u);
}

TEST_F(CallMessages, OfAPeerThatInventsTeamsTakeBoundedMemory) {
  start(2);
  for (std::uint64_t i = 0; i < 10'000; ++i)
    say(kTestAbort, AmCategory::short_request, AbortedCall{1'000'000 + i, 1, {}});
  EXPECT_EQ(listeners_[0].abort->kept(), AbortMessages::kMostKeptOfPeer);
  listeners_[0].abort->forget(1'000'000 + 9'999);
  EXPECT_EQ(listeners_[0].abort->kept(), AbortMessages::kMostKeptOfPeer - 1);
  listeners_[0].abort->peer_lost(1);
  EXPECT_EQ(listeners_[0].abort->kept(), 0u);
}

TEST_F(CallMessages, WithoutANumberAreRejected) {
  start(2);
  const auto before = job_->endpoint(0).statistics().rejected;
  say(kTestAbort, AmCategory::short_request, AbortedCall{team(0).id, 0, {}});
  EXPECT_TRUE(listeners_[0].heard.empty());
  EXPECT_EQ(job_->endpoint(0).statistics().rejected, before + 1);
}

TEST_F(CallMessages, AskForTheLastCallAndCompareIt) {
  start(4);
  const std::uint64_t id = team(0).id;
  listeners_[1].made = 6;
  listeners_[1].call = told_broadcast(8);
  listeners_[2].made = 7;
  listeners_[2].call = told_broadcast(64);
  listeners_[3].teams.clear();
  CallQuestions& questions = *listeners_[0].questions;
  const auto report = [&] {
    std::string text;
    questions.compare(text, id, 7, told_broadcast(64));
    return text;
  };
  for (Rank peer = 1; peer < 4; ++peer) {
    questions.ask(id, peer, 7);
    questions.ask(id, peer, 7);  // one is under way
  }
  EXPECT_EQ(report(), "") << "no answer yet";
  EXPECT_TRUE(listeners_[0].answers.empty());
  progress();
  ASSERT_EQ(listeners_[0].answers.size(), 3u);
  for (const auto& answer : listeners_[0].answers) {
    EXPECT_EQ(answer.team, id);
    const Listener& asked = listeners_[answer.from];
    EXPECT_EQ(answer.number, asked.teams.empty() ? 0 : asked.made);
    EXPECT_EQ(answer.call, asked.teams.empty() ? CallDescription{} : asked.call);
  }
  EXPECT_EQ(
      report(),
      "; rank 1 is at call 6 of the team, broadcast of 8 bytes (root 0); rank 3 has made no call of the "
      "team; this rank is at call 7, broadcast of 64 bytes (root 0)");
  listeners_[1].made = 7;
  listeners_[1].call = told_broadcast(64);
  questions.ask(id, 1, 7);
  progress();
  EXPECT_THAT(report(), Not(HasSubstr("rank 1 ")));
  questions.peer_lost(3);
  EXPECT_EQ(report(), "");
  questions.forget(id);
  EXPECT_EQ(report(), "");
}

TEST_F(CallMessages, AboutManyTeamsKeepTheLatestAnswers) {
  start(2, "64");
  CallQuestions& questions = *listeners_[0].questions;
  for (std::uint64_t id = 1; id <= 100; ++id) {
    questions.ask(id, 1, 1);
    progress();
  }
  int kept = 0;
  for (std::uint64_t id = 1; id <= 100; ++id) {
    std::string text;
    questions.compare(text, id, 1, {});
    if (!text.empty()) ++kept;
  }
  EXPECT_LE(kept, static_cast<int>(CallQuestions::kMostAnswers));
  EXPECT_GE(kept, static_cast<int>(CallQuestions::kMostAnswers) - 1)
      << "all but the world's, which may agree";
}

// Any bytes from a peer: nothing crashes, and nothing that was not asked for is believed.
TEST_F(CallMessages, WithAnyContentsDoNoHarm) {
  start(2);
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int i = 0; i < 20'000; ++i) {
    std::array<std::byte, sizeof(CallAnswer)> bytes;
    static_assert(sizeof(CallAnswer) == sizeof(AbortedCall));
    for (auto& one : bytes) one = static_cast<std::byte>(random());
    if (random() % 2 == 0) {
      const std::uint64_t id = team(0).id;
      std::memcpy(bytes.data(), &id, sizeof id);
    }
    say(kTestAbort, AmCategory::short_request, bytes);
    say(kTestTell, AmCategory::short_reply, bytes);
    say(kTestAsk, AmCategory::short_request, random());
    if (i % 64 == 0) progress();
  }
  std::string text;
  listeners_[0].questions->compare(text, team(0).id, 1, {});
  EXPECT_EQ(text, "");
  for (const auto& one : listeners_[0].heard) EXPECT_LT(text_of(one.call).size(), 512u);
}

}  // namespace
}  // namespace aqueduct::coll
