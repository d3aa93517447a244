#include <aqueduct/coll_scratch.hpp>
#include <aqueduct/coll_v.hpp>
#include <aqueduct/copy_bytes.hpp>

#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"
#include "tests/conformance/collective_errors.hpp"
#include "tests/conformance/fabric_test.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace aqueduct::conformance {
namespace {

/// Calls that differ are found late, since members are ahead of each other, or wait where they see nothing of one another.
class CollectiveMismatch : public FabricTest {};

constexpr CollOptions kMine{.in = Sync::mine, .out = Sync::mine};

/// A call of which other members are told nothing: two, the bind of a plan and its end.
void bind_and_end(Team& team) {
  std::uint64_t sum = 0;
  static_cast<void>(all_reduce_plan(team, std::span(&sum, 1), ReduceOp::sum, kMine));
}

/// What the members that agree do while the odd one gathers: silent calls first, and then before each of many broadcasts.
struct ManyCalls {
  std::uint32_t broadcasts;
  bool in_flight = false;  ///< all at once
  std::uint32_t silent_first = 0;
  bool silent_between = false;
};

void differ_many_calls_ago(Endpoint& me, Team& team, const ManyCalls& calls) {
  std::uint64_t word = 7, sum = 0;
  std::array<std::uint64_t, 3> all{};
  std::vector<Event> events;
  const auto made = [&](Event event) {
    if (calls.in_flight)
      events.push_back(std::move(event));
    else
      static_cast<void>(ends_soon(me, std::move(event)));
  };
  const std::span<const std::uint64_t> in(&word, 1);
  if (team.index() == 2) {
    made(all_gather_nb(team, in, std::span(all), kMine));
  } else {
    for (std::uint32_t i = 0; i < calls.silent_first; ++i) bind_and_end(team);
    for (std::uint32_t i = 0; i < calls.broadcasts; ++i) {
      if (calls.silent_between) bind_and_end(team);
      made(broadcast_nb(team, std::span(&word, 1), 0, kMine));
    }
    made(reduce_nb(team, in, std::span(&sum, 1), ReduceOp::sum, 0, kMine));
  }
  for (Event& event : events) static_cast<void>(ends_soon(me, std::move(event)));
  expect_broken(me, team);
}

bool has_board(Team& team) {
  const coll::TeamEngine* const engine = coll::Collectives::engine_of(team.state());
  return engine != nullptr && engine->board().slots != 0;
}

/// `most`: broadcasts of the members that agree.
void tell_many_calls_ago(Endpoint& me, std::uint32_t most) {
  if (!finds_different_calls(me)) return;
  std::vector<ManyCalls> cases;
  for (const std::uint32_t ahead : {1, 15, 17, 31, 32, 33, 64, 65, 150, 300}) {
    if (ahead > most) continue;
    for (const bool in_flight : {false, true}) cases.push_back({ahead, in_flight});
    cases.push_back({.broadcasts = ahead, .silent_first = 1});
  }
  // Members that share a board see how many calls the others are behind.
  for (const std::uint32_t ahead : {1, 17, 70}) {
    cases.push_back({.broadcasts = ahead, .silent_first = 150});
    cases.push_back({.broadcasts = ahead, .silent_between = true});
  }
  for (const ManyCalls& one : cases) {
    SCOPED_TRACE(std::to_string(one.broadcasts) + " calls" + (one.in_flight ? " in flight, " : ", ") +
                 std::to_string(one.silent_first) + " silent ones before, " +
                 (one.silent_between ? "and between" : "none between"));
    auto team = me.world().split(0, me.rank());
    ASSERT_TRUE(team && *team);
    // Without a board, different calls use the same scratch for different things until that is found out: a race that belongs to
    // the mistake.
    const bool races = aqueduct::detail::kThreadSanitizer && !has_board(**team);
    if (!races && ((one.silent_first <= 1 && !one.silent_between) || has_board(**team))) {
      ASSERT_NO_FATAL_FAILURE(differ_many_calls_ago(me, **team, one));
    }
    EXPECT_TRUE((*team)->end());
  }
  ASSERT_TRUE(me.barrier());
}

// Bytes go one way, so members make many calls before they hear of the odd one, which waits for messages meanwhile.
TEST_P(CollectiveMismatch, ManyCallsAgoIsToldToAll) {
  struct Case {
    Settings settings;
    std::uint32_t most;
  };
  // A schedule's members run ahead as far as the scratch lets them, whatever lines their board has: in a usual team some 84 calls,
  // in the last one hundreds.
  for (const Case& one :
       {Case{{{"coll_all_gather", "ring"}}, 150}, Case{{}, 150}, Case{{{"coll_broadcast", "k-nomial"}}, 150},
        Case{{{"coll_broadcast", "k-nomial"}, {"coll_team_scratch", "1M"}}, 300}}) {
    run({.ranks = 3, .segment_bytes = 4096, .settings = one.settings},
        [most = one.most](Endpoint& me) { tell_many_calls_ago(me, most); });
    if (HasFailure() || testing::Test::IsSkipped()) return;
  }
}

// Of the odd one's two calls only the second is seen, and one member waits where it has made the first.
TEST_P(CollectiveMismatch, OfABindIsToldToWhoWaitsInTheCallBeforeTheOneThatIsSeen) {
  as_each_of(3, 4096, [](Endpoint& me) {
    auto team = me.world().split(0, me.rank());
    ASSERT_TRUE(team && *team);
    if (!has_board(**team)) return;
    std::uint64_t word = 7, sum = 0;
    std::array<std::uint64_t, 3> all{};
    const std::span<const std::uint64_t> in(&word, 1);
    if ((*team)->index() == 2) {
      bind_and_end(**team);
      const std::array<std::uint64_t, 3> counts{1, 1, 1};
      static_cast<void>(ends_soon(me, all_gather_v_nb(**team, in, all, {counts}, kMine)));
    } else {
      static_cast<void>(ends_soon(me, gather_nb(**team, in, std::span(all), 1, kMine)));
      // As many as the odd one has made.
      for (int i = 0; i < 2 && (*team)->index() == 0; ++i)
        static_cast<void>(ends_soon(me, reduce_nb(**team, in, std::span(&sum, 1), ReduceOp::sum, 0, kMine)));
    }
    ASSERT_NO_FATAL_FAILURE(expect_broken(me, **team));
    EXPECT_TRUE((*team)->end());
  });
}

// The others have claimed its part, ended the call, differed in the next one and given that up, while this member was late. Where
// memory is mapped nobody waits for it.
TEST_P(CollectiveMismatch, LeavesTheCallBeforeToAMemberThatIsLate) {
  constexpr std::size_t kCount = 4096;
  for (const bool is_reduction : {true, false}) {
    run({.ranks = 3, .segment_bytes = 2 * kCount * sizeof(std::uint32_t)}, [&](Endpoint& me) {
      if (!finds_different_calls(me)) return;
      auto team = me.world().dup();
      ASSERT_TRUE(team);
      // As above: without a board it may be a race.
      if (aqueduct::detail::kThreadSanitizer && !has_board(*team)) {
        EXPECT_TRUE(team->end());
        return;
      }
      const std::span all(reinterpret_cast<std::uint32_t*>(me.segment().data()), 2 * kCount);
      const auto begin = [&](std::size_t count) {
        const std::span<const std::uint32_t> in(all.first(count));
        const auto out = all.subspan(kCount, count);
        return is_reduction ? all_reduce_nb(*team, in, out, ReduceOp::sum, kMine)
                            : broadcast_nb(*team, in, out, 0, kMine);
      };
      std::ranges::fill(all.first(kCount), is_reduction ? 1U : 3U);
      ASSERT_TRUE(me.barrier());
      Event first = begin(kCount);
      if (me.rank() == 2) std::this_thread::sleep_for(std::chrono::milliseconds(50));
      ASSERT_EQ(ends_soon(me, std::move(first)), ErrorCode::ok);
      EXPECT_EQ(all[kCount], 3U);
      EXPECT_EQ(all.back(), 3U);
      static_cast<void>(ends_soon(me, begin(me.rank() == 1 ? kCount / 2 : kCount)));
      ASSERT_NO_FATAL_FAILURE(expect_broken(me, *team));
      EXPECT_TRUE(team->end());
    });
    if (HasFailure() || testing::Test::IsSkipped()) return;
  }
}

// The odd one only sends, and nobody sends to it: without the questions of a stall report all would wait for ever.
TEST_P(CollectiveMismatch, OfMembersThatExchangeNoMessageEndsWhenAStallIsReported) {
  run({.ranks = 4, .segment_bytes = 4096, .settings = {{"stall_warn", "200ms"}}}, [](Endpoint& me) {
    if (!finds_different_calls(me)) return;
    for (const bool is_reduction : {true, false}) {
      SCOPED_TRACE(is_reduction ? "an all-reduce" : "another root");
      auto team = me.world().dup();
      ASSERT_TRUE(team);
      // As above: without a board it may be a race.
      if (aqueduct::detail::kThreadSanitizer && !has_board(*team)) {
        EXPECT_TRUE(team->end());
        continue;
      }
      std::array<std::uint64_t, 100> words{};
      Event call = team->index() != 0 ? broadcast_nb(*team, std::span(words), 1)
                   : is_reduction     ? all_reduce_nb(*team, std::span(words), ReduceOp::sum)
                                      : broadcast_nb(*team, std::span(words), 0);
      // Who only sends may have ended well before.
      const ErrorCode code = ends_soon(me, std::move(call));
      EXPECT_TRUE(code == ErrorCode::mismatch || (code == ErrorCode::ok && team->index() <= 1))
          << Status(code).text();
      ASSERT_NO_FATAL_FAILURE(expect_broken(me, *team));
      EXPECT_TRUE(team->end());
    }
  });
}

// All members wait with the same latest call; the odd one's other is far behind it.
TEST_P(CollectiveMismatch, BehindManyEqualCallsIsFoundWhenAStallIsReported) {
  run({.ranks = 3, .segment_bytes = 4096, .settings = {{"stall_warn", "200ms"}}}, [](Endpoint& me) {
    if (!finds_different_calls(me)) return;
    for (const std::size_t later : {1, 20}) {
      SCOPED_TRACE(later);
      auto team = me.world().dup();
      ASSERT_TRUE(team);
      if (aqueduct::detail::kThreadSanitizer && !has_board(*team)) {
        EXPECT_TRUE(team->end());
        continue;
      }
      constexpr std::size_t kWords = 37'500;
      std::vector<std::uint32_t> words(3 * kWords), out(words.size()), sums(later);
      const std::span<const std::uint32_t> in(words);
      Event first = team->index() == 1
                        ? scan_nb(*team, in.first(kWords), std::span(out).first(kWords), ReduceOp::sum)
                        : all_to_all_nb(*team, in, std::span(out));
      std::vector<Event> calls;
      for (std::size_t i = 0; i < later; ++i)
        calls.push_back(all_reduce_nb(*team, in.first(1), std::span(sums).subspan(i, 1), ReduceOp::sum));
      EXPECT_EQ(ends_soon(me, std::move(first)), ErrorCode::mismatch);
      for (Event& call : calls) EXPECT_EQ(ends_soon(me, std::move(call)), ErrorCode::mismatch);
      ASSERT_NO_FATAL_FAILURE(expect_broken(me, *team));
      EXPECT_TRUE(team->end());
    }
  });
}

/// Calls that make or end something of a team, together with the other members.
constexpr int kSetUpCalls = 6;
Status set_up(Team& team, int which, Segment& segment, std::span<std::byte> memory) {
  switch (which) {
    case 0: return team.split(0, 0).status();
    case 1: return team.dup().status();
    case 2: return use_scratch(team, memory);
    case 3: return Segment::create(team, 64).status();
    case 4: return team.use_tree("flat");
    default: return segment.release();
  }
}

// The odd one waits for messages that nobody sends. Half of the time another member makes the same call, after the others have
// given it up. Then the team makes further ones, and what was not released can be.
TEST_P(CollectiveMismatch, OfACallThatMakesSomethingEndsWhenAStallIsReported) {
  run({.ranks = 3, .segment_bytes = 64 << 10, .settings = {{"stall_warn", "100ms"}}}, [](Endpoint& me) {
    if (!finds_different_calls(me)) return;
    for (int i = 0; i < 2 * kSetUpCalls; ++i) {
      const int which = i / 2;
      const bool two = i % 2 == 1;
      const Rank odd = static_cast<Rank>(which) % me.ranks();
      const Rank late = (odd + 1) % me.ranks();
      SCOPED_TRACE("call " + std::to_string(which) + ", rank " + std::to_string(odd) +
                   (two ? ", and then another one" : ""));
      auto team = me.world().dup();
      ASSERT_TRUE(team);
      auto segment = Segment::create(*team, 64);
      ASSERT_TRUE(segment);
      std::uint64_t word = 7;
      // The others enter this barrier when they have been told.
      if (two && me.rank() == late) {
        ASSERT_TRUE(me.barrier());
      }
      if (me.rank() == odd || (two && me.rank() == late)) {
        EXPECT_EQ(set_up(*team, which, *segment, me.segment()).code(), ErrorCode::mismatch);
      } else {
        EXPECT_EQ(ends_soon(me, all_reduce_nb(*team, std::span(&word, 1), ReduceOp::sum)),
                  ErrorCode::mismatch);
      }
      if (two && me.rank() != late) {
        ASSERT_TRUE(me.barrier());
      }
      ASSERT_NO_FATAL_FAILURE(expect_broken(me, *team));
      auto next = team->dup();
      ASSERT_TRUE(next);
      std::uint64_t sum = 1;
      ASSERT_TRUE(all_reduce(*next, std::span(&sum, 1), ReduceOp::sum));
      EXPECT_EQ(sum, me.ranks());
      EXPECT_TRUE(segment->release());
      EXPECT_TRUE(next->end());
      EXPECT_TRUE(team->end());
      ASSERT_TRUE(me.barrier());
    }
  });
}

// No stall: what each has begun says which call it is, and of splits and second teams which of both. All name the same member. In
// the last round each makes another call. The team makes further ones.
TEST_P(CollectiveMismatch, OfTwoCallsThatMakeSomethingIsToldToBoth) {
  run({.ranks = 3, .segment_bytes = 64 << 10}, [](Endpoint& me) {
    constexpr int kPairs = kSetUpCalls * kSetUpCalls;
    for (int which = 0; which <= kPairs; ++which) {
      const int one = which / kSetUpCalls;
      const int other = which % kSetUpCalls;
      if (one == other) continue;
      SCOPED_TRACE("calls " + std::to_string(one) + " and " + std::to_string(other));
      auto team = me.world().dup();
      ASSERT_TRUE(team);
      auto segment = Segment::create(*team, 64);
      ASSERT_TRUE(segment);
      const bool odd = me.rank() == static_cast<Rank>(which) % me.ranks();
      const int mine = which == kPairs ? static_cast<int>(me.rank()) + 1 : odd ? one : other;
      const Status told = set_up(*team, mine, *segment, me.segment());
      EXPECT_EQ(told.code(), ErrorCode::mismatch);
      std::array<Rank, 3> named{};
      const Rank of_me = told.peer();
      ASSERT_TRUE(all_gather(me.world(), std::span(&of_me, 1), std::span(named)));
      EXPECT_EQ(named, (std::array<Rank, 3>{of_me, of_me, of_me}));
      auto next = team->dup();
      ASSERT_TRUE(next);
      EXPECT_TRUE(next->end());
      auto more = Segment::create(*team, 64);
      ASSERT_TRUE(more);
      EXPECT_TRUE(more->release());
      EXPECT_TRUE(segment->release());
      EXPECT_TRUE(team->end());
      ASSERT_TRUE(me.barrier());
    }
  });
}

TEST_P(CollectiveMismatch, OfAMemberThatEndsTheTeamIsToldToTheOthers) {
  as_each_of(3, 4096, [](Endpoint& me) {
    for (Rank odd = 0; odd < me.ranks(); ++odd) {
      auto team = me.world().dup();
      ASSERT_TRUE(team);
      std::uint64_t word = 7;
      if (me.rank() != odd) {
        EXPECT_EQ(ends_soon(me, all_reduce_nb(*team, std::span(&word, 1), ReduceOp::sum)),
                  ErrorCode::mismatch);
      }
      EXPECT_TRUE(team->end());
      ASSERT_TRUE(me.barrier());
    }
  });
}

INSTANTIATE_TEST_SUITE_P(On, CollectiveMismatch, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
