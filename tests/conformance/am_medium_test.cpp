#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"

namespace aqueduct::conformance {
namespace {

class AmMedium : public FabricTest {};

struct NumberedMedium {
  std::uint64_t number;
};

TEST_P(AmMedium, CarriesEverySizeToEveryRankOnce) {
  as_each_of(3, 64, [](Endpoint& me) {
    const std::size_t most = least_limits(me).medium;
    const auto sizes = sizes_around({most}, most);
    ASSERT_EQ(sizes.back(), most);
    std::vector<std::uint32_t> seen(sizes.size());
    std::uint64_t handled = 0;
    testing::AssertionResult right = testing::AssertionSuccess();
    const auto handler = on_medium_request<NumberedMedium>(me, [&](auto& context, const NumberedMedium& args,
                                                                   std::span<std::byte> payload) {
      ++handled;
      ++seen[args.number % sizes.size()];
      const auto same = holds(payload, pattern(1000 * context.source() + args.number, sizes[args.number]));
      if (right && !same) right = same;
    });
    ASSERT_TRUE(handler);
    ASSERT_TRUE(me.barrier());
    std::vector<std::byte> source(most);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      for (Rank to = 0; to < me.ranks(); ++to) {
        const std::size_t limit = am_limits(me, to).medium;
        ASSERT_GE(limit, sizes[i]) << "towards rank " << to;
        std::ranges::copy(pattern(1000 * me.rank() + i, sizes[i]), source.begin());
        ASSERT_TRUE(request(me, to, *handler, {i}, std::span(source).first(sizes[i])))
            << sizes[i] << " bytes";
        std::ranges::fill(source, std::byte{0x5a});  // reusable at return
      }
    }
    ASSERT_TRUE(progress_until(me, [&] { return handled >= me.ranks() * sizes.size(); })) << handled;
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(right);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      EXPECT_EQ(seen[i], me.ranks()) << "messages of " << sizes[i] << " bytes";
    }
  });
}

TEST_P(AmMedium, IsRepliedToWithEverySize) {
  as_each_of(3, 64, [](Endpoint& me) {
    const std::size_t most = least_limits(me).medium;
    const auto sizes = sizes_around({most}, most);
    std::uint64_t replies = 0;
    std::uint64_t refused = 0;
    std::uint64_t too_large = 0;
    testing::AssertionResult right = testing::AssertionSuccess();
    const auto reply = on_medium_reply<NumberedMedium>(me, [&](auto& context, const NumberedMedium& args,
                                                               std::span<std::byte> payload) {
      ++replies;
      const auto same = holds(payload, pattern(1000 * context.source() + args.number, sizes[args.number]));
      if (right && !same) right = same;
    });
    ASSERT_TRUE(reply);
    std::vector<std::byte> source(most);
    const auto ask =
        on_short_request<NumberedMedium>(me, [&](RequestContext& context, const NumberedMedium& args) {
          const std::vector<std::byte> above(am_limits(me, context.source()).medium + 1);
          too_large += context.reply(*reply, {args.number}, above).code() == ErrorCode::too_large;
          std::ranges::copy(pattern(1000 * me.rank() + args.number, sizes[args.number]), source.begin());
          refused += !context.reply(*reply, args, std::span(source).first(sizes[args.number])).ok();
          std::ranges::fill(source, std::byte{0x5a});  // reusable at return
        });
    ASSERT_TRUE(ask);
    ASSERT_TRUE(me.barrier());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      for (Rank to = 0; to < me.ranks(); ++to) ASSERT_TRUE(request(me, to, *ask, {i}));
    }
    const std::size_t all = me.ranks() * sizes.size();
    ASSERT_TRUE(progress_until(me, [&] { return replies >= all; })) << replies;
    ASSERT_TRUE(me.barrier());
    EXPECT_EQ(replies, all);
    EXPECT_EQ(refused, 0u);
    EXPECT_EQ(too_large, all) << "replies above the limit that were refused";
    EXPECT_TRUE(right);
  });
}

TEST_P(AmMedium, AboveItsLimitIsRefused) {
  as_each_of(2, 64, [](Endpoint& me) {
    int handled = 0;
    const auto handler = on_medium_request<NoArguments>(
        me, [&](auto&, const NoArguments&, std::span<std::byte>) { ++handled; });
    ASSERT_TRUE(handler);
    ASSERT_TRUE(me.barrier());
    for (const Rank to : {me.rank(), next(me)}) {
      const std::vector<std::byte> payload(am_limits(me, to).medium + 1);
      EXPECT_EQ(request(me, to, *handler, {}, payload).code(), ErrorCode::too_large);
      EXPECT_TRUE(request(me, to, *handler, {}, std::span(payload).first(payload.size() - 1)));
    }
    ASSERT_TRUE(progress_until(me, [&] { return handled >= 2; }));
    ASSERT_TRUE(me.barrier());
    EXPECT_EQ(handled, 2);
  });
}

