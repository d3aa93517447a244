#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"

#include <algorithm>
#include <array>

namespace aqueduct::conformance {
namespace {

class AmShort : public FabricTest {};

/// An argument struct of any size up to the limit.
template <std::size_t Bytes>
struct Sized {
  std::array<std::byte, Bytes> bytes;
};

template <std::size_t Bytes>
Sized<Bytes> sized(std::uint64_t writer) {
  Sized<Bytes> args;
  std::ranges::copy(pattern(writer, Bytes), args.bytes.begin());
  return args;
}

/// Sends to all ranks, itself included; every message carries its argument whole.
template <std::size_t Bytes>
void exchange_arguments(Endpoint& me) {
  Rank handled = 0;
  Rank wrong = 0;
  const auto request_handler = on_short_request<Sized<Bytes>>(me, [&](auto& context, const auto& args) {
    ++handled;
    if (!holds(args.bytes, sized<Bytes>(context.source()).bytes)) ++wrong;
  });
  ASSERT_TRUE(request_handler);
  ASSERT_TRUE(me.barrier());
  for (Rank to = 0; to < me.ranks(); ++to) {
    ASSERT_TRUE(request(me, to, *request_handler, sized<Bytes>(me.rank())));
  }
  ASSERT_TRUE(progress_until(me, [&] { return handled == me.ranks(); })) << handled << " handled";
  ASSERT_TRUE(me.barrier());
  me.progress();
  EXPECT_EQ(handled, me.ranks());
  EXPECT_EQ(wrong, 0u);
}

TEST_P(AmShort, CarriesArgumentsOfEverySize) {
  as_each_of(3, 64, [](Endpoint& me) {
    EXPECT_GE(least_limits(me).arguments, 64u);
    ASSERT_NO_FATAL_FAILURE(exchange_arguments<1>(me));
    ASSERT_NO_FATAL_FAILURE(exchange_arguments<3>(me));
    ASSERT_NO_FATAL_FAILURE(exchange_arguments<4>(me));
    ASSERT_NO_FATAL_FAILURE(exchange_arguments<7>(me));
    ASSERT_NO_FATAL_FAILURE(exchange_arguments<8>(me));
    ASSERT_NO_FATAL_FAILURE(exchange_arguments<9>(me));
    ASSERT_NO_FATAL_FAILURE(exchange_arguments<31>(me));
    ASSERT_NO_FATAL_FAILURE(exchange_arguments<32>(me));
    ASSERT_NO_FATAL_FAILURE(exchange_arguments<33>(me));
    ASSERT_NO_FATAL_FAILURE(exchange_arguments<63>(me));
    ASSERT_NO_FATAL_FAILURE(exchange_arguments<64>(me));
  });
}

TEST_P(AmShort, ArrivesExactlyOnce) {
  as_each_of(3, 64, [](Endpoint& me) {
    constexpr std::uint32_t kEach = 3000;
    struct Numbered {
      std::uint32_t number;
    };
    std::vector<std::uint8_t> seen(kEach * me.ranks());
    std::uint32_t handled = 0;
    const auto handler = on_short_request<Numbered>(me, [&](auto& context, const Numbered& args) {
      ++handled;
      ++seen[context.source() * kEach + args.number % kEach];
    });
    ASSERT_TRUE(handler);
    ASSERT_TRUE(me.barrier());
    for (std::uint32_t i = 0; i < kEach; ++i) {
      for (Rank to = 0; to < me.ranks(); ++to) ASSERT_TRUE(request(me, to, *handler, {i}));
    }
    ASSERT_TRUE(progress_until(me, [&] { return handled >= seen.size(); })) << handled << " handled";
    ASSERT_TRUE(me.barrier());
    for (int i = 0; i < 100; ++i) me.progress();  // time for a duplicate to arrive
    for (std::size_t i = 0; i < seen.size(); ++i) {
      ASSERT_EQ(seen[i], 1) << "message " << i % kEach << " of rank " << i / kEach;
    }
  });
}

TEST_P(AmShort, IsRepliedToOnceEach) {
  as_each_of(3, 64, [](Endpoint& me) {
    struct Number {
      std::uint64_t value;
    };
    constexpr std::uint64_t kEach = 500;
    std::vector<std::uint8_t> seen(kEach * me.ranks());
    std::uint64_t replies = 0;
    std::uint64_t wrong = 0;
    int second_accepted = 0;
    const auto reply = on_short_reply<Number>(me, [&](auto& context, const Number& n) {
      ++replies;
      if (n.value < 1000 || n.value - 1000 >= kEach) {
        ++wrong;
      } else {
        ++seen[context.source() * kEach + n.value - 1000];
      }
    });
    ASSERT_TRUE(reply);
    const auto ask = on_short_request<Number>(me, [&](RequestContext& context, const Number& n) {
      if (!context.reply(*reply, {n.value + 1000})) ++wrong;
      if (context.reply(*reply, {n.value}).code() != ErrorCode::invalid_argument) ++second_accepted;
    });
    ASSERT_TRUE(ask);
    ASSERT_TRUE(me.barrier());
    for (std::uint64_t i = 0; i < kEach; ++i) {
      for (Rank to = 0; to < me.ranks(); ++to) ASSERT_TRUE(request(me, to, *ask, {i}));
    }
    ASSERT_TRUE(progress_until(me, [&] { return replies >= seen.size(); })) << replies << " replies";
    ASSERT_TRUE(me.barrier());
    EXPECT_EQ(replies, seen.size());
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(second_accepted, 0) << "second replies to one request";
    for (std::size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], 1) << "reply " << i;
  });
}

TEST_P(AmShort, WithoutArgumentsAndInThePlainFormWithEveryNumberOfWords) {
  as_each_of(2, 64, [](Endpoint& me) {
    int empty = 0;
    std::array<int, 17> handled{};
    int wrong = 0;
    const auto bare = on_short_request<NoArguments>(me, [&](auto&, const NoArguments&) { ++empty; });
    ASSERT_TRUE(bare);
    std::array<HandlerId, 17> plain{};
    for (std::uint32_t words = 0; words <= 16; ++words) {
      const auto id = register_plain(me, AmCategory::short_request, words,
                                     [&, words](RequestContext& context, std::span<const std::uint32_t> args,
                                                std::span<std::byte> payload) {
                                       ++handled[words];
                                       wrong += args.size() != words || !payload.empty();
                                       for (const std::uint32_t arg : args)
                                         wrong += arg != 7 * context.source() + words;
                                     });
      ASSERT_TRUE(id);
      plain[words] = *id;
    }
    ASSERT_TRUE(me.barrier());
    ASSERT_TRUE(request(me, next(me), *bare));
    for (std::uint32_t words = 0; words <= 16; ++words) {
      const std::vector<std::uint32_t> args(words, 7 * me.rank() + words);
      ASSERT_TRUE(request_plain(me, next(me), AmCategory::short_request, plain[words], args));
    }
    ASSERT_TRUE(progress_until(
        me, [&] { return empty == 1 && std::ranges::all_of(handled, [](int n) { return n == 1; }); }));
    EXPECT_EQ(wrong, 0);
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, AmShort, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
