#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"
#include "tests/conformance/shared.hpp"

#include <array>
#include <atomic>
#include <optional>

namespace aqueduct::conformance {
namespace {

class Barrier : public FabricTest {};

constexpr Rank kMostTeams = 16;

/// Records who has arrived, without using the library.
struct BarrierBoard {
  std::array<std::atomic<std::uint64_t>, kMostTeams> arrived{};
  std::atomic<bool> released{false};
  std::atomic<bool> go{false};
};

/// Spends a time that differs by rank and round.
void dawdle(Endpoint& me, std::uint64_t round) {
  const std::uint64_t turns = mix(round * 64 + me.rank()) % 8;
  for (std::uint64_t i = 0; i < turns; ++i) std::this_thread::yield();
}

/// Crosses a team's barrier many times; no rank may leave it before all have arrived.
void cross_often(Endpoint& me, Team& team, std::atomic<std::uint64_t>& arrived, std::uint64_t rounds) {
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    dawdle(me, round);
    arrived.fetch_add(1);
    ASSERT_TRUE(team.barrier());
    ASSERT_GE(arrived.load(), round * team.size()) << "left round " << round << " early";
  }
}

TEST_P(Barrier, NobodyLeavesBeforeTheLastArrives) {
  for (const Rank ranks : {Rank{1}, Rank{2}, Rank{3}, many()}) {
    Shared<BarrierBoard> board;
    as_each_of(ranks, 64, [&board, times = often(500)](Endpoint& me) {
      cross_often(me, me.world(), board->arrived[0], times);
    });
  }
}

// The same for ranks that share no memory, as on several hosts: the puts of all are in place behind the barrier.
TEST_P(Barrier, NobodyLeavesBeforeThePutsOfTheLastAreInPlace) {
  as_each_of(many(), kMostTeams * sizeof(std::uint64_t), [](Endpoint& me) {
    const auto* const mine = reinterpret_cast<const std::uint64_t*>(me.segment().data());
    for (std::uint64_t round = 1; round <= 50; ++round) {
      dawdle(me, round);
      for (Rank to = 0; to < me.ranks(); ++to)
        ASSERT_TRUE(put_value(me, GlobalPtr<std::uint64_t>{to, me.rank() * sizeof round}, round));
      ASSERT_TRUE(me.barrier());
      for (Rank from = 0; from < me.ranks(); ++from)
        ASSERT_EQ(mine[from], round) << "left before rank " << from << " arrived";
      ASSERT_TRUE(me.barrier());
    }
  });
}

TEST_P(Barrier, InTwoPhasesHoldsNobodyBackBetweenThem) {
  Shared<BarrierBoard> board;
  as_each_of(2, 64, [&board](Endpoint& me) {
    Team& world = me.world();
    for (int round = 0; round < 20; ++round) {
      ASSERT_TRUE(world.notify());
      // Rank 1 has notified and does something else: rank 0 passes the barrier before rank 1 tests again.
      if (me.rank() == 1) {
        ASSERT_TRUE(progress_until(me, [&] { return board->released.load(); })) << "rank 0 was held";
      }
      ASSERT_TRUE(world.wait());
      if (me.rank() == 0) board->released.store(true);
      ASSERT_TRUE(me.barrier());
      if (me.rank() == 0) board->released.store(false);
      ASSERT_TRUE(me.barrier());
    }
  });
}

TEST_P(Barrier, TryWaitIsTrueOnlyOnceAllHaveNotified) {
  Shared<BarrierBoard> board;
  as_each_of(3, 64, [&board](Endpoint& me) {
    Team& world = me.world();
    if (me.rank() == 2) {
      ASSERT_TRUE(idle_until([&] { return board->arrived[0].load() == 2; }));
    } else {
      ASSERT_TRUE(world.notify());
      for (int i = 0; i < 1000; ++i) ASSERT_FALSE(world.try_wait()) << "rank 2 has not notified";
      board->arrived[0].fetch_add(1);
    }
    if (me.rank() == 2) {
      ASSERT_TRUE(world.notify());
    }
    ASSERT_TRUE(progress_until(me, [&] { return world.try_wait(); }));
    EXPECT_TRUE(world.try_wait());
    EXPECT_TRUE(world.wait());
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Barrier, OfRowsAndColumnsOfAGridAtOnce) {
  Shared<BarrierBoard> board;
  const Rank ranks = many() >= 8 ? 8 : 4;
  as_each_of(ranks, 64, [&board](Endpoint& me) {
    const Rank columns = me.ranks() / 2;
    const Rank row = me.rank() / columns;
    const Rank column = me.rank() % columns;
    auto my_row = me.world().split(row, column);
    ASSERT_TRUE(my_row && my_row->has_value());
    auto my_column = me.world().split(column, row);
    ASSERT_TRUE(my_column && my_column->has_value());
    ASSERT_EQ((*my_row)->size(), columns);
    ASSERT_EQ((*my_column)->size(), 2u);
    auto& in_row = board->arrived[row];
    auto& in_column = board->arrived[2 + column];
    for (std::uint64_t round = 1; round <= 200; ++round) {
      dawdle(me, round);
      in_row.fetch_add(1);
      in_column.fetch_add(1);
      // Both barriers are open at the same time.
      ASSERT_TRUE((*my_row)->notify());
      ASSERT_TRUE((*my_column)->notify());
      ASSERT_TRUE((*my_column)->wait());
      ASSERT_GE(in_column.load(), round * 2);
      ASSERT_TRUE((*my_row)->wait());
      ASSERT_GE(in_row.load(), round * columns);
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Barrier, OfPartOfTheRanksNeedsOnlyThem) {
  Shared<BarrierBoard> board;
  as_each_of(4, 64, [&board](Endpoint& me) {
    auto part = me.world().split(me.rank() == 3 ? std::nullopt : std::optional<std::uint32_t>(1), 0);
    ASSERT_TRUE(part);
    if (me.rank() == 3) {
      ASSERT_FALSE(part->has_value());
      // Makes no progress meanwhile, because no rank needs it.
      ASSERT_TRUE(idle_until([&] { return board->arrived[1].load() == 3; })) << "the team waited for rank 3";
    } else {
      ASSERT_NO_FATAL_FAILURE(cross_often(me, **part, board->arrived[0], 100));
      board->arrived[1].fetch_add(1);
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Barrier, SaysWhatIsWrongWithACallOutOfTurn) {
  as_each_of(2, 64, [](Endpoint& me) {
    Team& world = me.world();
    EXPECT_EQ(world.wait().code(), ErrorCode::invalid_argument);
    ASSERT_TRUE(world.notify());
    EXPECT_EQ(world.notify().code(), ErrorCode::invalid_argument);
    ASSERT_TRUE(world.wait());
    EXPECT_EQ(world.wait().code(), ErrorCode::invalid_argument);
    ASSERT_TRUE(world.barrier());
  });
}

TEST_P(Barrier, LetsMessagesThrough) {
  as_each_of(2, 64, [](Endpoint& me) {
    bool answered = false;
    const auto reply = on_short_reply<NoArguments>(me, [&](auto&, const NoArguments&) { answered = true; });
    ASSERT_TRUE(reply);
    const auto ask = on_short_request<NoArguments>(
        me, [&](RequestContext& context, const NoArguments&) { static_cast<void>(context.reply(*reply)); });
    ASSERT_TRUE(ask);
    ASSERT_TRUE(me.barrier());
    if (me.rank() == 0) {
      // Rank 1 is in the barrier or enters it soon, and answers from there.
      ASSERT_TRUE(request(me, 1, *ask));
      ASSERT_TRUE(progress_until(me, [&] { return answered; }));
    }
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, Barrier, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
