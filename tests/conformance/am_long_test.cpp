#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"

#include <algorithm>

namespace aqueduct::conformance {
namespace {

class AmLong : public FabricTest {};

struct NumberedLong {
  std::uint64_t number;
};

TEST_P(AmLong, PayloadOfEverySizeIsInTheSegmentWhenTheHandlerRuns) {
  as_each_of(3, 3 << 20, [](Endpoint& me) {
    const std::size_t packet = least_limits(me).medium;
    const auto sizes = sizes_around({packet, 2 * packet}, reasonable(me, 300'000));
    constexpr std::size_t kThird = 1 << 20;
    std::uint64_t handled = 0;
    testing::AssertionResult right = testing::AssertionSuccess();
    const auto handler = on_long_request<NumberedLong>(me, [&](auto& context, const NumberedLong& args,
                                                               std::span<std::byte> payload) {
      ++handled;
      const auto place = me.segment().subspan(context.source() * kThird + args.number % 64, payload.size());
      auto same = holds(payload, pattern(1000 * context.source() + args.number, sizes[args.number]));
      if (same && !payload.empty() && payload.data() != place.data()) {
        same = testing::AssertionFailure() << "the handler's payload is not where it was sent to";
      }
      if (right && !same) right = same;
    });
    ASSERT_TRUE(handler);
    ASSERT_TRUE(me.barrier());
    std::vector<std::byte> source(sizes.back());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      for (Rank to = 0; to < me.ranks(); ++to) {
        std::ranges::copy(pattern(1000 * me.rank() + i, sizes[i]), source.begin());
        const GlobalPtr<std::byte> place{to, me.rank() * kThird + i % 64};
        ASSERT_TRUE(request(me, *handler, {i}, std::span(source).first(sizes[i]), place)) << sizes[i];
        std::ranges::fill(source, std::byte{0x5a});  // reusable at return
      }
      // Each rank sends one at a time, because the next one overwrites it.
      ASSERT_TRUE(progress_until(me, [&] { return handled >= (i + 1) * me.ranks(); }))
          << sizes[i] << " bytes";
      ASSERT_TRUE(right) << sizes[i] << " bytes";
      ASSERT_TRUE(me.barrier());
    }
    EXPECT_EQ(handled, me.ranks() * sizes.size());
  });
}

TEST_P(AmLong, ManyInFlightEachFindItsOwnPayload) {
  as_each_of(2, 400 * 3000, [](Endpoint& me) {
    constexpr std::uint64_t kMessages = 400;
    constexpr std::size_t kBytes = 3000;
    std::vector<int> seen(kMessages);
    std::uint64_t handled = 0;
    testing::AssertionResult right = testing::AssertionSuccess();
    const auto handler = on_long_request<NumberedLong>(
        me, [&](auto& context, const NumberedLong& args, std::span<std::byte> payload) {
          ++handled;
          ++seen[args.number % kMessages];
          const auto same = holds(payload, pattern(5000 * context.source() + args.number, kBytes));
          if (right && !same) right = same;
        });
    ASSERT_TRUE(handler);
    ASSERT_TRUE(me.barrier());
    for (std::uint64_t i = 0; i < kMessages; ++i) {
      const auto source = pattern(5000 * me.rank() + i, kBytes);
      ASSERT_TRUE(request(me, *handler, {i}, source, GlobalPtr<std::byte>{next(me), i * kBytes}));
    }
    ASSERT_TRUE(progress_until(me, [&] { return handled >= kMessages; })) << handled;
    EXPECT_TRUE(right);
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(std::ranges::all_of(seen, [](int n) { return n == 1; }));
  });
}

TEST_P(AmLong, ReplyReachesTheAskersSegmentBeforeItsHandler) {
  as_each_of(3, 256 * 1024, [](Endpoint& me) {
    const std::size_t most = std::min<std::size_t>(least_limits(me).long_reply, 100'000);
    const auto sizes = sizes_around({most}, most);
    std::uint64_t replies = 0;
    std::uint64_t refused = 0;
    testing::AssertionResult right = testing::AssertionSuccess();
    const auto reply = on_long_reply<NumberedLong>(me, [&](auto& context, const NumberedLong& args,
                                                           std::span<std::byte> payload) {
      ++replies;
      const auto same = holds(payload, pattern(1000 * context.source() + args.number, sizes[args.number]));
      if (right && !same) right = same;
    });
    ASSERT_TRUE(reply);
    const auto ask =
        on_short_request<NumberedLong>(me, [&](RequestContext& context, const NumberedLong& args) {
          const auto source = pattern(1000 * me.rank() + args.number, sizes[args.number]);
          refused += !context.reply(*reply, args, source, GlobalPtr<std::byte>{context.source(), 17}).ok();
        });
    ASSERT_TRUE(ask);
    ASSERT_TRUE(me.barrier());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      ASSERT_TRUE(request(me, next(me), *ask, {i}));
      ASSERT_TRUE(progress_until(me, [&] { return replies > i || refused != 0; })) << sizes[i] << " bytes";
      EXPECT_TRUE(holds(me.segment().subspan(17, sizes[i]), pattern(1000 * next(me) + i, sizes[i])));
    }
    ASSERT_TRUE(me.barrier());
    EXPECT_EQ(replies, sizes.size());
    EXPECT_EQ(refused, 0u);
    EXPECT_TRUE(right);
  });
}

TEST_P(AmLong, ReplyAboveItsLimitOrElsewhereIsRefused) {
  as_each_of(2, 64 * 1024, [](Endpoint& me) {
    std::optional<std::array<ErrorCode, 3>> codes;
    const auto reply = on_long_reply<NoArguments>(me, [](auto&, const NoArguments&, std::span<std::byte>) {});
    ASSERT_TRUE(reply);
    const std::vector<std::byte> large(std::min<std::size_t>(least_limits(me).long_reply, 1 << 20) + 1);
    const auto ask = on_short_request<NoArguments>(me, [&](RequestContext& context, const NoArguments&) {
      const GlobalPtr<std::byte> there{context.source(), 0};
      codes = {context.reply(*reply, {}, large, there).code(),
               context.reply(*reply, {}, std::span(large).first(64), there + (64 * 1024 - 63)).code(),
               context.reply(*reply, {}, std::span(large).first(64), there.on(me.rank())).code()};
    });
    ASSERT_TRUE(ask);
    ASSERT_TRUE(me.barrier());
    ASSERT_TRUE(request(me, next(me), *ask));
    ASSERT_TRUE(progress_until(me, [&] { return codes.has_value(); }));
    // If the limit exceeds the segment, the call fails because of the segment.
    EXPECT_TRUE((*codes)[0] == ErrorCode::too_large || (*codes)[0] == ErrorCode::out_of_range)
        << describe((*codes)[0]).name;
    EXPECT_EQ((*codes)[1], ErrorCode::out_of_range);
    EXPECT_FALSE((*codes)[2] == ErrorCode::ok) << "a long reply to a rank that did not ask";
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(AmLong, OutsideTheSegmentIsRefusedAndWritesNothing) {
  as_each_of(2, 4096, [](Endpoint& me) {
    int handled = 0;
    const auto handler =
        on_long_request<NoArguments>(me, [&](auto&, const NoArguments&, std::span<std::byte>) { ++handled; });
    ASSERT_TRUE(handler);
    ASSERT_TRUE(me.barrier());
    const auto bytes = pattern(1, 5000);
    const auto there = GlobalPtr<std::byte>{next(me), 0};
    EXPECT_EQ(request(me, *handler, {}, std::span(bytes).first(4097), there).code(), ErrorCode::out_of_range);
    EXPECT_EQ(request(me, *handler, {}, std::span(bytes).first(97), there + 4000).code(),
              ErrorCode::out_of_range);
    EXPECT_EQ(
        request(me, *handler, {}, std::span(bytes).first(1), GlobalPtr<std::byte>{next(me), 0, 9}).code(),
        ErrorCode::out_of_range);
    EXPECT_EQ(request(me, *handler, {}, std::span(bytes).first(1), there.on(me.ranks())).code(),
              ErrorCode::out_of_range);
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(all_are(me.segment(), std::byte{0}));
    EXPECT_EQ(handled, 0);
  });
}

TEST_P(AmLong, SourceEventSaysWhenThePayloadMayBeOverwritten) {
  as_each_of(2, 64 * 200'000 / 32, [](Endpoint& me) {
    constexpr std::uint64_t kMessages = 100;
    std::uint64_t handled = 0;
    std::uint64_t given = 0;
    testing::AssertionResult right = testing::AssertionSuccess();
    const auto handler =
        on_long_request<NumberedLong>(me, [&](auto&, const NumberedLong& args, std::span<std::byte> payload) {
          ++handled;
          const auto same = all_are(payload, static_cast<std::byte>(args.number));
          if (right && !same) right = same;
        });
    const auto next_please = on_short_request<NoArguments>(me, [&](auto&, const NoArguments&) { ++given; });
    ASSERT_TRUE(handler && next_please);
    ASSERT_TRUE(me.barrier());
    std::vector<std::byte> source(reasonable(me, 200'000));
    for (std::uint64_t i = 0; i < kMessages; ++i) {
      std::ranges::fill(source, static_cast<std::byte>(i));
      Event source_event;
      ASSERT_TRUE(request(me, *handler, {i}, std::span(source).first(mix(i) % source.size()),
                          GlobalPtr<std::byte>{next(me), 0}, {.source_event = &source_event}));
      ASSERT_TRUE(me.wait(source_event));
      std::ranges::fill(source, static_cast<std::byte>(~i));
      ASSERT_TRUE(progress_until(me, [&] { return handled > i; }));
      ASSERT_TRUE(request(me, previous(me), *next_please));
      ASSERT_TRUE(progress_until(me, [&] { return given > i; }));
    }
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(right);
  });
}

INSTANTIATE_TEST_SUITE_P(On, AmLong, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
