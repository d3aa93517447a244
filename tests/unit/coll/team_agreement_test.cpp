// Whether members make the same calls: descriptions, fingerprints, and what one member concludes from others' news.

#include <aqueduct/status.hpp>

#include "coll/engine/call_description.hpp"
#include "coll/engine/team_agreement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::coll {
namespace {

using testing::HasSubstr;
using testing::Not;

CallDescription sum_of(std::uint64_t bytes) {
  CallDescription call;
  call.operation = Collective::all_reduce;
  call.type = ElementType::f64;
  call.element = 8;
  call.bytes = bytes;
  return call;
}
CallDescription broadcast_of(std::uint64_t bytes, Rank root = 0) {
  CallDescription call;
  call.operation = Collective::broadcast;
  call.root = root;
  call.bytes = bytes;
  return call;
}
CallDescription refused(const CallDescription& call, ErrorCode code = ErrorCode::invalid_argument) {
  return refused_call(call, code);
}
/// Makes the same call several times.
void call_up_to(TeamAgreement& agreement, std::uint64_t last, const CallDescription& call) {
  for (std::uint64_t i = agreement.made() + 1; i <= last; ++i) ASSERT_TRUE(agreement.calls(i, call).ok());
}

TEST(CallDescriptions, HaveTexts) {
  EXPECT_EQ(text_of({}), "barrier");
  EXPECT_EQ(text_of(sum_of(8)), "all_reduce of 8 bytes (f64, sum)");
  EXPECT_EQ(text_of(sum_of(1)), "all_reduce of 1 byte (f64, sum)");
  EXPECT_EQ(text_of(broadcast_of(64, 3)), "broadcast of 64 bytes (root 3)");
  EXPECT_EQ(text_of(refused(broadcast_of(64, 9))),
            "broadcast of 64 bytes (root 9), refused with invalid_argument");
  CallDescription call = sum_of(24);
  call.type = ElementType::bytes;
  call.element = 24;
  call.op = ReduceOp::user;
  call.number = 7;
  call.order = ReduceOrder::exact;
  call.in = Sync::none;
  call.out = Sync::mine;
  EXPECT_EQ(
      text_of(call),
      "all_reduce of 24 bytes (elements of 24 bytes, operator 7 of the user, exact, in none, out mine)");
  call = sum_of(8);
  call.facts = CallDescription::kKnownPlaces;
  EXPECT_EQ(text_of(call), "all_reduce of 8 bytes (f64, sum, places on all members)");
  call.op = ReduceOp::user;
  call.number = 7;
  call.facts = CallDescription::kOrdered;
  EXPECT_EQ(text_of(call), "all_reduce of 8 bytes (f64, operator 7 of the user, not commutative)");
}

TEST(CallDescriptions, OfAnyBytesHaveATextAndAFingerprint) {
  std::mt19937 random(5);
  for (int i = 0; i < 10'000; ++i) {
    CallDescription call;
    unsigned char bytes[sizeof call];
    for (auto& one : bytes) one = static_cast<unsigned char>(random());
    std::memcpy(&call, bytes, sizeof call);
    EXPECT_LT(text_of(call).size(), 400u);
    EXPECT_NE(fingerprint(random(), call), 0u);
  }
}

TEST(CallDescriptions, ThatDifferHaveOtherFingerprints) {
  std::set<std::uint32_t> seen;
  std::size_t made = 0;
  const auto add = [&](std::uint64_t number, const CallDescription& call) {
    seen.insert(fingerprint(number, call));
    ++made;
  };
  for (std::uint64_t number = 1; number <= 100; ++number) {
    for (std::uint64_t bytes = 0; bytes < 10; ++bytes) {
      add(number, sum_of(bytes));
      add(number, broadcast_of(bytes, static_cast<Rank>(number % 3)));
    }
  }
  CallDescription call = sum_of(8);
  call.algorithm = 5;
  add(1, call);
  call.out = Sync::none;
  add(1, call);
  call.op = ReduceOp::max;
  add(1, call);
  EXPECT_GE(seen.size() + 1, made) << "more than one collision in some two thousand is not chance";
  EXPECT_EQ(fingerprint(3, call), fingerprint(3, call));
}

CallDescription bind_of(const CallDescription& call) {
  return call_about_plan(call, CallDescription::kBinds);
}
CallDescription end_of(const CallDescription& call) { return call_about_plan(call, CallDescription::kEnds); }

TEST(CallDescriptions, OfPlansAreOtherCalls) {
  EXPECT_EQ(text_of(bind_of(sum_of(8))), "bind of a plan of all_reduce of 8 bytes (f64, sum)");
  EXPECT_EQ(text_of(end_of(broadcast_of(64, 3))), "end of a plan of broadcast of 64 bytes (root 3)");
  EXPECT_NE(bind_of(sum_of(8)), sum_of(8));
  EXPECT_NE(bind_of(sum_of(8)), end_of(sum_of(8)));
  EXPECT_FALSE(is_silent(sum_of(8)));
  EXPECT_TRUE(is_silent(bind_of(sum_of(8))));
  EXPECT_TRUE(is_silent(end_of(sum_of(8))));
}

// Rank 1 binds and starts where rank 0 starts: rank 1 sees a wrong counter in its call 2, and rank 0 waits in its call 1.
TEST(Agreement, BreaksAtABindThatAMemberHasNotMade) {
  TeamAgreement binder(1), starter(0);
  ASSERT_TRUE(binder.calls(1, bind_of(sum_of(8))).ok());
  ASSERT_TRUE(binder.calls(2, sum_of(8)).ok());
  ASSERT_TRUE(starter.calls(1, sum_of(8)).ok());
  EXPECT_EQ(binder.saw_other(2, kNoRank).code(), ErrorCode::mismatch);
  const auto seen = binder.take_news();
  ASSERT_TRUE(seen);
  EXPECT_EQ(starter.heard(1, seen->number, seen->call), Verdict::remembered);
  const auto silent = binder.silent_before(2);
  ASSERT_TRUE(silent);
  EXPECT_EQ(silent->number, 1u);
  EXPECT_FALSE(binder.silent_before(2)) << "it is told once";
  EXPECT_EQ(starter.heard(1, silent->number, silent->call), Verdict::broken);
  EXPECT_EQ(
      starter.why(),
      "call 1 of the team: rank 1 has called bind of a plan of all_reduce of 8 bytes (f64, sum); rank 0 "
      "has called all_reduce of 8 bytes (f64, sum)");
  EXPECT_EQ(starter.broken_at(), 1u);
  const auto answer = starter.take_news();
  ASSERT_TRUE(answer);
  EXPECT_EQ(binder.heard(0, answer->number, answer->call), Verdict::broken) << "at an earlier call";
  EXPECT_EQ(binder.broken_at(), 1u);
  EXPECT_THAT(binder.why(), HasSubstr("rank 1 has called bind of a plan of all_reduce"));
}

TEST(Agreement, IsNotBrokenByABindThatAllHaveMade) {
  TeamAgreement agreement(0);
  ASSERT_TRUE(agreement.calls(1, bind_of(sum_of(8))).ok());
  EXPECT_EQ(agreement.heard(1, 1, bind_of(sum_of(8))), Verdict::agrees);
  EXPECT_EQ(agreement.heard(1, 2, end_of(sum_of(8))), Verdict::remembered);
  ASSERT_TRUE(agreement.calls(2, end_of(sum_of(8))).ok());
  EXPECT_FALSE(agreement.broken());
  EXPECT_FALSE(agreement.take_news());
  ASSERT_TRUE(agreement.calls(3, sum_of(8)).ok());
  EXPECT_FALSE(agreement.silent_before(3) && agreement.silent_before(2) && agreement.silent_before(1))
      << "before call 1 is none";
}

TEST(Agreement, OfEqualCallsIsUnbroken) {
  TeamAgreement agreement(0);
  call_up_to(agreement, 1000, sum_of(8));
  EXPECT_FALSE(agreement.broken());
  EXPECT_EQ(agreement.made(), 1000u);
  EXPECT_EQ(*agreement.call_of(agreement.made()), sum_of(8));
  EXPECT_FALSE(agreement.take_news());
  EXPECT_TRUE(agreement.status().ok());
  EXPECT_EQ(agreement.why(), "");
}

TEST(Agreement, RemembersQuietCallsAlsoWhenTheirDescriptionIsGone) {
  TeamAgreement agreement(0);
  CallDescription described = sum_of(8);
  ASSERT_TRUE(agreement.calls(1, sum_of(8)).ok());
  EXPECT_EQ(agreement.calls_quietly(described), 2u);
  ASSERT_TRUE(agreement.calls(3, broadcast_of(8)).ok());
  EXPECT_EQ(agreement.calls_quietly(described), 4u);
  EXPECT_EQ(*agreement.call_of(agreement.made()), sum_of(8));
  agreement.forget(described);
  described = sum_of(16);
  EXPECT_EQ(*agreement.call_of(agreement.made()), sum_of(8));
  EXPECT_EQ(agreement.heard(1, 2, sum_of(16)), Verdict::broken);
  EXPECT_EQ(agreement.broken_at(), 2u);
  const auto news = agreement.take_news();
  ASSERT_TRUE(news);
  EXPECT_EQ(news->number, 2u);
  EXPECT_EQ(news->call, sum_of(8));
  EXPECT_EQ(agreement.heard(1, 2, sum_of(16)), Verdict::known);
  EXPECT_FALSE(agreement.take_news()) << "all know of it";
}

TEST(Agreement, BreaksWhenAMemberTellsOfAnotherCall) {
  TeamAgreement agreement(0);
  call_up_to(agreement, 6, broadcast_of(8));
  ASSERT_TRUE(agreement.calls(7, broadcast_of(64)).ok());
  EXPECT_EQ(agreement.heard(2, 7, sum_of(8)), Verdict::broken);
  EXPECT_EQ(agreement.why(),
            "call 7 of the team: rank 2 has called all_reduce of 8 bytes (f64, sum); rank 0 has called "
            "broadcast of 64 bytes (root 0)");
  EXPECT_EQ(agreement.status(), Status(ErrorCode::mismatch, 2));
  EXPECT_EQ(agreement.broken_at(), 7u);
  const auto news = agreement.take_news();
  ASSERT_TRUE(news);
  EXPECT_EQ(news->number, 7u);
  EXPECT_EQ(news->call, broadcast_of(64));
  EXPECT_FALSE(agreement.take_news());
  // The same number again: nothing is told twice.
  EXPECT_EQ(agreement.heard(3, 7, sum_of(8)), Verdict::known);
  EXPECT_FALSE(agreement.take_news());
  EXPECT_EQ(agreement.calls(8, sum_of(8)), Status(ErrorCode::mismatch, 2));
  EXPECT_FALSE(agreement.take_news());
}

TEST(Agreement, RemembersNewsUntilTheCall) {
  TeamAgreement agreement(1);
  EXPECT_EQ(agreement.heard(2, 3, sum_of(8)), Verdict::remembered);
  EXPECT_EQ(agreement.heard(0, 2, refused(broadcast_of(8, 9))), Verdict::remembered);
  EXPECT_TRUE(agreement.calls(1, sum_of(8)).ok());
  EXPECT_FALSE(agreement.broken());
  EXPECT_EQ(agreement.calls(2, broadcast_of(8, 1)), Status(ErrorCode::mismatch, 0));
  EXPECT_EQ(agreement.why(),
            "call 2 of the team: rank 0 has refused broadcast of 8 bytes (root 9), with invalid_argument; "
            "rank 1 has called broadcast of 8 bytes (root 1)");
  const auto news = agreement.take_news();
  ASSERT_TRUE(news) << "the member that has refused must learn of it";
  EXPECT_EQ(news->call, broadcast_of(8, 1));
  EXPECT_EQ(agreement.broken_at(), 2u);
}

TEST(Agreement, IsUnbrokenIfAllRefuseAlike) {
  TeamAgreement agreement(0);
  const CallDescription bad = refused(broadcast_of(8, 9));
  EXPECT_EQ(agreement.heard(1, 1, bad), Verdict::remembered);
  EXPECT_TRUE(agreement.calls(1, bad).ok());
  ASSERT_TRUE(agreement.take_news()) << "the others may have called";
  EXPECT_EQ(agreement.heard(2, 1, bad), Verdict::agrees);
  EXPECT_FALSE(agreement.take_news());
  EXPECT_TRUE(agreement.calls(2, sum_of(8)).ok());
  EXPECT_FALSE(agreement.broken());
}

TEST(Agreement, BreaksIfAllRefuseButNotAlike) {
  TeamAgreement agreement(0);
  EXPECT_TRUE(agreement.calls(1, refused(broadcast_of(8, 9))).ok());
  EXPECT_EQ(agreement.heard(2, 1, refused(broadcast_of(8, 10))), Verdict::broken);
  EXPECT_THAT(agreement.why(), HasSubstr("rank 2 has refused broadcast of 8 bytes (root 10)"));
  EXPECT_THAT(agreement.why(), HasSubstr("rank 0 has refused broadcast of 8 bytes (root 9)"));
}

TEST(Agreement, OfAMemberThatHasRefusedBreaksWhenAnotherHasCalled) {
  TeamAgreement agreement(0);
  EXPECT_TRUE(agreement.calls(1, refused(broadcast_of(8, 9))).ok());
  ASSERT_TRUE(agreement.take_news());
  EXPECT_TRUE(agreement.calls(2, sum_of(8)).ok());
  EXPECT_EQ(agreement.heard(1, 1, broadcast_of(8, 0)), Verdict::broken);
  EXPECT_FALSE(agreement.take_news()) << "told already";
  EXPECT_EQ(agreement.calls(3, sum_of(8)), Status(ErrorCode::mismatch, 1));
}

// The sender has seen that a third member disagrees.
TEST(Agreement, BreaksWhenAMemberTellsOfTheSameCallAndImprovesTheTextLater) {
  TeamAgreement agreement(0);
  ASSERT_TRUE(agreement.calls(1, sum_of(8)).ok());
  EXPECT_EQ(agreement.heard(2, 1, sum_of(8)), Verdict::broken);
  EXPECT_EQ(agreement.why(),
            "call 1 of the team: rank 2 has called all_reduce of 8 bytes (f64, sum); so has rank 0; a member "
            "has made another call");
  EXPECT_EQ(agreement.status(), Status(ErrorCode::mismatch));
  EXPECT_FALSE(agreement.take_news()) << "rank 2 has told all of this call";
  EXPECT_EQ(agreement.heard(1, 1, broadcast_of(8)), Verdict::clearer);
  EXPECT_THAT(agreement.why(), HasSubstr("rank 1 has called broadcast of 8 bytes"));
  EXPECT_EQ(agreement.status(), Status(ErrorCode::mismatch, 1));
  EXPECT_EQ(agreement.heard(3, 1, broadcast_of(9)), Verdict::known);
}

TEST(Agreement, BreaksByAWrongFingerprint) {
  TeamAgreement agreement(4);
  ASSERT_TRUE(agreement.calls(1, sum_of(8)).ok());
  EXPECT_EQ(agreement.saw_other(1, kNoRank), Status(ErrorCode::mismatch));
  EXPECT_EQ(agreement.why(),
            "call 1 of the team: rank 4 has called all_reduce of 8 bytes (f64, sum); a member has made "
            "another call");
  const auto news = agreement.take_news();
  ASSERT_TRUE(news);
  EXPECT_EQ(news->call, sum_of(8));
  EXPECT_EQ(agreement.saw_other(1, 3), Status(ErrorCode::mismatch));
  EXPECT_FALSE(agreement.take_news());
  EXPECT_EQ(agreement.heard(3, 1, broadcast_of(8)), Verdict::clearer);
  EXPECT_FALSE(agreement.take_news());
}

// On a board a member may be many calls ahead. Those that are not must learn of it, or they wait for ever.
TEST(Agreement, BrokenByAForgottenCallIsToldOnce) {
  TeamAgreement ahead(0), behind(1);
  call_up_to(ahead, 40, broadcast_of(8));
  ASSERT_TRUE(behind.calls(1, broadcast_of(64)).ok());
  EXPECT_EQ(ahead.saw_other(1, kNoRank), Status(ErrorCode::mismatch));
  EXPECT_EQ(ahead.broken_at(), 1u);
  EXPECT_THAT(ahead.why(), HasSubstr("rank 0 does not remember its own call"));
  const auto news = ahead.take_news();
  ASSERT_TRUE(news);
  EXPECT_EQ(news->number, 1u);
  EXPECT_EQ(ahead.saw_other(1, kNoRank), Status(ErrorCode::mismatch));
  EXPECT_FALSE(ahead.take_news());
  EXPECT_EQ(behind.heard(0, news->number, news->call), Verdict::broken);
  EXPECT_EQ(behind.status(), Status(ErrorCode::mismatch)) << "it may be any member's";
  EXPECT_EQ(
      behind.why(),
      "call 1 of the team: rank 0 has seen that the members' calls differ; rank 1 has called broadcast of 64 "
      "bytes (root 0)");
  const auto answer = behind.take_news();
  ASSERT_TRUE(answer);
  EXPECT_EQ(ahead.heard(1, answer->number, answer->call), Verdict::known);
  EXPECT_FALSE(ahead.take_news());
}

TEST(Agreement, SaysWhatDiffersIfOnlyTheAlgorithmsDo) {
  TeamAgreement agreement(0);
  CallDescription mine = sum_of(8), theirs = sum_of(8);
  mine.algorithm = 5;
  theirs.algorithm = 6;
  ASSERT_TRUE(agreement.calls(1, mine).ok());
  EXPECT_EQ(agreement.heard(1, 1, theirs), Verdict::broken);
  EXPECT_THAT(agreement.why(), HasSubstr("different algorithms or pieces: give all ranks the same"));
}

// The algorithms differ too, but they are not the reason.
TEST(Agreement, SaysWhatDiffersIfBuffersOrOperatorsAreOfAnotherKind) {
  for (const std::uint8_t fact :
       {CallDescription::kKnownPlaces, CallDescription::kOrdered, CallDescription::kSourcesKnown}) {
    TeamAgreement agreement(0);
    CallDescription mine = sum_of(8), theirs = sum_of(8);
    mine.op = theirs.op = ReduceOp::user;
    mine.algorithm = 5;
    theirs.algorithm = 6;
    theirs.facts = fact;
    ASSERT_TRUE(agreement.calls(1, mine).ok());
    EXPECT_EQ(agreement.heard(1, 1, theirs), Verdict::broken);
    EXPECT_THAT(agreement.why(), Not(HasSubstr("different algorithms")));
    EXPECT_THAT(agreement.why(), HasSubstr(fact == CallDescription::kKnownPlaces ? "places on all members"
                                           : fact == CallDescription::kOrdered   ? "not commutative"
                                                                                 : "sources known"));
  }
}

TEST(Agreement, WithAnOldCallSaysOnlyTheirs) {
  TeamAgreement agreement(0);
  call_up_to(agreement, TeamAgreement::kKept + 1, sum_of(8));
  EXPECT_EQ(agreement.heard(1, 1, refused(broadcast_of(8, 9))), Verdict::broken);
  EXPECT_THAT(agreement.why(), HasSubstr("rank 1 has refused broadcast of 8 bytes (root 9)"));
  EXPECT_THAT(agreement.why(), Not(HasSubstr("all_reduce")));
  const auto news = agreement.take_news();
  ASSERT_TRUE(news);
  // The member that has refused learns that this one has not.
  TeamAgreement other(1);
  ASSERT_TRUE(other.calls(1, refused(broadcast_of(8, 9))).ok());
  EXPECT_EQ(other.heard(0, 1, news->call), Verdict::broken);
  EXPECT_THAT(other.why(), HasSubstr("rank 0 has seen that the members' calls differ"));
}

TEST(Agreement, OnOldRefusalsIsUnbroken) {
  TeamAgreement agreement(0);
  const CallDescription bad = refused(broadcast_of(8, 9));
  call_up_to(agreement, 1000, bad);
  for (std::uint64_t number = 1; number <= 1000; ++number)
    EXPECT_EQ(agreement.heard(1, number, bad), Verdict::agrees) << number;
  ASSERT_TRUE(agreement.calls(1001, sum_of(8)).ok());
  EXPECT_FALSE(agreement.broken());
}

TEST(Agreement, KeepsNewsOfTheNextCallsIfThereIsTooMuch) {
  TeamAgreement agreement(0);
  const CallDescription bad = refused(broadcast_of(8, 9));
  for (std::uint64_t number = 1000; number >= 1; --number)
    EXPECT_EQ(agreement.heard(1, number, bad), Verdict::remembered);
  call_up_to(agreement, TeamAgreement::kMostHeard - 1, bad);
  EXPECT_FALSE(agreement.calls(TeamAgreement::kMostHeard, sum_of(8)).ok());
}

TEST(Agreement, KnowsWhetherACallDiffersFromItsOwn) {
  TeamAgreement agreement(0);
  const auto differs = [&](std::uint64_t number, const CallDescription& theirs) {
    const CallDescription* const mine = agreement.call_of(number);
    return mine != nullptr && TeamAgreement::differ(*mine, theirs);
  };
  ASSERT_TRUE(agreement.calls(1, sum_of(8)));
  ASSERT_TRUE(agreement.calls(2, broadcast_of(8)));
  EXPECT_FALSE(differs(1, sum_of(8)));
  EXPECT_TRUE(differs(1, broadcast_of(8)));
  EXPECT_TRUE(differs(2, broadcast_of(8, 1)));
  EXPECT_FALSE(differs(0, sum_of(8))) << "no call";
  EXPECT_FALSE(differs(3, sum_of(8))) << "not made yet";
  EXPECT_FALSE(differs(1, refused(broadcast_of(8)))) << "its member tells by itself";
  call_up_to(agreement, 1 + TeamAgreement::kKept, broadcast_of(8));
  EXPECT_FALSE(differs(1, broadcast_of(8))) << "forgotten";
  EXPECT_FALSE(agreement.broken());
}

TEST(Agreement, OfAnImpossibleNumberIsUnbroken) {
  TeamAgreement agreement(0);
  EXPECT_EQ(agreement.heard(1, 0, sum_of(8)), Verdict::agrees);
  EXPECT_EQ(agreement.heard(1, UINT64_MAX, sum_of(8)), Verdict::remembered);
  call_up_to(agreement, 100, sum_of(8));
  EXPECT_FALSE(agreement.broken());
}

TEST(Agreement, ThatIsBrokenTwiceSaysWhereItBegan) {
  TeamAgreement agreement(0);
  call_up_to(agreement, 9, sum_of(8));
  EXPECT_EQ(agreement.heard(1, 9, sum_of(16)), Verdict::broken);
  EXPECT_EQ(agreement.heard(2, 5, sum_of(32)), Verdict::broken);
  EXPECT_EQ(agreement.broken_at(), 5u);
  EXPECT_THAT(agreement.why(), HasSubstr("call 5 of the team: rank 2"));
  EXPECT_EQ(agreement.heard(1, 8, sum_of(16)), Verdict::known);
  EXPECT_THAT(agreement.why(), HasSubstr("call 5"));
}

/// Members that tell one another, in any order of delivery.
struct World {
  struct Message {
    Rank from, to;
    CallNews news;
  };
  explicit World(Rank ranks) {
    for (Rank rank = 0; rank < ranks; ++rank) members.emplace_back(rank, ranks);
  }
  void spread(Rank from) {
    if (const auto news = members[from].take_news()) {
      for (Rank to = 0; to < members.size(); ++to) {
        if (to != from) messages.push_back({from, to, *news});
      }
    }
  }
  void call(Rank rank, const CallDescription& call) {
    static_cast<void>(members[rank].calls(members[rank].made() + 1, call));
    spread(rank);
  }
  void deliver(std::size_t which) {
    const Message message = messages[which];
    messages.erase(messages.begin() + static_cast<std::ptrdiff_t>(which));
    static_cast<void>(members[message.to].heard(message.from, message.news.number, message.news.call));
    spread(message.to);
    ++delivered;
  }
  std::vector<TeamAgreement> members;
  std::deque<Message> messages;
  std::size_t delivered = 0;
};

// Calls that members refuse, and calls of another kind, at random: in the end all members are broken, or none.
TEST(Agreement, OfAllMembersHasTheSameOutcome) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 2000; ++round) {
    const Rank ranks = 2 + static_cast<Rank>(random() % 5);
    const std::uint64_t calls = 1 + random() % 6;
    World world(ranks);
    std::vector<std::vector<CallDescription>> program(ranks);
    bool refused_by_some = false;
    for (std::uint64_t number = 1; number <= calls; ++number) {
      const bool all_refuse = random() % 3 == 0;
      const Rank odd = random() % 3 == 0 ? static_cast<Rank>(random() % ranks) : kNoRank;
      refused_by_some = refused_by_some || odd != kNoRank;
      for (Rank rank = 0; rank < ranks; ++rank) {
        const bool refuses = all_refuse != (rank == odd);
        program[rank].push_back(refuses ? refused(broadcast_of(8, 9)) : broadcast_of(8));
      }
    }
    while (true) {
      std::vector<Rank> behind;
      for (Rank rank = 0; rank < ranks; ++rank) {
        if (world.members[rank].made() < calls) behind.push_back(rank);
      }
      if (behind.empty() && world.messages.empty()) break;
      if (!behind.empty() && (world.messages.empty() || random() % 2 == 0)) {
        const Rank rank = behind[random() % behind.size()];
        world.call(rank, program[rank][world.members[rank].made()]);
      } else {
        world.deliver(random() % world.messages.size());
      }
    }
    for (Rank rank = 0; rank < ranks; ++rank)
      ASSERT_EQ(world.members[rank].broken(), refused_by_some) << "round " << round << ", rank " << rank;
    EXPECT_LE(world.delivered, calls * ranks * (ranks - 1)) << "each number is told once";
  }
}

