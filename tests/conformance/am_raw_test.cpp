#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace aqueduct::conformance {
namespace {

class AmRaw : public FabricTest {};

constexpr std::size_t kRawSlot = 64;    ///< bytes of a long message's place
constexpr std::size_t kRawArea = 4096;  ///< bytes of all places of one sender
constexpr std::uint8_t kAsk = 3;
constexpr std::uint8_t kAnswer = 200;

/// A raw message that follows from its tag: words, payload and place.
struct RawSample {
  std::array<std::uint32_t, 16> words;
  std::size_t count;
  std::vector<std::byte> payload;

  RawSample(std::uint16_t tag, AmCategory category) : words{}, count(tag % 17u) {
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::uint32_t>(mix(tag * 100u + i));
    const bool is_short = category == AmCategory::short_request || category == AmCategory::short_reply;
    payload = pattern(tag, is_short ? 0 : tag % kRawSlot);
  }
  RawCall call(std::uint8_t number, std::uint16_t tag) const {
    return {number, tag, std::span(words).first(count)};
  }
  bool is(const RawContext& message) const {
    return std::ranges::equal(message.words(), std::span(words).first(count)) &&
           holds(message.payload(), payload);
  }
};

/// Where a long message lies: requests first, then replies.
std::size_t raw_place(const Endpoint& me, Rank sender, std::uint16_t tag, bool is_reply) {
  return (sender + (is_reply ? me.ranks() : 0)) * kRawArea + tag * kRawSlot;
}

Status answer_like(RawContext& message, const RawCall& call, const RawSample& sample, std::size_t place) {
  switch (message.category()) {
    case AmCategory::short_request: return message.reply_short(call);
    case AmCategory::medium_request: return message.reply_medium(call, sample.payload);
    default: return message.reply_long(call, sample.payload, {message.source(), place});
  }
}

TEST_P(AmRaw, EveryCategoryArrivesAndIsRepliedToWithEveryNumberOfWords) {
  as_each_of(2, 4 * kRawArea, [](Endpoint& me) {
    int asked = 0;
    int answered = 0;
    int wrong = 0;
    auto space = HandlerSpace::create(me, "kit raw");
    ASSERT_TRUE(space);
    const auto like = [](AmCategory request) {
      return static_cast<AmCategory>(static_cast<int>(request) + 3);
    };
    ASSERT_TRUE(space->add(kAsk, [&](RawContext& message) {
      ++asked;
      const RawSample request(message.tag(), message.category());
      wrong += !request.is(message) || !message.is_request() || message.number() != kAsk;
      const RawSample reply(message.tag(), like(message.category()));
      const auto place = raw_place(me, me.rank(), message.tag(), true);
      wrong += !answer_like(message, reply.call(kAnswer, message.tag()), reply, place).ok();
      wrong += message.reply_short({kAnswer}).ok();  // a second reply
    }));
    ASSERT_TRUE(space->add(kAnswer, [&](RawContext& message) {
      ++answered;
      wrong += !RawSample(message.tag(), message.category()).is(message) || message.is_request();
      wrong += message.reply_short({kAnswer}).ok();  // a reply to a reply
    }));
    ASSERT_TRUE(me.barrier());
    int sent = 0;
    for (const Rank to : {me.rank(), next(me)}) {
      for (std::uint16_t tag = 0; tag < 51; ++tag) {
        const auto category = static_cast<AmCategory>(tag / 17);
        const RawSample sample(tag, category);
        const RawCall call = sample.call(kAsk, tag);
        Status status;
        if (category == AmCategory::short_request) {
          status = space->request_short(to, call);
        } else if (category == AmCategory::medium_request) {
          status = space->request_medium(to, call, sample.payload);
        } else {
          status = space->request_long(call, sample.payload, {to, raw_place(me, me.rank(), tag, false)});
        }
        ASSERT_TRUE(status) << "tag " << tag << ": " << status.text();
        ++sent;
      }
    }
    ASSERT_TRUE(progress_until(me, [&] { return asked >= sent && answered >= sent; }))
        << asked << " requests, " << answered << " replies of " << sent;
    ASSERT_TRUE(me.barrier());
    EXPECT_EQ(asked, sent);
    EXPECT_EQ(answered, sent);
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(me.statistics().rejected, 0u);
  });
}

TEST_P(AmRaw, MediumAtItsLimitArrivesAndAboveItIsRefused) {
  as_each_of(2, 64, [](Endpoint& me) {
    std::size_t heard = 0;
    auto space = HandlerSpace::create(me, "limits");
    ASSERT_TRUE(space);
    ASSERT_TRUE(space->add(0, [&](RawContext& message) { heard = message.payload().size(); }));
    ASSERT_TRUE(me.barrier());
    const std::size_t most = am_limits(me, next(me)).medium;
    const auto payload = pattern(1, most + 1);
    const std::array<std::uint32_t, 17> words{};
    const RawCall call{0, 1, std::span(words).first(16)};
    EXPECT_EQ(space->request_medium(next(me), call, payload).code(), ErrorCode::too_large);
    EXPECT_EQ(space->request_short(next(me), {0, 1, words}).code(), ErrorCode::too_large);
    EXPECT_EQ(space->request_short(me.ranks(), call).code(), ErrorCode::out_of_range);
    EXPECT_TRUE(space->request_medium(next(me), call, std::span(payload).first(most)));
    ASSERT_TRUE(progress_until(me, [&] { return heard != 0; }));
    EXPECT_EQ(heard, most);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(AmRaw, SpacesMayBeCreatedInAnyOrderAndTablesMayDiffer) {
  as_each_of(2, 64, [](Endpoint& me) {
    std::array<int, 2> heard{};
    std::array<std::optional<HandlerSpace>, 2> spaces;
    for (std::size_t i = 0; i < 2; ++i) {
      const std::size_t which = (i + me.rank()) % 2;
      auto made = HandlerSpace::create(me, which == 0 ? "first client" : "second client");
      ASSERT_TRUE(made);
      spaces[which] = *made;
    }
    // The same message in each space, under a number that differs between the ranks.
    const auto number_of = [](Rank rank) { return static_cast<std::uint8_t>(rank == 0 ? 0 : 255); };
    for (std::size_t which = 0; which < 2; ++which) {
      ASSERT_TRUE(spaces[which]->add(number_of(me.rank()), [&heard, which](RawContext& message) {
        heard[which] += message.tag() == which ? 1 : 1000;
      }));
      EXPECT_FALSE(spaces[which]->has(number_of(next(me))));
    }
    ASSERT_TRUE(me.barrier());
    for (std::uint16_t which = 0; which < 2; ++which) {
      for (int i = 0; i < 100; ++i)
        ASSERT_TRUE(spaces[which]->request_short(next(me), {number_of(next(me)), which}));
    }
    ASSERT_TRUE(progress_until(me, [&] { return heard[0] >= 100 && heard[1] >= 100; }));
    ASSERT_TRUE(me.barrier());
    EXPECT_EQ(heard[0], 100);
    EXPECT_EQ(heard[1], 100);
  });
}

// More than there are credits, so that the sender would wait for ever if a rejected message kept its credit.
TEST_P(AmRaw, WhatTheTargetDoesNotKnowIsRejectedAndHoldsNobodyUp) {
  run({.ranks = 2, .segment_bytes = 64, .settings = {{"log", "off"}, {"credits", "8"}}}, [](Endpoint& me) {
    constexpr std::uint64_t kEach = 40;
    int heard = 0;
    auto common = HandlerSpace::create(me, "common");
    auto own = HandlerSpace::create(me, me.rank() == 0 ? "of rank 0" : "of rank 1");
    ASSERT_TRUE(common && own);
    ASSERT_TRUE(common->add(1, [&](RawContext&) { ++heard; }));
    ASSERT_TRUE(common->add(2, [&](RawContext&) { heard += 1000; },
                            {.categories = RawAccepts::bit(AmCategory::medium_request)}));
    ASSERT_TRUE(common->add(3, [&](RawContext&) { heard += 1000; }, {.least_words = 2, .most_words = 3}));
    ASSERT_TRUE(common->add(4, [&](RawContext&) { heard += 1000; }));
    ASSERT_TRUE(common->remove(4));
    ASSERT_TRUE(me.barrier());
    const std::array<std::uint32_t, 4> words{};
    for (std::uint64_t i = 0; i < kEach; ++i) {
      EXPECT_TRUE(common->request_short(next(me), {4}));  // no such number
      EXPECT_TRUE(own->request_short(next(me), {1}));     // no such space
      EXPECT_TRUE(common->request_short(next(me), {2}));  // another category
      EXPECT_TRUE(common->request_short(next(me), {3, 0, std::span(words).first(1)}));
      EXPECT_TRUE(common->request_short(next(me), {3, 0, words}));
    }
    ASSERT_TRUE(common->request_short(next(me), {1}));
    ASSERT_TRUE(progress_until(me, [&] { return heard >= 1 && me.statistics().rejected >= 5 * kEach; }))
        << me.statistics().rejected << " rejected";
    ASSERT_TRUE(me.barrier());
    EXPECT_EQ(heard, 1);
    EXPECT_EQ(me.statistics().rejected, 5 * kEach);
  });
}

TEST_P(AmRaw, RegisteredWronglyIsRefused) {
  run({.ranks = 2, .segment_bytes = 64, .settings = {{"log", "off"}}}, [](Endpoint& me) {
    EXPECT_EQ(HandlerSpace::create(me, "").status().code(), ErrorCode::invalid_argument);
    auto space = HandlerSpace::create(me, "mine");
    ASSERT_TRUE(space);
    EXPECT_EQ(HandlerSpace::create(me, "mine").status().code(), ErrorCode::invalid_argument);
    EXPECT_EQ(space->add(5, nullptr, nullptr).code(), ErrorCode::invalid_argument);
    EXPECT_EQ(space->remove(5).code(), ErrorCode::invalid_argument);
    EXPECT_EQ(space->add(5, [](RawContext&) {}, {.categories = 0}).code(), ErrorCode::invalid_argument);
    std::optional<std::array<ErrorCode, 4>> inside;
    ASSERT_TRUE(space->add(5, [&](RawContext&) {
      inside = {space->add(6, [](RawContext&) {}).code(), space->remove(5).code(),
                HandlerSpace::create(me, "other").status().code(), space->request_short(0, {5}).code()};
    }));
    EXPECT_EQ(space->add(5, [](RawContext&) {}).code(), ErrorCode::invalid_argument);
    ASSERT_TRUE(me.barrier());
    ASSERT_TRUE(space->request_short(next(me), {5}));
    ASSERT_TRUE(progress_until(me, [&] { return inside.has_value(); }));
    for (std::size_t i = 0; i < inside->size(); ++i)
      EXPECT_EQ((*inside)[i], ErrorCode::in_handler) << "call " << i;
    for (int made = 1;; ++made) {
      const auto more = HandlerSpace::create(me, "space " + std::to_string(made));
      if (more) continue;
      EXPECT_EQ(more.status().code(), ErrorCode::refused);
      EXPECT_EQ(made, 64);
      break;
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(AmRaw, AFunctionInTheStyleOfCGetsItsArgument) {
  as_each_of(2, 64, [](Endpoint& me) {
    std::uint32_t sum = 0;
    auto space = HandlerSpace::create(me, "c");
    ASSERT_TRUE(space);
    const RawHandler add_up = [](void* argument, RawContext& message) {
      *static_cast<std::uint32_t*>(argument) += message.words()[0];
    };
    ASSERT_TRUE(space->add(9, add_up, &sum));
    ASSERT_TRUE(me.barrier());
    const std::array<std::uint32_t, 1> seven{7};
    ASSERT_TRUE(space->request_short(next(me), {9, 0, seven}));
    ASSERT_TRUE(progress_until(me, [&] { return sum != 0; }));
    EXPECT_EQ(sum, 7u);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(AmRaw, ToOneselfRunsInProgressAndNotInTheCall) {
  as_each_of(2, 4096, [](Endpoint& me) {
    int heard = 0;
    auto space = HandlerSpace::create(me, "myself");
    ASSERT_TRUE(space);
    ASSERT_TRUE(space->add(0, [&](RawContext&) { ++heard; }));
    const auto typed = on_short_request<NoArguments>(me, [&](auto&, const NoArguments&) { ++heard; });
    ASSERT_TRUE(typed);
    ASSERT_TRUE(me.barrier());
    const auto payload = pattern(1, 100);
    // A call that waits for room makes progress, so earlier messages may have run; its own has not.
    ASSERT_TRUE(space->request_short(me.rank(), {0}));
    EXPECT_LT(heard, 1);
    ASSERT_TRUE(space->request_medium(me.rank(), {0}, payload));
    EXPECT_LT(heard, 2);
    ASSERT_TRUE(space->request_long({0}, payload, {me.rank(), 8}));
    EXPECT_LT(heard, 3);
    ASSERT_TRUE(request(me, me.rank(), *typed));
    EXPECT_LT(heard, 4);
    ASSERT_TRUE(progress_until(me, [&] { return heard >= 4; }));
    EXPECT_EQ(heard, 4);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(AmRaw, LongOfNoBytesNamesAnyPlaceOfTheSegmentAndItsEnd) {
  as_each_of(2, 4096, [](Endpoint& me) {
    std::vector<std::ptrdiff_t> places;
    auto space = HandlerSpace::create(me, "places");
    ASSERT_TRUE(space);
    ASSERT_TRUE(space->add(
        0, [&](RawContext& message) { places.push_back(message.payload().data() - me.segment().data()); }));
    ASSERT_TRUE(me.barrier());
    for (const std::uint64_t offset : std::initializer_list<std::uint64_t>{0, 1, 4095, 4096})
      ASSERT_TRUE(space->request_long({0}, {}, {next(me), offset})) << offset;
    EXPECT_EQ(space->request_long({0}, {}, {next(me), 4097}).code(), ErrorCode::out_of_range);
    ASSERT_TRUE(progress_until(me, [&] { return places.size() >= 4; }));
    std::ranges::sort(places);  // messages are not ordered
    EXPECT_EQ(places, (std::vector<std::ptrdiff_t>{0, 1, 4095, 4096}));
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, AmRaw, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
