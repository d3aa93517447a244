#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"

namespace aqueduct::conformance {
namespace {

class AmMisuse : public FabricTest {};

TEST_P(AmMisuse, AWrongHandlerIsRefusedBeforeAnythingIsSent) {
  struct Small {
    std::uint32_t value;
  };
  struct Large {
    std::uint64_t value;
  };
  as_each_of(2, 64, [](Endpoint& me) {
    int handled = 0;
    const auto small = on_short_request<Small>(me, [&](auto&, const Small&) { ++handled; });
    const auto medium =
        on_medium_request<Small>(me, [&](auto&, const Small&, std::span<std::byte>) { ++handled; });
    const auto plain =
        register_plain(me, AmCategory::short_request, 2, [&](RequestContext&, auto, auto) { ++handled; });
    const auto reply = on_short_reply<Small>(me, [&](auto&, const Small&) { ++handled; });
    ASSERT_TRUE(small && medium && plain && reply);
    ASSERT_TRUE(me.barrier());
    const std::uint32_t words[3] = {1, 2, 3};
    for (const Rank to : {me.rank(), next(me)}) {
      // In turn: no such handler, another argument struct, another category,
      // a reply's handler, plain instead of typed.
      EXPECT_EQ(request(me, to, ShortRequest<Small>{200}, {1}).code(), ErrorCode::wrong_handler);
      EXPECT_EQ(request(me, to, ShortRequest<Large>{small->id}, {1}).code(), ErrorCode::wrong_handler);
      EXPECT_EQ(request(me, to, ShortRequest<Small>{medium->id}, {1}).code(), ErrorCode::wrong_handler);
      EXPECT_EQ(request(me, to, MediumRequest<Small>{small->id}, {1}, {}).code(), ErrorCode::wrong_handler);
      EXPECT_EQ(request(me, to, ShortRequest<Small>{reply->id}, {1}).code(), ErrorCode::wrong_handler);
      EXPECT_EQ(request(me, to, ShortRequest<Small>{*plain}, {1}).code(), ErrorCode::wrong_handler);
      EXPECT_EQ(request_plain(me, to, AmCategory::short_request, *plain, std::span(words).first(1)).code(),
                ErrorCode::wrong_handler);
      EXPECT_EQ(request_plain(me, to, AmCategory::short_request, *plain, words).code(),
                ErrorCode::wrong_handler);
      EXPECT_EQ(request_plain(me, to, AmCategory::medium_request, *plain, std::span(words).first(2)).code(),
                ErrorCode::wrong_handler);
    }
    ASSERT_TRUE(me.barrier());
    EXPECT_EQ(handled, 0);
  });
}

TEST_P(AmMisuse, AHandlerOfNoCategoryOrWithoutABodyIsRefused) {
  run({2, 64, {{"log", "off"}}}, [](Endpoint& me) {
    for (const int category : {6, 7, 88, 255}) {
      const auto made = register_plain(me, static_cast<AmCategory>(category), 1, [](auto&, auto, auto) {});
      EXPECT_EQ(made.status().code(), ErrorCode::invalid_argument) << category;
    }
    EXPECT_EQ(register_plain(me, AmCategory::long_reply, 1, {}).status().code(), ErrorCode::invalid_argument);
    // They have taken no number.
    const auto first = register_plain(me, AmCategory::long_reply, 1, [](auto&, auto, auto) {});
    const auto next = register_plain(me, AmCategory::short_request, 1, [](auto&, auto, auto) {});
    ASSERT_TRUE(first && next);
    EXPECT_EQ(*first + 1, *next);
    ASSERT_TRUE(me.barrier());
  });
}

// A null pointer to bytes. Typed medium messages look only in checked builds.
TEST_P(AmMisuse, ANullPayloadIsRefusedUnlessItHasNoBytes) {
  run({2, 4096, {{"log", "off"}}}, [](Endpoint& me) {
    int handled = 0, answered = 0;
    const auto plain =
        register_plain(me, AmCategory::medium_request, 0, [&](RequestContext&, auto, auto) { ++handled; });
    const auto medium =
        on_medium_request<NoArguments>(me, [&](auto&, const auto&, std::span<std::byte>) { ++handled; });
    const auto large =
        on_long_request<NoArguments>(me, [&](auto&, const auto&, std::span<std::byte>) { ++handled; });
    const auto reply =
        on_long_reply<NoArguments>(me, [&](auto&, const auto&, std::span<std::byte>) { ++answered; });
    const std::span<const std::byte> nothing(static_cast<const std::byte*>(nullptr), 0);
    ErrorCode to_reply = ErrorCode::ok;
    const auto asked = on_short_request<NoArguments>(me, [&](auto& message, const auto&) {
      const GlobalPtr<std::byte> back{message.source(), 8};
      to_reply = message.reply(*reply, {}, {static_cast<const std::byte*>(nullptr), 16}, back).code();
      static_cast<void>(message.reply(*reply, {}, nothing, back));
    });
    ASSERT_TRUE(plain && medium && large && reply && asked);
    ASSERT_TRUE(me.barrier());
    for (const Rank to : {me.rank(), next(me)}) {
      const GlobalPtr<std::byte> there{to, 8};
      for (const std::size_t size : {std::size_t{1}, std::size_t{64}, std::size_t{4000}}) {
        SCOPED_TRACE(size);
        const std::span<const std::byte> missing(static_cast<const std::byte*>(nullptr), size);
        const std::size_t small = std::min(size, std::size_t{64});
        EXPECT_EQ(request_plain(me, to, AmCategory::medium_request, *plain, {}, missing.first(small)).code(),
                  ErrorCode::invalid_argument);
#ifdef AQUEDUCT_CHECKED
        EXPECT_EQ(request(me, to, *medium, {}, missing.first(small)).code(), ErrorCode::invalid_argument);
#endif
        EXPECT_EQ(request(me, *large, {}, missing, there).code(), ErrorCode::invalid_argument);
      }
      EXPECT_TRUE(request(me, to, *medium, {}, nothing));
      EXPECT_TRUE(request(me, *large, {}, nothing, there));
    }
    ASSERT_TRUE(request(me, next(me), *asked));
    ASSERT_TRUE(
        progress_until(me, [&] { return handled == 4 && answered == 1 && to_reply != ErrorCode::ok; }));
    EXPECT_EQ(to_reply, ErrorCode::invalid_argument);
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(all_are(me.segment(), std::byte{0}));
  });
}

TEST_P(AmMisuse, ARankOutsideTheJobIsRefused) {
  as_each_of(2, 64, [](Endpoint& me) {
    const auto handler = on_short_request<NoArguments>(me, [](auto&, const NoArguments&) {});
    ASSERT_TRUE(handler);
    EXPECT_EQ(request(me, me.ranks(), *handler).code(), ErrorCode::out_of_range);
    EXPECT_EQ(request(me, kNoRank, *handler).code(), ErrorCode::out_of_range);
    EXPECT_EQ(request(me, kAnyRank, *handler).code(), ErrorCode::out_of_range);
    ASSERT_TRUE(me.barrier());
  });
}

// P-8.
TEST_P(AmMisuse, AHandlerThatWouldBlockIsToldSo) {
  as_each_of(2, 4096, [](Endpoint& me) {
    struct Codes {
      std::array<ErrorCode, 8> codes;
      bool inside;
    };
    std::optional<Codes> seen;
    Event pending = put_nb(me, GlobalPtr<std::byte>{next(me), 0}, me.segment().subspan(8, 8));
    ShortRequest<NoArguments> self;
    const auto handler = on_short_request<NoArguments>(me, [&](auto&, const NoArguments&) {
      Team& world = me.world();
      seen = Codes{
          {me.barrier().code(), world.notify().code(), world.wait().code(),
           wait_until(me, 0, 1, kAnyRank, std::chrono::seconds(1)).code(), request(me, next(me), self).code(),
           Segment::create(me, 64).status().code(), world.split(0, 0).status().code(),
           on_short_request<NoArguments>(me, [](auto&, auto&) {}).status().code()},
          me.in_handler()};
    });
    ASSERT_TRUE(handler);
    self = *handler;
    EXPECT_FALSE(me.in_handler());
    ASSERT_TRUE(me.barrier());
    ASSERT_TRUE(request(me, next(me), *handler));
    ASSERT_TRUE(progress_until(me, [&] { return seen.has_value(); }));
    for (std::size_t i = 0; i < seen->codes.size(); ++i) {
      EXPECT_EQ(seen->codes[i], ErrorCode::in_handler) << "call " << i;
    }
    EXPECT_TRUE(seen->inside);
    EXPECT_TRUE(me.wait(pending));
    ASSERT_TRUE(me.barrier());  // none of the calls had an effect
  });
}

TEST_P(AmMisuse, WaitingForAnEventInAHandlerLeavesTheEventAsItWas) {
  as_each_of(2, 1 << 20, [](Endpoint& me) {
    const auto sent = pattern(me.rank(), me.segment().size());
    Event pending;
    std::optional<bool> as_it_was;
    const auto handler = on_short_request<NoArguments>(me, [&](auto&, const NoArguments&) {
      const bool was_done = pending.done();
      const Status status = me.wait(pending);
      as_it_was = was_done ? status.ok() : status.code() == ErrorCode::in_handler && !pending.done();
    });
    ASSERT_TRUE(handler);
    ASSERT_TRUE(me.barrier());
    pending = put_nb(me, GlobalPtr<std::byte>{next(me), 0}, sent);
    ASSERT_TRUE(request(me, me.rank(), *handler));
    ASSERT_TRUE(progress_until(me, [&] { return as_it_was.has_value(); }));
    EXPECT_TRUE(*as_it_was);
    ASSERT_TRUE(me.wait(pending));
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(holds(me.segment(), pattern(previous(me), me.segment().size())));
  });
}

TEST_P(AmMisuse, MoreHandlersThanTheSettingAllowsAreRefused) {
  run({.ranks = 1, .segment_bytes = 64, .settings = {{"handlers", "4"}}}, [](Endpoint& me) {
    int registered = 0;
    Status status;
    while (registered < 100) {
      const auto handler = on_short_request<NoArguments>(me, [](auto&, const NoArguments&) {});
      status = handler.status();
      if (!handler) break;
      ++registered;
    }
    EXPECT_EQ(registered, 4);
    EXPECT_EQ(status.code(), ErrorCode::refused);
  });
}

INSTANTIATE_TEST_SUITE_P(On, AmMisuse, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