// Some members have no memory for a call that the others make: in whatever order news arrives, all have the same error, which
// names one of these.
TEST(Agreement, OfAllMembersNamesOneThatHadNoMemory) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 2000; ++round) {
    const Rank ranks = 2 + static_cast<Rank>(random() % 5);
    const std::uint64_t calls = 1 + random() % 4;
    const std::uint32_t lacking =
        1 + static_cast<std::uint32_t>(random() % ((1u << ranks) - 2));  // a bit each
    World world(ranks);
    while (true) {
      std::vector<Rank> behind;
      for (Rank rank = 0; rank < ranks; ++rank) {
        if (world.members[rank].made() < calls) behind.push_back(rank);
      }
      if (behind.empty() && world.messages.empty()) break;
      if (!behind.empty() && (world.messages.empty() || random() % 2 == 0)) {
        const Rank rank = behind[random() % behind.size()];
        const bool refuses = world.members[rank].made() + 1 == calls && (lacking >> rank & 1) != 0;
        world.call(rank, refuses ? refused(broadcast_of(8), ErrorCode::no_memory) : broadcast_of(8));
      } else {
        world.deliver(random() % world.messages.size());
      }
    }
    for (Rank rank = 0; rank < ranks; ++rank) {
      const Status status = world.members[rank].status();
      ASSERT_EQ(status.code(), ErrorCode::no_memory) << "round " << round << ", rank " << rank;
      ASSERT_LT(status.peer(), ranks);
      EXPECT_NE(lacking >> status.peer() & 1, 0u) << "round " << round << ", rank " << rank;
    }
    EXPECT_LE(world.delivered, calls * ranks * (ranks - 1)) << "each number is told once";
  }
}

