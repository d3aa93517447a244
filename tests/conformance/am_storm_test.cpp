#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"

namespace aqueduct::conformance {
namespace {

/// More messages than any queue holds, in all directions at once. None is lost, and no rank waits for ever.
class AmStorm : public FabricTest {};

struct NumberedStorm {
  std::uint64_t number;
};

/// The totals of a storm on one rank.
struct Totals {
  std::uint64_t requests = 0;
  std::uint64_t replies = 0;
  std::uint64_t sum = 0;
  std::uint64_t wrong = 0;
};

TEST_P(AmStorm, ShortBothWays) {
  as_each_of(2, 64, [](Endpoint& me) {
    constexpr std::uint64_t kEach = 30'000;
    Totals totals;
    const auto handler = on_short_request<NumberedStorm>(me, [&](auto&, const NumberedStorm& args) {
      ++totals.requests;
      totals.sum += args.number;
    });
    ASSERT_TRUE(handler);
    ASSERT_TRUE(me.barrier());
    for (std::uint64_t i = 1; i <= kEach; ++i) ASSERT_TRUE(request(me, next(me), *handler, {i}));
    ASSERT_TRUE(progress_until(me, [&] { return totals.requests >= kEach; })) << totals.requests;
    ASSERT_TRUE(me.barrier());
    EXPECT_EQ(totals.requests, kEach);
    EXPECT_EQ(totals.sum, kEach * (kEach + 1) / 2);
  });
}

TEST_P(AmStorm, RequestsThatAreRepliedToFromAllToAll) {
  as_each_of(many(), 64, [](Endpoint& me) {
    const std::uint64_t each = 8000 / me.ranks();
    Totals totals;
    const auto reply = on_short_reply<NumberedStorm>(me, [&](auto&, const NumberedStorm& args) {
      ++totals.replies;
      totals.sum += args.number;
    });
    ASSERT_TRUE(reply);
    const auto ask =
        on_short_request<NumberedStorm>(me, [&](RequestContext& context, const NumberedStorm& args) {
          ++totals.requests;
          totals.wrong += !context.reply(*reply, {2 * args.number}).ok();
        });
    ASSERT_TRUE(ask);
    ASSERT_TRUE(me.barrier());
    for (std::uint64_t i = 1; i <= each; ++i) {
      for (Rank turn = 0; turn < me.ranks(); ++turn) {
        ASSERT_TRUE(request(me, (me.rank() + turn) % me.ranks(), *ask, {i}));
      }
    }
    const std::uint64_t all = each * me.ranks();
    ASSERT_TRUE(progress_until(me, [&] { return totals.requests >= all && totals.replies >= all; }))
        << totals.requests << " requests, " << totals.replies << " replies of " << all;
    ASSERT_TRUE(me.barrier());
    EXPECT_EQ(totals.requests, all);
    EXPECT_EQ(totals.replies, all);
    EXPECT_EQ(totals.sum, me.ranks() * each * (each + 1));
    EXPECT_EQ(totals.wrong, 0u);
  });
}

TEST_P(AmStorm, LargestMediumBothWaysWithLargestReplies) {
  as_each_of(3, 64, [](Endpoint& me) {
    constexpr std::uint64_t kEach = 400;
    const std::size_t most = least_limits(me).medium;
    const auto payload = pattern(1, most);
    Totals totals;
    const auto check = [&](std::span<std::byte> found) { totals.wrong += !holds(found, payload); };
    const auto reply =
        on_medium_reply<NumberedStorm>(me, [&](auto&, const NumberedStorm&, std::span<std::byte> found) {
          ++totals.replies;
          check(found);
        });
    ASSERT_TRUE(reply);
    const auto ask = on_medium_request<NumberedStorm>(
        me, [&](RequestContext& context, const NumberedStorm& args, std::span<std::byte> found) {
          ++totals.requests;
          check(found);
          // Directly from the buffer in which it arrived.
          totals.wrong += !context.reply(*reply, args, found).ok();
        });
    ASSERT_TRUE(ask);
    ASSERT_TRUE(me.barrier());
    for (std::uint64_t i = 0; i < kEach; ++i) {
      for (Rank to = 0; to < me.ranks(); ++to) ASSERT_TRUE(request(me, to, *ask, {i}, payload));
    }
    const std::uint64_t all = kEach * me.ranks();
    ASSERT_TRUE(progress_until(me, [&] { return totals.requests >= all && totals.replies >= all; }))
        << totals.requests << " requests, " << totals.replies << " replies of " << all;
    EXPECT_EQ(totals.wrong, 0u);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(AmStorm, AllOnOneWhileItSendsToo) {
  as_each_of(many(), 64, [](Endpoint& me) {
    constexpr std::uint64_t kEach = 3000;
    Totals totals;
    const auto handler = on_short_request<NumberedStorm>(me, [&](auto&, const NumberedStorm& args) {
      ++totals.requests;
      totals.sum += args.number;
    });
    ASSERT_TRUE(handler);
    ASSERT_TRUE(me.barrier());
    for (std::uint64_t i = 1; i <= kEach; ++i) {
      ASSERT_TRUE(request(me, me.rank() == 0 ? static_cast<Rank>(i % me.ranks()) : 0, *handler, {i}));
    }
    if (me.rank() == 0) {
      const std::uint64_t from_others = kEach * (me.ranks() - 1);
      ASSERT_TRUE(progress_until(me, [&] { return totals.requests >= from_others + kEach / me.ranks(); }));
    }
    ASSERT_TRUE(me.barrier());
    ASSERT_TRUE(progress_until(me, [&] { return totals.requests >= kEach / me.ranks(); }));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(AmStorm, TogetherWithPutsGetsAndAtomics) {
  as_each_of(3, 64 * 1024, [](Endpoint& me) {
    constexpr std::uint64_t kTurns = 800;
    Totals totals;
    const auto handler =
        on_short_request<NumberedStorm>(me, [&](auto&, const NumberedStorm&) { ++totals.requests; });
    ASSERT_TRUE(handler);
    ASSERT_TRUE(me.barrier());
    const auto sent = pattern(me.rank(), 2000);
    std::vector<std::byte> read(2000);
    const GlobalPtr<std::uint64_t> counter{0, 0};
    const GlobalPtr<std::byte> mine_there{next(me), 1024 + 2048 * me.rank()};
    for (std::uint64_t i = 0; i < kTurns; ++i) {
      ASSERT_TRUE(request(me, next(me), *handler, {i}));
      ASSERT_TRUE(request(me, previous(me), *handler, {i}));
      ASSERT_TRUE(put_nbi(me, mine_there, sent));
      ASSERT_TRUE(atomic_nbi<AtomicOp::add>(me, counter, 1));
      if (i % 100 == 99) {
        ASSERT_TRUE(me.wait_implicit());
        ASSERT_TRUE(get(me, read, mine_there));
        ASSERT_TRUE(holds(read, sent));
      }
    }
    ASSERT_TRUE(progress_until(me, [&] { return totals.requests >= 2 * kTurns; })) << totals.requests;
    ASSERT_TRUE(me.barrier());
    const auto count = load(me, counter);
    ASSERT_TRUE(count);
    EXPECT_EQ(*count, kTurns * me.ranks());
    EXPECT_EQ(totals.requests, 2 * kTurns);
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, AmStorm, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
