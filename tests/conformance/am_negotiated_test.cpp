#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

namespace aqueduct::conformance {
namespace {

class AmNegotiated : public FabricTest {};

TEST_P(AmNegotiated, MediumRoomIsBetweenLeastAndMostAndAtMostTheLimit) {
  as_each_of(2, 64, [](Endpoint& me) {
    ASSERT_TRUE(me.barrier());
    for (const Rank to : {me.rank(), next(me)}) {
      const std::size_t limit = am_limits(me, to).medium;
      const std::vector<std::byte> own(limit + 1);
      for (const std::span<const std::byte> buffer : {std::span<const std::byte>(), std::span(own)}) {
        const auto room = [&](std::size_t least, std::size_t most) -> Result<std::size_t> {
          auto prepared = prepare_medium(me, to, PayloadBounds{least, most, buffer});
          if (!prepared) return prepared.status();
          EXPECT_EQ(prepared->buffer().size(), buffer.empty() ? prepared->size() : 0);
          return prepared->size();
        };
        EXPECT_EQ(room(0, 0).value_or(99), 0u);
        EXPECT_EQ(room(0, 10).value_or(99), 10u);
        EXPECT_EQ(room(10, 10).value_or(99), 10u);
        EXPECT_EQ(room(1, limit - 1).value_or(99), limit - 1);
        EXPECT_EQ(room(limit, limit).value_or(99), limit);
        EXPECT_EQ(room(limit, limit + 1).value_or(99), limit);
        EXPECT_EQ(room(0, SIZE_MAX).value_or(99), limit);
        EXPECT_EQ(room(limit + 1, limit + 1).status().code(), ErrorCode::too_large);
        EXPECT_EQ(room(11, 10).status().code(), ErrorCode::invalid_argument);
      }
      const PayloadBounds beyond{5, 10, std::span(own).first(4)};
      EXPECT_EQ(prepare_medium(me, to, beyond).status().code(), ErrorCode::invalid_argument);
      const PayloadBounds cut{4, 10, std::span(own).first(5)};
      auto prepared = prepare_medium(me, to, cut);
      ASSERT_TRUE(prepared);
      EXPECT_EQ(prepared->size(), 5u);
    }
    EXPECT_EQ(prepare_medium(me, me.ranks(), PayloadBounds{0, 1}).status().code(), ErrorCode::out_of_range);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(AmNegotiated, LongRoomEndsWithTheSegment) {
  constexpr std::size_t kSegment = 200'000;
  as_each_of(2, kSegment, [](Endpoint& me) {
    const auto segment = static_cast<std::size_t>(me.segment_bytes(next(me)));
    const auto end = static_cast<std::int64_t>(segment);
    const std::vector<std::byte> own(segment + 10);
    const auto room = [&](GlobalPtr<std::byte> to, const PayloadBounds& bounds) -> Result<std::size_t> {
      auto prepared = prepare_long(me, to, bounds);
      if (!prepared) return prepared.status();
      return prepared->size();
    };
    ASSERT_TRUE(me.barrier());
    const GlobalPtr<std::byte> there{next(me), 0};
    // From the caller's buffer any size that the segment has.
    EXPECT_EQ(room(there, {0, segment + 10, own}).value_or(1), segment);
    EXPECT_EQ(room(there, {segment, segment + 10, own}).value_or(1), segment);
    EXPECT_EQ(room(there + 100, {0, segment + 10, own}).value_or(1), segment - 100);
    EXPECT_EQ(room(there + 100, {segment, segment, own}).status().code(), ErrorCode::out_of_range);
    EXPECT_EQ(room(there + end, {0, 5, own}).value_or(1), 0u);
    EXPECT_EQ(room(there + (end + 1), {0, 5, own}).status().code(), ErrorCode::out_of_range);
    // A lent buffer: the destination itself, or one packet.
    const auto lent = room(there, {1, SIZE_MAX});
    ASSERT_TRUE(lent);
    EXPECT_TRUE(*lent == segment || *lent < am_limits(me, next(me)).medium) << *lent;
    EXPECT_EQ(room(there + (end - 7), {0, SIZE_MAX}).value_or(99), 7u);
    if (*lent < segment) {
      EXPECT_EQ(room(there, {*lent + 1, SIZE_MAX}).status().code(), ErrorCode::too_large);
    }
    // Without a place the library does not know whether the destination is mapped.
    auto later = prepare_long(me, next(me), PayloadBounds{0, SIZE_MAX});
    ASSERT_TRUE(later);
    EXPECT_LT(later->size(), am_limits(me, next(me)).medium);
    EXPECT_EQ(later->set_place({me.rank(), 0}).code(), ErrorCode::invalid_argument);
    EXPECT_EQ(later->commit_plain(20, {}, 1).code(), ErrorCode::invalid_argument);
    EXPECT_TRUE(later->set_place(there));
    EXPECT_EQ(later->set_place(there).code(), ErrorCode::invalid_argument);
    ASSERT_TRUE(me.barrier());
  });
}

/// The payload that follows from the first word of a message.
std::vector<std::byte> negotiated_payload(std::uint32_t number, std::size_t bytes) {
  return pattern(7000 + number, bytes);
}

// Requests and replies, medium and long, plain and raw, from lent buffers and from the program's.
TEST_P(AmNegotiated, CommittedPlainAndRawArrivesAndIsRepliedToInTheSameWay) {
  constexpr std::size_t kBytes = 90;
  as_each_of(2, 8192, [](Endpoint& me) {
    int asked = 0;
    int answered = 0;
    int wrong = 0;
    const auto check = [&](std::span<const std::uint32_t> words, std::span<std::byte> payload) {
      wrong += words.size() != 2 || words[1] != words[0] + 1 ||
               !holds(payload, negotiated_payload(words[0], kBytes));
    };
    const auto fill = [](std::span<std::byte> buffer, std::uint32_t number) {
      std::ranges::copy(negotiated_payload(number, kBytes), buffer.begin());
    };
    std::array<HandlerId, 2> answers{};
    const auto heard_answer = [&](RequestContext&, auto words, auto payload) {
      ++answered;
      check(words, payload);
    };
    for (const bool is_long : {false, true}) {
      const auto made =
          register_plain(me, is_long ? AmCategory::long_reply : AmCategory::medium_reply, 2, heard_answer);
      ASSERT_TRUE(made);
      answers[is_long] = *made;
    }
    // The reply is of the category of the request; its number is the request's and 100 more.
    const auto reply = [&](auto& context, std::uint32_t number, bool is_long, const auto& commit) {
      ++asked;
      const GlobalPtr<std::byte> place{context.source(), 4096 + 128 * (number % 32)};
      const PayloadBounds bounds{kBytes, kBytes + 5};
      auto prepared = is_long ? context.prepare_long(place, bounds) : context.prepare_medium(bounds);
      if (!prepared || prepared->size() < kBytes) {
        ++wrong;
        return;
      }
      fill(prepared->buffer(), number + 100);
      const std::array<std::uint32_t, 2> words{number + 100, number + 101};
      wrong += commit(*prepared, words, prepared->size() + 1).code() != ErrorCode::too_large;
      // The other kind of reply is refused, and the room remains.
      constexpr bool is_raw = std::is_same_v<std::remove_cvref_t<decltype(context)>, RawContext>;
      const Status other = is_raw ? prepared->commit_plain(answers[is_long], words, kBytes)
                                  : prepared->commit_raw({2, 0, words}, kBytes);
      wrong += other.code() != ErrorCode::wrong_handler || prepared->size() < kBytes;
      wrong += is_raw && context.reply_plain(is_long ? AmCategory::long_reply : AmCategory::medium_reply,
                                             answers[is_long], words, prepared->buffer(), place)
                                 .code() != ErrorCode::wrong_handler;
      wrong += !commit(*prepared, words, kBytes).ok();
      wrong += commit(*prepared, words, kBytes).code() != ErrorCode::invalid_argument;
      wrong += context.prepare_medium(bounds).status().code() != ErrorCode::invalid_argument;
    };
    std::array<HandlerId, 2> asks{};
    for (const bool is_long : {false, true}) {
      const auto made = register_plain(me, is_long ? AmCategory::long_request : AmCategory::medium_request, 2,
                                       [&, is_long](RequestContext& context, auto words, auto payload) {
                                         check(words, payload);
                                         reply(context, words[0], is_long,
                                               [&](PreparedReply& prepared, auto answer, std::size_t used) {
                                                 return prepared.commit_plain(answers[is_long], answer, used);
                                               });
                                       });
      ASSERT_TRUE(made);
      asks[is_long] = *made;
    }
    auto space = HandlerSpace::create(me, "negotiated");
    ASSERT_TRUE(space);
    ASSERT_TRUE(space->add(1, [&](RawContext& message) {
      check(message.words(), message.payload());
      reply(message, message.words()[0], message.category() == AmCategory::long_request,
            [&](PreparedReply& prepared, auto answer, std::size_t used) {
              return prepared.commit_raw({2, 0, answer}, used);
            });
    }));
    ASSERT_TRUE(space->add(2, [&](RawContext& message) {
      ++answered;
      check(message.words(), message.payload());
    }));
    ASSERT_TRUE(me.barrier());
    std::uint32_t number = 0;
    for (const Rank to : {me.rank(), next(me)}) {
      for (const bool is_raw : {false, true}) {
        for (const bool is_long : {false, true}) {
          for (const bool is_own : {false, true}) {
            const auto own = negotiated_payload(number, kBytes);
            const GlobalPtr<std::byte> place{to, 128 * number};
            const PayloadBounds bounds{
                kBytes, kBytes, is_own ? std::span<const std::byte>(own) : std::span<const std::byte>()};
            auto prepared = is_long ? prepare_long(me, place, bounds) : prepare_medium(me, to, bounds);
            ASSERT_TRUE(prepared) << prepared.status().text();
            if (!is_own) fill(prepared->buffer(), number);
            const std::array<std::uint32_t, 2> words{number, number + 1};
            const Status status = is_raw ? prepared->commit_raw(*space, {1, 0, words}, kBytes)
                                         : prepared->commit_plain(asks[is_long], words, kBytes);
            ASSERT_TRUE(status) << "message " << number << ": " << status.text();
            EXPECT_EQ(prepared->size(), 0u);
            ++number;
          }
        }
      }
    }
    const int all = static_cast<int>(number);
    ASSERT_TRUE(progress_until(me, [&] { return asked >= all && answered >= all; }))
        << asked << " requests, " << answered << " replies of " << all;
    ASSERT_TRUE(me.barrier());
    EXPECT_EQ(wrong, 0);
  });
}

TEST_P(AmNegotiated, CancelledIsNotSentAndGivesItsRoomBack) {
  run({.ranks = 2, .segment_bytes = 4096, .settings = {{"prepared", "2"}}}, [](Endpoint& me) {
    int heard = 0;
    const auto plain = register_plain(me, AmCategory::medium_request, 0,
                                      [&](RequestContext&, auto, std::span<std::byte>) { ++heard; });
    ASSERT_TRUE(plain);
    ASSERT_TRUE(me.barrier());
    for (int round = 0; round < 100; ++round) {
      auto first = prepare_medium(me, next(me), PayloadBounds{10, 20});
      auto second = prepare_long(me, GlobalPtr<std::byte>{next(me), 0}, PayloadBounds{10, 20});
      ASSERT_TRUE(first && second) << "round " << round;
      EXPECT_EQ(prepare_medium(me, next(me), PayloadBounds{1, 1}).status().code(), ErrorCode::refused);
      first->cancel();
      second->cancel();
      EXPECT_TRUE(first->buffer().empty());
      EXPECT_EQ(first->commit_plain(*plain, {}, 10).code(), ErrorCode::invalid_argument);
    }
    auto sent = prepare_medium(me, next(me), PayloadBounds{1, 1});
    ASSERT_TRUE(sent);
    EXPECT_TRUE(sent->commit_plain(*plain, {}, 1));
    ASSERT_TRUE(progress_until(me, [&] { return heard >= 1; }));
    ASSERT_TRUE(me.barrier());
    EXPECT_EQ(heard, 1);
  });
}

TEST_P(AmNegotiated, AReplyFindsRoomWhileAllRequestsRoomIsTaken) {
  run({.ranks = 2, .segment_bytes = 64, .settings = {{"prepared", "1"}}}, [](Endpoint& me) {
    int answered = 0;
    std::optional<ErrorCode> code;
    const auto answer = register_plain(me, AmCategory::medium_reply, 0,
                                       [&](RequestContext&, auto, std::span<std::byte>) { ++answered; });
    const auto ask =
        register_plain(me, AmCategory::short_request, 0, [&](RequestContext& context, auto, auto) {
          auto prepared = context.prepare_medium({8, 8});
          if (prepared) std::ranges::fill(prepared->buffer(), std::byte{1});
          code = prepared ? prepared->commit_plain(*answer, {}, 8).code() : prepared.status().code();
        });
    ASSERT_TRUE(answer && ask);
    auto held = prepare_medium(me, next(me), PayloadBounds{1, 1});
    ASSERT_TRUE(held);
    ASSERT_TRUE(me.barrier());
    ASSERT_TRUE(request_plain(me, next(me), AmCategory::short_request, *ask, {}));
    ASSERT_TRUE(progress_until(me, [&] { return answered >= 1 && code; }));
    EXPECT_EQ(*code, ErrorCode::ok);
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, AmNegotiated, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