// Members make no further call until they know whether all lacked memory for the last one. If so, the team goes on.
TEST(Agreement, GoesOnIfNoMemberHadMemory) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 2000; ++round) {
    const Rank ranks = 2 + static_cast<Rank>(random() % 5);
    const std::uint64_t calls = 1 + random() % 4;
    const std::uint32_t all = (1u << ranks) - 1;
    const std::uint32_t lacking = round % 2 == 0 ? all : 1 + static_cast<std::uint32_t>(random() % all);
    World world(ranks);
    while (true) {
      std::vector<Rank> behind;
      for (Rank rank = 0; rank < ranks; ++rank) {
        if (world.members[rank].made() < calls) behind.push_back(rank);
      }
      if (behind.empty() && world.messages.empty()) break;
      if (!behind.empty() && (world.messages.empty() || random() % 2 == 0)) {
        const Rank rank = behind[random() % behind.size()];
        const bool refuses = world.members[rank].made() + 1 == calls && (lacking >> rank & 1) != 0;
        world.call(rank, refuses ? refused(broadcast_of(8), ErrorCode::no_memory) : broadcast_of(8));
        if (refuses) world.members[rank].lacked_memory();
      } else {
        world.deliver(random() % world.messages.size());
      }
    }
    for (Rank rank = 0; rank < ranks; ++rank) {
      TeamAgreement& member = world.members[rank];
      EXPECT_FALSE(member.in_doubt());
      ASSERT_EQ(member.broken(), lacking != all) << "round " << round << ", rank " << rank;
      EXPECT_EQ(member.calls(calls + 1, sum_of(8)).code(),
                lacking != all ? ErrorCode::no_memory : ErrorCode::ok);
    }
  }
}

// One member has seen a wrong fingerprint: all learn of it, and those whose calls differ are named.
TEST(Agreement, IsBrokenOnAllOnceAMemberHasSeenAnotherCall) {
  for (const Rank ranks : {Rank{2}, Rank{3}, Rank{9}}) {
    World world(ranks);
    const Rank odd = ranks - 1;
    for (Rank rank = 0; rank < ranks; ++rank) world.call(rank, rank == odd ? sum_of(8) : broadcast_of(64));
    EXPECT_FALSE(world.members[0].saw_other(1, kNoRank).ok());
    world.spread(0);
    while (!world.messages.empty()) world.deliver(0);
    for (const TeamAgreement& member : world.members) {
      EXPECT_TRUE(member.broken());
      EXPECT_THAT(member.why(), HasSubstr("all_reduce of 8 bytes"));
      EXPECT_THAT(member.why(), HasSubstr("broadcast of 64 bytes"));
    }
    EXPECT_EQ(world.delivered, 2 * (ranks - 1)) << "the first member and the odd one tell all";
  }
}

}  // namespace
}  // namespace aqueduct::coll
