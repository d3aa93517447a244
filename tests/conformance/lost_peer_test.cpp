#include <aqueduct/segment.hpp>

#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"
#include "tests/conformance/shared.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <utility>

#include <sys/time.h>

namespace aqueduct::conformance {
namespace {

/// A rank that dies soon fails the operations addressed to it and the teams that it is in, and nothing else.
class LostPeer : public FabricTest {
 protected:
  /// Three ranks, of which rank 2 dies in its body.
  void run_with_a_death(const Body& body) {
    if (!fabric().process_each()) GTEST_SKIP() << "a rank of a shared process cannot die alone";
    run({.ranks = 3, .segment_bytes = 64 * 1024, .leaving = {2}}, body);
  }
};

constexpr Rank kVictim = 2;
constexpr std::chrono::seconds kBound{2};  // specified: issue 2

/// When the victim leaves, all others have passed this point. What a rank
/// sends just before it dies may be lost with it.
void assemble(Endpoint& me) {
  ASSERT_TRUE(me.barrier());
  if (me.rank() == kVictim) {
    ASSERT_TRUE(wait_until(me, 30, 2, kAnyRank, std::chrono::seconds(10)));
  } else {
    static_cast<void>(signal(me, kVictim, {30, 1}));  // the victim may die before it has answered
  }
}

/// Checks that the survivors can go on: all operations between them work, and a team of theirs does.
void survivors_go_on(Endpoint& me) {
  const Rank other = 1 - me.rank();
  const auto sent = pattern(me.rank(), 30'000);
  ASSERT_TRUE(put_signal(me, GlobalPtr<std::byte>{other, 0}, sent, {20, 1}));
  ASSERT_TRUE(wait_until(me, 20, 1, other, std::chrono::seconds(10)));
  EXPECT_TRUE(holds(me.segment().first(30'000), pattern(other, 30'000)));
  ASSERT_TRUE(fetch_add(me, GlobalPtr<std::uint64_t>{other, 40'000}, 1));
  ASSERT_TRUE(signal(me, other, {21, 1}));
  ASSERT_TRUE(wait_until(me, 21, 1, other, std::chrono::seconds(10)));
}

void expect_lost_in_time(const Status& status, std::chrono::steady_clock::time_point since) {
  EXPECT_EQ(status.code(), ErrorCode::peer_lost) << status.text();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - since;
  EXPECT_LT(took, kBound) << "it took " << took.count() << " s";
}

TEST_P(LostPeer, KilledEndsTheBarrierOfTheOthers) {
  run_with_a_death([](Endpoint& me) {
    ASSERT_NO_FATAL_FAILURE(assemble(me));
    if (me.rank() == kVictim) std::raise(SIGKILL);
    const auto since = std::chrono::steady_clock::now();
    expect_lost_in_time(me.barrier(), since);
    EXPECT_TRUE(me.is_lost(kVictim));
    EXPECT_FALSE(me.is_lost(1 - me.rank()));
    expect_lost_in_time(me.barrier(), std::chrono::steady_clock::now());
    ASSERT_NO_FATAL_FAILURE(survivors_go_on(me));
  });
}

TEST_P(LostPeer, FailsABarrierBegunAfterwardsThoughItHadArrivedThere) {
  run_with_a_death([](Endpoint& me) {
    ASSERT_NO_FATAL_FAILURE(assemble(me));
    if (me.rank() == kVictim) {
      ASSERT_TRUE(me.world().notify());
      const auto sent = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
      while (std::chrono::steady_clock::now() < sent) me.progress();
      std::raise(SIGKILL);
    }
    const auto since = std::chrono::steady_clock::now();
    expect_lost_in_time(wait_until(me, 0, 1, kVictim, std::chrono::seconds(20)), since);
    expect_lost_in_time(me.barrier(), std::chrono::steady_clock::now());
    ASSERT_NO_FATAL_FAILURE(survivors_go_on(me));
  });
}

TEST_P(LostPeer, ThatReturnsWithoutFinishIsLostToo) {
  run_with_a_death([](Endpoint& me) {
    ASSERT_NO_FATAL_FAILURE(assemble(me));
    if (me.rank() == kVictim) std::_Exit(3);
    const auto since = std::chrono::steady_clock::now();
    expect_lost_in_time(me.barrier(), since);
    ASSERT_NO_FATAL_FAILURE(survivors_go_on(me));
  });
}

TEST_P(LostPeer, EndsAWaitForItsSignalAndNotOneForAnother) {
  run_with_a_death([](Endpoint& me) {
    ASSERT_NO_FATAL_FAILURE(assemble(me));
    if (me.rank() == kVictim) std::raise(SIGKILL);
    const auto since = std::chrono::steady_clock::now();
    const auto limit = std::chrono::seconds(20);
    expect_lost_in_time(wait_until(me, 0, 1, kVictim, limit), since);
    expect_lost_in_time(wait_until(me, 0, 1, kAnyRank, limit), std::chrono::steady_clock::now());
    EXPECT_EQ(wait_until(me, 0, 1, 1 - me.rank(), std::chrono::milliseconds(50)).code(),
              ErrorCode::timed_out);
    ASSERT_NO_FATAL_FAILURE(survivors_go_on(me));
  });
}

TEST_P(LostPeer, ASignalThatArrivedBeforeTheLossCounts) {
  run_with_a_death([](Endpoint& me) {
    if (me.rank() == kVictim) {
      for (Rank to = 0; to < 2; ++to) ASSERT_TRUE(signal(me, to, {4, 9}));
    }
    ASSERT_NO_FATAL_FAILURE(assemble(me));
    if (me.rank() == kVictim) std::raise(SIGKILL);
    ASSERT_TRUE(progress_until(me, [&] { return me.is_lost(kVictim) || !me.barrier(); }));
    EXPECT_TRUE(wait_until(me, 4, 9, kVictim, std::chrono::seconds(1)));
    ASSERT_NO_FATAL_FAILURE(survivors_go_on(me));
  });
}

// Where the victim's memory is mapped, the atomics alone never look for losses (docs/errors.md).
TEST_P(LostPeer, EndsALoopOfAtomicsOnItsMemoryThatMakesProgress) {
  run_with_a_death([](Endpoint& me) {
    ASSERT_NO_FATAL_FAILURE(assemble(me));
    if (me.rank() == kVictim) std::raise(SIGKILL);
    const auto since = std::chrono::steady_clock::now();
    Status status;
    while (status.ok() && std::chrono::steady_clock::now() - since < std::chrono::seconds(20)) {
      // As who tries to take a lock that the victim has.
      status = compare_swap(me, GlobalPtr<std::uint64_t>{kVictim, 48'000}, 1, 2).status();
      me.progress();
    }
    expect_lost_in_time(status, since);
    ASSERT_NO_FATAL_FAILURE(survivors_go_on(me));
  });
}

struct Board {
  std::atomic<int> busy{0};
};

TEST_P(LostPeer, InTheMiddleOfPutsAndMessagesHoldsNobodyUp) {
  Shared<Board> board;
  run_with_a_death([&board](Endpoint& me) {
    std::uint64_t handled = 0;
    const auto handler = on_short_request<NoArguments>(me, [&](auto&, const NoArguments&) { ++handled; });
    ASSERT_TRUE(handler);
    ASSERT_TRUE(me.barrier());
    if (me.rank() == kVictim) {
      ASSERT_TRUE(progress_until(me, [&] { return board->busy.load() == 2; }));
      std::raise(SIGKILL);
    }
    const auto sent = pattern(me.rank(), 5000);
    std::uint64_t turns = 0;
    const auto lost_by_now = [&] {
      // A put to mapped memory of the victim still works; a message never does.
      const Status message = request(me, kVictim, *handler);
      const Status put = put_nbi(me, GlobalPtr<std::byte>{kVictim, 5000 * me.rank()}, sent);
      if (++turns == 50) board->busy.fetch_add(1);
      EXPECT_TRUE(message || message.code() == ErrorCode::peer_lost) << message.text();
      EXPECT_TRUE(put || put.code() == ErrorCode::peer_lost) << put.text();
      return !message;
    };
    ASSERT_TRUE(progress_until(me, lost_by_now, std::chrono::seconds(20)));
    const Status rest = me.wait_implicit();
    EXPECT_TRUE(rest || rest.code() == ErrorCode::peer_lost) << rest.text();
    ASSERT_NO_FATAL_FAILURE(survivors_go_on(me));
  });
}

/// Runs operations of every kind until the victim's loss shows. They use other memory than survivors_go_on, because
/// what the victim has sent may arrive late.
Status exchange_until_lost(Endpoint& me, MediumRequest<NoArguments> handler, Random& random, bool gets) {
  std::vector<std::byte> bytes(20'000);
  constexpr std::uint64_t kPlace = 44'000;
  const GlobalPtr<std::uint64_t> counter{0, 64'000};
  while (!me.is_lost(kVictim)) {
    const Rank to = static_cast<Rank>(random.below(me.ranks()));
    const auto some = std::span(bytes).first(1 + random.below(bytes.size()));
    Status done;
    switch (random.below(6)) {
      case 0: done = put(me, GlobalPtr<std::byte>{to, kPlace}, some); break;
      case 1:
        done = put_nbi(me, GlobalPtr<std::byte>{to, kPlace}, some, {.source = SourceReuse::at_return});
        break;
      case 2:
        if (gets) done = get(me, some, GlobalPtr<std::byte>{to, kPlace});
        break;
      case 3: {
        const std::size_t most = std::min<std::size_t>(500, am_limits(me, to).medium);
        done = request(me, to, handler, {}, some.first(std::min(some.size(), most)));
        break;
      }
      case 4: done = fetch_add(me, counter.on(to), 1).status(); break;
      default: done = me.wait_implicit();
    }
    if (!done) return done;
  }
  return {ErrorCode::peer_lost, kVictim};
}

// The alarm kills the victim at any instruction, perhaps while it sends something to the others.
TEST_P(LostPeer, KilledAtAnyMomentTwentyTimes) {
  if (fabric().outlived == Fabric::Outlived::little)
    GTEST_SKIP() << "the library below ends the program, see the document of the conduit";
  const bool gets = fabric().outlived != Fabric::Outlived::all_but_gets;
  Random moments(seed());
  for (int round = 0; round < often(20) && !testing::Test::IsSkipped() && !HasFailure(); ++round) {
    const auto moment = static_cast<suseconds_t>(1 + moments.below(20'000));
    run_with_a_death([moment, gets, seed = seed() + static_cast<std::uint64_t>(round)](Endpoint& me) {
      const auto handler = on_medium_request<NoArguments>(me, [](auto&, const NoArguments&, auto) {});
      ASSERT_TRUE(handler);
      ASSERT_NO_FATAL_FAILURE(assemble(me));
      if (me.rank() == kVictim) {
        const itimerval once{{0, 0}, {0, moment}};
        ASSERT_EQ(::setitimer(ITIMER_REAL, &once, nullptr), 0);
      }
      Random random(seed + me.rank());
      const Status status = exchange_until_lost(me, *handler, random, gets);
      ASSERT_NE(me.rank(), kVictim) << status.text();
      EXPECT_EQ(status.code(), ErrorCode::peer_lost) << status.text();
      const auto noticed = std::chrono::steady_clock::now();
      const Status rest = me.wait_implicit();
      EXPECT_TRUE(rest || rest.code() == ErrorCode::peer_lost) << rest.text();
      expect_lost_in_time(me.barrier(), noticed);
      ASSERT_NO_FATAL_FAILURE(survivors_go_on(me));
    });
  }
}

TEST_P(LostPeer, FailsItsTeamsAndNotOthers) {
  run_with_a_death([](Endpoint& me) {
    auto survivors = me.world().split(me.rank() == kVictim ? 1 : 0, 0);
    ASSERT_TRUE(survivors && survivors->has_value());
    ASSERT_NO_FATAL_FAILURE(assemble(me));
    if (me.rank() == kVictim) std::raise(SIGKILL);
    expect_lost_in_time(me.barrier(), std::chrono::steady_clock::now());
    for (int i = 0; i < 100; ++i) ASSERT_TRUE((*survivors)->barrier());
    auto again = (*survivors)->split(0, 1 - me.rank());
    ASSERT_TRUE(again && again->has_value());
    EXPECT_EQ((*again)->index(), 1 - me.rank());
    ASSERT_TRUE((*again)->barrier());
    ASSERT_NO_FATAL_FAILURE(survivors_go_on(me));
  });
}

TEST_P(LostPeer, LetsTheOthersReleaseTheirSides) {
  run_with_a_death([](Endpoint& me) {
    auto survivors = me.world().split(me.rank() == kVictim ? 1 : 0, 0);
    ASSERT_TRUE(survivors && survivors->has_value());
    auto segment = Segment::create<std::uint64_t>(me.world(), 1000);
    ASSERT_TRUE(segment);
    for (Rank to = 0; to < me.ranks(); ++to) ASSERT_TRUE(put_value(me, segment->at(to, me.rank()), to + 1));
    ASSERT_NO_FATAL_FAILURE(assemble(me));
    if (me.rank() == kVictim) std::raise(SIGKILL);
    const auto since = std::chrono::steady_clock::now();
    expect_lost_in_time(segment->release(), since);
    EXPECT_EQ(segment->release().code(), ErrorCode::closed);
    EXPECT_TRUE(me.segment_of(segment->id()).empty());
    EXPECT_EQ(put_value(me, segment->at(1 - me.rank()), 1).code(), ErrorCode::closed);
    ASSERT_TRUE((*survivors)->barrier());
    auto again = Segment::create<std::uint64_t>(**survivors, 1000);
    ASSERT_TRUE(again) << again.status().text();
    ASSERT_TRUE(put_value(me, again->at_member(1 - (*survivors)->index()), 7));
    ASSERT_TRUE((*survivors)->barrier());
    EXPECT_EQ(again->mine()[0], 7u);
    ASSERT_TRUE(again->release());
    ASSERT_NO_FATAL_FAILURE(survivors_go_on(me));
  });
}

/// A team of the two survivors, which works.
void expect_team_of_survivors(Endpoint& me, Team& team) {
  ASSERT_EQ(team.size(), 2u);
  EXPECT_EQ(team.index(), me.rank());
  EXPECT_EQ(team.index_of(kVictim), kNoRank);
  for (std::uint32_t i = 0; i < 20; ++i) ASSERT_TRUE(team.barrier(i));
  auto half = team.split(me.rank(), 0);
  ASSERT_TRUE(half && half->has_value()) << half.status().text();
  EXPECT_EQ((*half)->size(), 1u);
}

TEST_P(LostPeer, IsLeftOutOfTheTeamOfTheOthers) {
  run_with_a_death([](Endpoint& me) {
    ASSERT_NO_FATAL_FAILURE(assemble(me));
    if (me.rank() == kVictim) std::raise(SIGKILL);
    // Rank 0 knows of the loss, and rank 1 probably not yet.
    if (me.rank() == 0) {
      ASSERT_TRUE(progress_until(me, [&] { return me.is_lost(kVictim); }));
    }
    for (int round = 0; round < 3; ++round) {
      auto team = me.world().without_lost();
      ASSERT_TRUE(team) << team.status().text();
      ASSERT_NO_FATAL_FAILURE(expect_team_of_survivors(me, *team));
      EXPECT_EQ(me.world().without_lost().status().code(), ErrorCode::invalid_argument) << "it exists";
      auto same = team->without_lost();
      ASSERT_TRUE(same) << same.status().text();
      ASSERT_NO_FATAL_FAILURE(expect_team_of_survivors(me, *same));
      ASSERT_TRUE(same->end());
      ASSERT_TRUE(team->end());
      EXPECT_EQ(team->without_lost().status().code(), ErrorCode::closed);
    }
    ASSERT_NO_FATAL_FAILURE(survivors_go_on(me));
  });
}

// The victim dies while all make teams of all members, one after the other. Some may have made one that others have not.
TEST_P(LostPeer, KilledWhileATeamWithoutTheLostIsMade) {
  if (fabric().outlived == Fabric::Outlived::little)
    GTEST_SKIP() << "the library below ends the program, see the document of the conduit";
  Random moments(seed());
  for (int round = 0; round < 8 && !testing::Test::IsSkipped() && !HasFailure(); ++round) {
    const auto moment = static_cast<suseconds_t>(1 + moments.below(8'000));
    run_with_a_death([moment, on_new = round % 2 == 1](Endpoint& me) {
      ASSERT_NO_FATAL_FAILURE(assemble(me));
      if (me.rank() == kVictim) {
        const itimerval once{{0, 0}, {0, moment}};
        ASSERT_EQ(::setitimer(ITIMER_REAL, &once, nullptr), 0);
      }
      std::optional<Team> last;
      for (;;) {
        auto team = last && on_new ? last->without_lost() : me.world().without_lost();
        ASSERT_TRUE(team) << team.status().text();
        if (team->size() == 2) {
          ASSERT_NO_FATAL_FAILURE(expect_team_of_survivors(me, *team));
          break;
        }
        const Status used = on_new ? team->barrier() : team->end();
        EXPECT_TRUE(used || used.code() == ErrorCode::peer_lost) << used.text();
        last = std::move(*team);
      }
      ASSERT_NE(me.rank(), kVictim);
      ASSERT_NO_FATAL_FAILURE(survivors_go_on(me));
    });
  }
}

TEST_P(LostPeer, WithoutALossTheTeamIsAsBefore) {
  as_each_of(3, 64, [](Endpoint& me) {
    auto odd = me.world().split(me.rank() % 2, -std::int64_t{me.rank()});
    ASSERT_TRUE(odd && odd->has_value());
    auto same = (*odd)->without_lost();
    ASSERT_TRUE(same) << same.status().text();
    EXPECT_EQ(same->size(), (*odd)->size());
    EXPECT_EQ(same->index(), (*odd)->index());
    ASSERT_TRUE(same->barrier());
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, LostPeer, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