TEST_P(AmMedium, SourceEventSaysWhenThePayloadMayBeOverwritten) {
  as_each_of(2, 64, [](Endpoint& me) {
    const std::size_t most = least_limits(me).medium;
    constexpr std::uint64_t kMessages = 200;
    std::uint64_t handled = 0;
    testing::AssertionResult right = testing::AssertionSuccess();
    const auto handler = on_medium_request<NumberedMedium>(
        me, [&](auto&, const NumberedMedium& args, std::span<std::byte> payload) {
          ++handled;
          const auto same = all_are(payload, static_cast<std::byte>(args.number));
          if (right && !same) right = same;
        });
    ASSERT_TRUE(handler);
    ASSERT_TRUE(me.barrier());
    std::vector<std::byte> source(most);
    for (std::uint64_t i = 0; i < kMessages; ++i) {
      std::ranges::fill(source, static_cast<std::byte>(i));
      Event source_event;
      ASSERT_TRUE(request(me, next(me), *handler, {i}, std::span(source).first(mix(i) % most),
                          {.source_event = &source_event}));
      ASSERT_TRUE(me.wait(source_event));
      std::ranges::fill(source, static_cast<std::byte>(~i));
    }
    ASSERT_TRUE(progress_until(me, [&] { return handled >= kMessages; })) << handled;
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(right);
  });
}

TEST_P(AmMedium, ImmediateOnesThatAreRefusedAreNotSent) {
  run({.ranks = 2, .segment_bytes = 64, .settings = {{"credits", "2"}}}, [](Endpoint& me) {
    constexpr std::uint64_t kMessages = 2000;
    std::uint64_t handled = 0;
    std::uint64_t sent_to_me = 0;
    bool told = false;
    const auto handler = on_medium_request<NumberedMedium>(
        me, [&](auto&, const NumberedMedium&, std::span<std::byte>) { ++handled; });
    const auto tell = on_short_request<NumberedMedium>(me, [&](auto&, const NumberedMedium& args) {
      sent_to_me = args.number;
      told = true;
    });
    ASSERT_TRUE(handler && tell);
    ASSERT_TRUE(me.barrier());
    const auto payload = pattern(1, 100);
    std::uint64_t accepted = 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    // A queue may stay full as long as its owner is not scheduled, but not for ever.
    for (std::uint64_t i = 0; i < kMessages || (accepted == 0 && std::chrono::steady_clock::now() < end);
         ++i) {
      const Status status = request(me, next(me), *handler, {i}, payload, {.immediate = true});
      if (status) {
        ++accepted;
      } else {
        ASSERT_EQ(status.code(), ErrorCode::refused);
        me.progress();
      }
    }
    ASSERT_TRUE(request(me, next(me), *tell, {accepted}));
    ASSERT_TRUE(progress_until(me, [&] { return told && handled >= sent_to_me; }));
    ASSERT_TRUE(me.barrier());
    EXPECT_EQ(handled, sent_to_me);
    EXPECT_GT(accepted, 0u);
  });
}

TEST_P(AmMedium, InThePlainFormTravelsBothWays) {
  as_each_of(2, 64, [](Endpoint& me) {
    const auto payload = pattern(3, std::min<std::size_t>(200, least_limits(me).medium));
    int replies = 0;
    int wrong = 0;
    const auto reply = register_plain(
        me, AmCategory::medium_reply, 3, [&](RequestContext& context, auto args, std::span<std::byte> bytes) {
          ++replies;
          wrong += args[0] != 5 || args[2] != 7 || !holds(bytes, payload) || context.source() != next(me);
        });
    ASSERT_TRUE(reply);
    const auto ask =
        register_plain(me, AmCategory::medium_request, 1,
                       [&](RequestContext& context, auto args, std::span<std::byte> bytes) {
                         const std::uint32_t answer[] = {args[0], 6, 7};
                         wrong += !context.reply_plain(AmCategory::medium_reply, *reply, answer, bytes).ok();
                       });
    ASSERT_TRUE(ask);
    ASSERT_TRUE(me.barrier());
    const std::uint32_t question[] = {5};
    ASSERT_TRUE(request_plain(me, next(me), AmCategory::medium_request, *ask, question, payload));
    ASSERT_TRUE(progress_until(me, [&] { return replies == 1; }));
    EXPECT_EQ(wrong, 0);
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, AmMedium, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
