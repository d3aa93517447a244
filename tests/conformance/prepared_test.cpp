#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"
#include "tests/conformance/shared.hpp"

#include <atomic>

namespace aqueduct::conformance {
namespace {

class Prepared : public FabricTest {};

struct NumberedPiece {
  std::uint64_t number;
};

/// Counts messages and checks each payload against its number; for medium and long messages.
struct Checks {
  std::uint64_t handled = 0;
  testing::AssertionResult right = testing::AssertionSuccess();

  auto handler() {
    return [this](auto&, const NumberedPiece& args, std::span<std::byte> payload) {
      ++handled;
      const auto same = holds(payload, pattern(args.number, payload.size()));
      const bool whole = payload.size() == args.number % 1'000'000;
      if (right && !whole) right = testing::AssertionFailure() << payload.size() << " bytes arrived";
      if (right && !same) right = same;
    };
  }
};

/// The number determines the size and the pattern.
std::uint64_t numbered(Rank writer, std::size_t bytes) { return 1'000'000 * (writer + 1) + bytes; }

TEST_P(Prepared, MediumOfEverySizeArrivesAsItWasBuilt) {
  as_each_of(2, 64, [](Endpoint& me) {
    Checks checks;
    const auto handler = on_medium_request<NumberedPiece>(me, checks.handler());
    ASSERT_TRUE(handler);
    ASSERT_TRUE(me.barrier());
    std::uint64_t sent = 0;
    for (const Rank to : {me.rank(), next(me)}) {
      const std::size_t most = am_limits(me, to).medium;
      for (const std::size_t size : sizes_around({most}, most)) {
        for (const std::size_t room : {size, (size + most) / 2, most}) {
          auto prepared = prepare_medium(me, to, room);
          ASSERT_TRUE(prepared) << room << " bytes: " << prepared.status().text();
          ASSERT_GE(prepared->buffer().size(), room);
          const std::uint64_t number = numbered(me.rank(), size);
          std::ranges::copy(pattern(number, size), prepared->buffer().begin());
          ASSERT_TRUE(prepared->commit(*handler, {number}, size));
          EXPECT_EQ(prepared->commit(*handler, {number}, size).code(), ErrorCode::invalid_argument);
          ++sent;
        }
      }
    }
    ASSERT_TRUE(progress_until(me, [&] { return checks.handled >= sent; })) << checks.handled;
    ASSERT_TRUE(me.barrier());
    EXPECT_EQ(checks.handled, sent);
    EXPECT_TRUE(checks.right);
  });
}

TEST_P(Prepared, LongOfEverySizeArrivesWhereItWasSent) {
  as_each_of(2, 512 * 1024, [](Endpoint& me) {
    Checks checks;
    const auto handler = on_long_request<NumberedPiece>(me, checks.handler());
    ASSERT_TRUE(handler);
    ASSERT_TRUE(me.barrier());
    const std::size_t packet = least_limits(me).medium;
    std::uint64_t sent = 0;
    for (const std::size_t size : sizes_around({packet}, 300'000)) {
      auto prepared = prepare_long(me, GlobalPtr<std::byte>{next(me), 9}, size);
      if (!prepared) {
        // Beyond one packet it is possible only if the library can give out the destination itself.
        ASSERT_EQ(prepared.status().code(), ErrorCode::too_large);
        ASSERT_GT(size, packet / 2);
        continue;
      }
      const std::uint64_t number = numbered(me.rank(), size);
      std::ranges::copy(pattern(number, size), prepared->buffer().begin());
      ASSERT_TRUE(prepared->commit(*handler, {number}, size));
      ++sent;
      ASSERT_TRUE(progress_until(me, [&] { return checks.handled >= sent; }));
      ASSERT_TRUE(holds(me.segment().subspan(9, size), pattern(numbered(previous(me), size), size)));
      ASSERT_TRUE(me.barrier());
    }
    EXPECT_EQ(checks.handled, sent);
    EXPECT_GT(sent, 5u);
    EXPECT_TRUE(checks.right);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Prepared, ButNotCommittedIsGivenBack) {
  run({.ranks = 2, .segment_bytes = 64, .settings = {{"prepared", "4"}}}, [](Endpoint& me) {
    Checks checks;
    const auto handler = on_medium_request<NumberedPiece>(me, checks.handler());
    ASSERT_TRUE(handler);
    ASSERT_TRUE(me.barrier());
    for (int round = 0; round < 100; ++round) {
      auto unused = prepare_medium(me, next(me), 100);
      ASSERT_TRUE(unused) << "round " << round << ": " << unused.status().text();
    }
    for (std::uint64_t round = 0; round < 100; ++round) {
      // Holds four at the same time, then commits them in another order.
      std::vector<PreparedPayload> held;
      for (int i = 0; i < 4; ++i) {
        auto one = prepare_medium(me, next(me), 100);
        ASSERT_TRUE(one) << one.status().text();
        held.push_back(std::move(*one));
      }
      for (auto one = held.rbegin(); one != held.rend(); ++one) {
        const std::uint64_t number = numbered(me.rank() + 2 * static_cast<Rank>(one - held.rbegin()), 77);
        std::ranges::copy(pattern(number, 77), one->buffer().begin());
        ASSERT_TRUE(one->commit(*handler, {number}, 77));
      }
    }
    ASSERT_TRUE(progress_until(me, [&] { return checks.handled >= 400; })) << checks.handled;
    EXPECT_TRUE(checks.right);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Prepared, BeyondWhatThereIsIsRefused) {
  run({.ranks = 2, .segment_bytes = 64, .settings = {{"prepared", "4"}}}, [](Endpoint& me) {
    std::vector<PreparedPayload> held;
    Status status;
    while (held.size() < 1000) {
      auto one = prepare_medium(me, next(me), 100);
      status = one.status();
      if (!one) break;
      held.push_back(std::move(*one));
    }
    EXPECT_EQ(status.code(), ErrorCode::refused);
    EXPECT_GE(held.size(), 4u);
    held.pop_back();
    EXPECT_TRUE(prepare_medium(me, next(me), 100));
    held.clear();
    const std::size_t most = am_limits(me, next(me)).medium;
    EXPECT_EQ(prepare_medium(me, next(me), most + 1).status().code(), ErrorCode::too_large);
    EXPECT_EQ(prepare_medium(me, me.ranks(), 8).status().code(), ErrorCode::out_of_range);
    EXPECT_EQ(prepare_long(me, GlobalPtr<std::byte>{next(me), 60}, 8).status().code(),
              ErrorCode::out_of_range);
    ASSERT_TRUE(me.barrier());
  });
}

struct RefusalBoard {
  std::atomic<bool> refused{false};
};

TEST_P(Prepared, ImmediatelyIsCommittedImmediately) {
  Shared<RefusalBoard> board;
  as_each_of(2, 64, [&board](Endpoint& me) {
    Checks checks;
    const auto handler = on_medium_request<NumberedPiece>(me, checks.handler());
    ASSERT_TRUE(handler && me.barrier());
    std::uint64_t sent = 0;
    if (me.rank() == 0) {
      const std::uint64_t number = numbered(0, 8);
      for (bool refused = false; !refused; ++sent) {
        ASSERT_LT(sent, 1'000'000u) << "rank 1 takes nothing, but nothing is refused";
        auto prepared = prepare_medium(me, 1, 8, {.immediate = true});
        ASSERT_TRUE(prepared) << prepared.status().text();
        std::ranges::copy(pattern(number, 8), prepared->buffer().begin());
        const Status status = prepared->commit(*handler, {number}, 8);
        if (status) continue;
        ASSERT_EQ(status.code(), ErrorCode::refused);
        refused = board->refused = true;
        ASSERT_TRUE(progress_until(me, [&] { return prepared->commit(*handler, {number}, 8).ok(); }))
            << "the room remains";
      }
    } else {
      ASSERT_TRUE(idle_until([&] { return board->refused.load(); }));
    }
    ASSERT_TRUE(me.barrier());
    if (me.rank() == 0) {
      ASSERT_TRUE(put_value(me, GlobalPtr<std::uint64_t>{1, 0}, sent));
    }
    ASSERT_TRUE(me.barrier());
    if (me.rank() == 1) {
      const std::uint64_t all = get_value(me, GlobalPtr<std::uint64_t>{1, 0}).value_or(0);
      EXPECT_TRUE(progress_until(me, [&] { return checks.handled >= all; }));
      EXPECT_EQ(checks.handled, all);
      EXPECT_TRUE(checks.right);
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Prepared, CommittedWronglyCanBeCommittedRightAfterwards) {
  as_each_of(2, 64, [](Endpoint& me) {
    Checks checks;
    const auto medium = on_medium_request<NumberedPiece>(me, checks.handler());
    const auto into_segment = on_long_request<NumberedPiece>(me, checks.handler());
    ASSERT_TRUE(medium && into_segment);
    ASSERT_TRUE(me.barrier());
    auto prepared = prepare_medium(me, next(me), 10);
    ASSERT_TRUE(prepared);
    const std::uint64_t number = numbered(me.rank(), 10);
    std::ranges::copy(pattern(number, 10), prepared->buffer().begin());
    EXPECT_EQ(prepared->commit(*into_segment, {number}, 10).code(), ErrorCode::wrong_handler);
    EXPECT_EQ(prepared->commit(MediumRequest<NumberedPiece>{99}, {number}, 10).code(),
              ErrorCode::wrong_handler);
    const std::size_t too_much = prepared->buffer().size() + 1;
    EXPECT_EQ(prepared->commit(*medium, {number}, too_much).code(), ErrorCode::too_large);
    EXPECT_TRUE(prepared->commit(*medium, {number}, 10));
    ASSERT_TRUE(progress_until(me, [&] { return checks.handled >= 1; }));
    EXPECT_TRUE(checks.right);
    ASSERT_TRUE(me.barrier());
    EXPECT_EQ(checks.handled, 1u);
  });
}

INSTANTIATE_TEST_SUITE_P(On, Prepared, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
