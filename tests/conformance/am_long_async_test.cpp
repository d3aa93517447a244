#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

namespace aqueduct::conformance {
namespace {

/// Long requests that go on by themselves: with a source event, and more than a packet to memory that is not mapped.
class AmLongAsync : public FabricTest {};

struct NumberedPart {
  std::uint64_t number;
  std::uint64_t bytes;
};

/// Checks long messages against their arguments.
struct LongParts {
  std::uint64_t heard = 0;
  testing::AssertionResult right = testing::AssertionSuccess();

  auto handler() {
    return [this](auto& context, const NumberedPart& args, std::span<std::byte> payload) {
      ++heard;
      const auto same = payload.size() == args.bytes
                            ? holds(payload, pattern(900 * context.source() + args.number, args.bytes))
                            : testing::AssertionFailure() << payload.size() << " bytes of " << args.bytes;
      if (right && !same) right = same;
    };
  }
};

/// Whether a long request of that size travels as a put.
bool goes_as_a_put(Endpoint& me, Rank to, std::size_t bytes) {
  return me.local(GlobalPtr<std::byte>{to, 0}, 1) == nullptr && bytes > am_limits(me, to).medium;
}

TEST_P(AmLongAsync, EverySizeAroundAPacketArrivesWithASourceEvent) {
  as_each_of(2, 512 * 1024, [](Endpoint& me) {
    LongParts parts;
    const auto handler = on_long_request<NumberedPart>(me, parts.handler());
    ASSERT_TRUE(handler);
    ASSERT_TRUE(me.barrier());
    const std::size_t medium = am_limits(me, next(me)).medium;
    const std::size_t packet = medium - 24;  // the target of a long message takes 24 bytes of its packet
    const std::size_t most = reasonable(me, 250'000);
    std::uint64_t sent = 0;
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, packet - 1, packet, packet + 1, medium,
                                    medium + 1, 2 * packet, 3 * packet + 5}) {
      if (bytes > most) continue;
      auto source = pattern(900 * me.rank() + sent, bytes);
      Event free;
      ASSERT_TRUE(request(me, *handler, {sent, bytes}, source, GlobalPtr<std::byte>{next(me), 5},
                          {.source_event = &free}))
          << bytes << " bytes";
      ASSERT_TRUE(me.wait(free)) << bytes << " bytes";
      std::ranges::fill(source, std::byte{0x5a});
      ++sent;
      // The next message overwrites this one.
      ASSERT_TRUE(progress_until(me, [&] { return parts.heard >= sent; })) << bytes << " bytes";
      ASSERT_TRUE(parts.right) << bytes << " bytes";
      ASSERT_TRUE(me.barrier());
    }
    EXPECT_EQ(parts.heard, sent);
  });
}

// The initiator never waits for a target that computes most of the time, but for its own source events.
TEST_P(AmLongAsync, ArriveAtATargetThatComputes) {
  as_each_of(2, 1 << 20, [](Endpoint& me) {
    constexpr std::uint64_t kMessages = 6;
    LongParts parts;
    const auto handler = on_long_request<NumberedPart>(me, parts.handler());
    ASSERT_TRUE(handler);
    ASSERT_TRUE(me.barrier());
    const std::size_t bytes = reasonable(me, 150'000);
    if (me.rank() == 0) {
      std::vector<std::vector<std::byte>> sources;
      std::vector<Event> free(kMessages);
      for (std::uint64_t i = 0; i < kMessages; ++i) {
        sources.push_back(pattern(i, bytes));
        ASSERT_TRUE(request(me, *handler, {i, bytes}, sources.back(), GlobalPtr<std::byte>{1, i * bytes},
                            {.source_event = &free[i]}));
      }
      for (Event& one : free) ASSERT_TRUE(me.wait(one));
    } else if (me.rank() == 1) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
      while (parts.heard < kMessages && std::chrono::steady_clock::now() < end) {
        const auto computed = std::chrono::steady_clock::now() + std::chrono::microseconds(300);
        while (std::chrono::steady_clock::now() < computed) {
        }
        me.progress();
      }
      EXPECT_EQ(parts.heard, kMessages);
      EXPECT_TRUE(parts.right);
    }
    ASSERT_TRUE(me.barrier());
  });
}

/// Sends many long requests to each other rank, some of them in flight together.
void flood(Endpoint& me, std::uint64_t messages, std::size_t bytes) {
  constexpr std::size_t kWindow = 4;
  LongParts parts;
  const auto handler = on_long_request<NumberedPart>(me, parts.handler());
  ASSERT_TRUE(handler);
  ASSERT_TRUE(me.barrier());
  std::vector<std::vector<std::byte>> sources(kWindow);
  std::vector<Event> free(kWindow);
  std::uint64_t sent = 0;
  for (std::uint64_t i = 0; i < messages; ++i) {
    for (Rank turn = 1; turn < me.ranks(); ++turn, ++sent) {
      const Rank to = (me.rank() + turn) % me.ranks();
      const std::size_t slot = sent % kWindow;
      ASSERT_TRUE(me.wait(free[slot]));
      sources[slot] = pattern(900 * me.rank() + i, bytes);
      const GlobalPtr<std::byte> place{to, (me.rank() * messages + i) * bytes};
      ASSERT_TRUE(request(me, *handler, {i, bytes}, sources[slot], place, {.source_event = &free[slot]}));
    }
  }
  for (Event& one : free) ASSERT_TRUE(me.wait(one));
  ASSERT_TRUE(progress_until(me, [&] { return parts.heard >= sent; })) << parts.heard << " of " << sent;
  ASSERT_TRUE(me.barrier());
  EXPECT_EQ(parts.heard, sent);
  EXPECT_TRUE(parts.right);
}

TEST_P(AmLongAsync, FloodsInBothDirectionsEnd) {
  as_each_of(2, 4 << 20, [](Endpoint& me) { flood(me, 40, reasonable(me, 40'000)); });
}

TEST_P(AmLongAsync, FloodsFromAllToAllEndWithFewOfEverything) {
  run({.ranks = 3, .segment_bytes = 4 << 20, .settings = {{"operations", "16"}, {"credits", "2"}}},
      [](Endpoint& me) { flood(me, 20, reasonable(me, 20'000)); });
}

TEST_P(AmLongAsync, ImmediateIsSentOrRefusedAndNeverWaits) {
  run({.ranks = 2, .segment_bytes = 1 << 20, .settings = {{"credits", "2"}}}, [](Endpoint& me) {
    constexpr std::uint64_t kTries = 200;
    std::uint64_t heard = 0;  // the payload is not looked at: the next one overwrites it
    std::uint64_t expected = 0;
    bool told = false;
    const auto handler =
        on_long_request<NoArguments>(me, [&](auto&, const NoArguments&, std::span<std::byte>) { ++heard; });
    const auto tell = on_short_request<std::uint64_t>(me, [&](auto&, const std::uint64_t& count) {
      expected = count;
      told = true;
    });
    ASSERT_TRUE(handler && tell);
    ASSERT_TRUE(me.barrier());
    const std::size_t bytes = std::min<std::size_t>(am_limits(me, next(me)).medium + 1000, 50'000);
    const auto source = pattern(me.rank(), bytes);
    const GlobalPtr<std::byte> place{next(me), 3};
    if (goes_as_a_put(me, next(me), bytes)) {
      EXPECT_EQ(request(me, *handler, {}, source, place, {.immediate = true}).code(),
                ErrorCode::invalid_argument);
    }
    std::uint64_t sent = 0;
    for (std::uint64_t i = 0; i < kTries; ++i) {
      Event free;
      const Status status =
          request(me, *handler, {}, source, place, {.immediate = true, .source_event = &free});
      if (status) {
        ++sent;
        ASSERT_TRUE(me.wait(free));
      } else {
        ASSERT_EQ(status.code(), ErrorCode::refused) << status.text();
        me.progress();
      }
    }
    ASSERT_TRUE(request(me, next(me), *tell, sent));
    ASSERT_TRUE(progress_until(me, [&] { return told && heard >= expected; }));
    EXPECT_EQ(heard, expected);
    ASSERT_TRUE(me.barrier());
    if (expected != 0) {
      EXPECT_TRUE(holds(me.segment().subspan(3, bytes), pattern(previous(me), bytes)));
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(AmLongAsync, RawAndNegotiatedOnesGoOnByThemselvesToo) {
  as_each_of(2, 1 << 20, [](Endpoint& me) {
    int heard = 0;
    int wrong = 0;
    const std::size_t bytes = reasonable(me, 100'000);
    std::array<std::uint32_t, 16> words{};
    for (std::uint32_t i = 0; i < words.size(); ++i) words[i] = 1000 + i;
    auto space = HandlerSpace::create(me, "long");
    ASSERT_TRUE(space);
    ASSERT_TRUE(space->add(255, [&](RawContext& message) {
      ++heard;
      wrong += !std::ranges::equal(message.words(), words) || message.tag() != 0xffff ||
               !holds(message.payload(), pattern(message.source(), bytes));
    }));
    ASSERT_TRUE(me.barrier());
    const auto source = pattern(me.rank(), bytes);
    const RawCall call{255, 0xffff, words};
    std::array<Event, 2> free;
    ASSERT_TRUE(space->request_long(call, source, {next(me), 0}, {.source_event = &free[0]}));
    auto prepared =
        prepare_long(me, GlobalPtr<std::byte>{next(me), 500'000}, PayloadBounds{bytes, bytes, source});
    ASSERT_TRUE(prepared) << prepared.status().text();
    ASSERT_TRUE(prepared->commit_raw(*space, call, bytes, {.source_event = &free[1]}));
    for (Event& one : free) ASSERT_TRUE(me.wait(one));
    ASSERT_TRUE(progress_until(me, [&] { return heard >= 2; }));
    ASSERT_TRUE(me.barrier());
    EXPECT_EQ(heard, 2);
    EXPECT_EQ(wrong, 0);
  });
}

INSTANTIATE_TEST_SUITE_P(On, AmLongAsync, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
