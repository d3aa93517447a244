// What a team agrees on while a member has no memory for its calls.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>
#include <aqueduct/tune.hpp>

#include "coll/engine/team_agreement.hpp"
#include "conduits/loop/tests/allocation_count.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace aqueduct::conduits::loop {
namespace {

using coll::CallDescription;
using coll::TeamAgreement;
using coll::Verdict;

CallDescription call_of(std::uint64_t bytes) {
  CallDescription call{};
  call.bytes = bytes;
  return call;
}

// The sender makes no further call, so this member would wait for ever.
TEST(AgreementMemory, NewsThatCannotBeKeptBreaksTheTeamAtTheCall) {
  TeamAgreement agreement(0);
  {
    const NoMemory none;
    EXPECT_EQ(agreement.heard(2, 1, coll::refused_call(call_of(8), ErrorCode::no_memory)),
              Verdict::remembered);
  }
  EXPECT_FALSE(agreement.broken());
  EXPECT_FALSE(agreement.is_quiet());
  EXPECT_EQ(agreement.calls(1, call_of(8)), Status(ErrorCode::no_memory, 2));
  EXPECT_TRUE(agreement.has_news());
}

TEST(AgreementMemory, NewsThatCannotBeKeptIsForgottenByAMemberThatRefusesToo) {
  TeamAgreement agreement(0);
  const CallDescription refused = coll::refused_call(call_of(8), ErrorCode::no_memory);
  {
    const NoMemory none;
    EXPECT_EQ(agreement.heard(2, 1, refused), Verdict::remembered);
  }
  EXPECT_TRUE(agreement.calls(1, refused));
  EXPECT_TRUE(agreement.is_quiet());
}

// With memory it would tell the same. So others that refuse alike go on.
TEST(AgreementMemory, ARefusalIsToldAsItIs) {
  TeamAgreement agreement(0);
  const CallDescription refused = coll::refused_call(call_of(8), ErrorCode::no_memory);
  const NoMemory none;
  EXPECT_TRUE(agreement.calls(1, refused));
  const auto news = agreement.take_news();
  ASSERT_TRUE(news);
  EXPECT_EQ(news->number, 1u);
  EXPECT_TRUE(news->call == refused);
  EXPECT_EQ(agreement.heard(1, 1, refused), Verdict::agrees);
  EXPECT_FALSE(agreement.broken());
}

// A third member hears of it from one that has called, before it hears of the refusal itself.
TEST(AgreementMemory, WhoHadNoneIsToldByThoseThatHaveCalled) {
  const CallDescription refused = coll::refused_call(call_of(8), ErrorCode::no_memory);
  const Status outcome(ErrorCode::no_memory, 1);
  TeamAgreement caller(0);
  ASSERT_TRUE(caller.calls(1, call_of(8)));
  EXPECT_EQ(caller.heard(1, 1, refused), Verdict::broken);
  EXPECT_EQ(caller.status(), outcome);
  const auto news = caller.take_news();
  ASSERT_TRUE(news);

  TeamAgreement other(2);
  ASSERT_TRUE(other.calls(1, call_of(8)));
  EXPECT_EQ(other.heard(0, 1, news->call), Verdict::broken);
  EXPECT_EQ(other.status(), outcome);
  EXPECT_NE(other.why().find("rank 1 had no memory for its call"), std::string::npos) << other.why();
  EXPECT_EQ(other.heard(1, 1, refused), Verdict::known);
  EXPECT_EQ(other.status(), outcome);

  TeamAgreement late(3);
  EXPECT_EQ(late.heard(0, 1, news->call), Verdict::remembered);
  EXPECT_EQ(late.calls(1, call_of(8)), outcome);

  // The member itself, and another one that has refused alike, learn that a member has called.
  for (const Rank rank : {Rank{1}, Rank{4}}) {
    TeamAgreement one(rank);
    EXPECT_TRUE(one.calls(1, refused));
    EXPECT_EQ(one.heard(0, 1, news->call), Verdict::broken);
    EXPECT_EQ(one.status(), outcome);
  }
  // A call that differs in more is a mismatch, whatever else a member lacked.
  TeamAgreement differs(5);
  ASSERT_TRUE(differs.calls(1, call_of(16)));
  EXPECT_EQ(differs.heard(1, 1, refused), Verdict::broken);
  EXPECT_EQ(differs.status(), Status(ErrorCode::mismatch, 1));
}

// It may not know for long whether the others have called, and its next call would show them another mark.
TEST(AgreementMemory, AMemberWithoutItMakesNoFurtherCall) {
  TeamAgreement agreement(2);
  ASSERT_TRUE(agreement.calls(1, call_of(8)));
  const CallDescription refused = coll::refused_call(call_of(8), ErrorCode::no_memory);
  const Status outcome(ErrorCode::no_memory, 2);
  {
    const NoMemory none;
    EXPECT_TRUE(agreement.calls(2, refused));
    const auto news = agreement.take_news();
    ASSERT_TRUE(news);
    EXPECT_TRUE(news->call == refused);
    agreement.lacked_memory();
  }
  EXPECT_EQ(agreement.broken_at(), 2u);
  EXPECT_EQ(agreement.status(), outcome);
  // Who has called tells the same; so does one that has refused alike.
  EXPECT_NE(agreement.heard(0, 2, coll::relayed_no_memory(2)), Verdict::broken);
  EXPECT_EQ(agreement.status(), outcome);
  EXPECT_NE(agreement.heard(1, 2, refused), Verdict::broken);
  EXPECT_EQ(agreement.status(), outcome);
  EXPECT_EQ(agreement.calls(3, call_of(8)), outcome);
}

// The others got `mismatch` there, and so did the member itself from its second call on.
TEST(FirstCallMemory, AMemberWithoutItIsNamedOnAllMembers) {
  Config config;
  for (const auto& [name, value] :
       {std::pair{"conduit", "loop"}, {"near", "off"}, {"segment_bytes", "4K"}, {"log", "off"}})
    ASSERT_TRUE(config.set(name, value));
  auto job = Job::in_process(4, config);
  ASSERT_TRUE(job);
  job->run_each([](Endpoint& ep) {
    auto team = ep.world().dup();
    ASSERT_TRUE(team);
    const auto sums = [&] {
      std::uint64_t word = 1;
      return all_reduce(*team, std::span(&word, 1), ReduceOp::sum);
    };
    const Status outcome(ErrorCode::no_memory, 2);
    if (ep.rank() == 2) {
      const NoMemory none;
      EXPECT_EQ(sums(), outcome);
    } else {
      EXPECT_EQ(sums(), outcome);
    }
    ASSERT_TRUE(ep.barrier());
    EXPECT_EQ(sums(), outcome);  // the later calls too
    std::uint64_t word = 1;
    ASSERT_TRUE(all_reduce(ep.world(), std::span(&word, 1), ReduceOp::sum));
    EXPECT_EQ(word, 4u);
    EXPECT_TRUE(team->end());
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job->finish());
}

// The refused call returns at once, and the next one waits until it is known what the others have done.
TEST(FirstCallMemory, ATeamWithoutItOnAllMembersGoesOn) {
  Config config;
  for (const auto& [name, value] :
       {std::pair{"conduit", "loop"}, {"near", "off"}, {"segment_bytes", "4K"}, {"log", "off"}})
    ASSERT_TRUE(config.set(name, value));
  auto job = Job::in_process(4, config);
  ASSERT_TRUE(job);
  std::atomic<int> refused{0};
  job->run_each([&](Endpoint& ep) {
    for (int round = 0; round < 4; ++round) {
      auto team = ep.world().dup();
      ASSERT_TRUE(team);
      std::uint64_t word = 1;
      const auto sum = [&] { return all_reduce(*team, std::span(&word, 1), ReduceOp::sum); };
      // One is late: the others may be in their next call, and wait there.
      const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      const bool is_late = ep.rank() == static_cast<Rank>(round);
      while (is_late && refused < 4 * round + 3 && std::chrono::steady_clock::now() < until) ep.progress();
      {
        const NoMemory none;
        EXPECT_EQ(sum(), Status(ErrorCode::no_memory, ep.rank()));
      }
      ++refused;
      if (round == 3) {
        ASSERT_TRUE(team->barrier());
      }
      ASSERT_TRUE(sum());
      EXPECT_EQ(word, 4u);
      ASSERT_TRUE(sum());
      EXPECT_EQ(word, 16u);
      EXPECT_TRUE(team->end());
      ASSERT_TRUE(ep.barrier());
    }
  });
  EXPECT_TRUE(job->finish());
}

/// `tuned`: the choice of an algorithm needs memory too.
void call_without_memory_and_at_once_again(bool tuned) {
  Config config;
  for (const auto& [name, value] :
       {std::pair{"conduit", "loop"}, {"near", "off"}, {"segment_bytes", "4K"}, {"log", "off"}})
    ASSERT_TRUE(config.set(name, value));
  auto job = Job::in_process(4, config);
  ASSERT_TRUE(job);
  std::atomic<bool> made_next{false};
  job->run_each([&](Endpoint& ep) {
    const Status outcome(ErrorCode::no_memory, 2);
    auto team = ep.world().dup();
    ASSERT_TRUE(team);
    std::uint64_t word = 1;
    if (tuned) {
      constexpr Collective kOperation = Collective::all_reduce;
      constexpr std::uint64_t kBytes = sizeof word;
      TuneOptions options;
      options.time = std::chrono::milliseconds(1);
      options.candidates = 1;
      options.type = ElementType::u64;
      ASSERT_TRUE(tune(*team, std::span(&kOperation, 1), std::span(&kBytes, 1), options));
      ASSERT_TRUE(ep.barrier());
    }
    if (ep.rank() == 2) {
      {
        const NoMemory none;
        EXPECT_EQ(all_reduce(*team, std::span(&word, 1), ReduceOp::sum), outcome);
      }
      // No other member has called yet, so none has told anything.
      Event next = all_reduce_nb(*team, std::span(&word, 1), ReduceOp::sum);
      EXPECT_TRUE(next.done());
      made_next = true;
      EXPECT_EQ(ep.wait(next), outcome);
    } else {
      const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      while (!made_next && std::chrono::steady_clock::now() < until) ep.progress();
      EXPECT_EQ(all_reduce(*team, std::span(&word, 1), ReduceOp::sum), outcome);
      EXPECT_EQ(all_reduce(*team, std::span(&word, 1), ReduceOp::sum), outcome);
    }
    ASSERT_TRUE(ep.barrier());
    EXPECT_TRUE(team->end());
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job->finish());
}

// The others took the mark of its next call for that of another call, and got `mismatch`, if it came before the news.
TEST(FirstCallMemory, ANextCallMadeAtOnceSendsNothing) { call_without_memory_and_at_once_again(false); }

TEST(FirstCallMemory, NorDoesOneAfterAChoiceWithoutMemory) { call_without_memory_and_at_once_again(true); }

}  // namespace
}  // namespace aqueduct::conduits::loop
