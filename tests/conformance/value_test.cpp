#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/pattern.hpp"
#include "tests/support/stepped.hpp"

#include <array>
#include <cstring>
#include <span>
#include <tuple>

namespace aqueduct::conformance {
namespace {

class Value : public FabricTest {};

template <std::size_t Bytes>
using Raw = std::array<std::byte, Bytes>;

template <class T>
T some_value(std::uint64_t writer) {
  if constexpr (std::is_same_v<T, bool>) return writer % 3 == 1;  // no other byte values are a bool
  T value;
  std::memcpy(&value, pattern(writer, sizeof(T)).data(), sizeof(T));
  return value;
}

template <class T>
testing::AssertionResult same(const T& a, const T& b) {
  return holds(std::as_bytes(std::span(&a, 1)), std::as_bytes(std::span(&b, 1)));
}

/// Puts in three forms and gets back, from this rank and another, in slots with gaps on both sides.
template <class T>
void put_and_get(Endpoint& me) {
  std::ranges::fill(me.segment(), std::byte{0});
  ASSERT_TRUE(me.barrier());
  const std::uint64_t writer = 100 * sizeof(T) + me.rank();
  for (const Rank to : {me.rank(), next(me)}) {
    const std::uint64_t at = to == me.rank() ? 0 : 128;
    const GlobalPtr<T> blocking{to, at + 11};
    const GlobalPtr<T> explicitly{to, at + 51};
    const GlobalPtr<T> implicitly{to, at + 91};
    ASSERT_TRUE(put_value(me, blocking, some_value<T>(writer)));
    ASSERT_TRUE(me.wait(put_value_nb(me, explicitly, some_value<T>(writer + 10))));
    ASSERT_TRUE(put_value_nbi(me, implicitly, some_value<T>(writer + 20)));
    ASSERT_TRUE(me.wait_implicit());
    for (const auto& [place, expected] : {std::pair{blocking, writer}, std::pair{explicitly, writer + 10},
                                          std::pair{implicitly, writer + 20}}) {
      const auto read = get_value(me, place);
      ASSERT_TRUE(read);
      EXPECT_TRUE(same(*read, some_value<T>(expected)));
    }
  }
  ASSERT_TRUE(me.barrier());
  // The gaps between slots must not change.
  for (const std::size_t at : {0, 128}) {
    std::size_t clear = at;
    for (const std::size_t slot : {11, 51, 91}) {
      EXPECT_TRUE(all_are(me.segment().subspan(clear, at + slot - clear), std::byte{0}));
      clear = at + slot + sizeof(T);
    }
    EXPECT_TRUE(all_are(me.segment().subspan(clear, at + 128 - clear), std::byte{0}));
  }
  ASSERT_TRUE(me.barrier());
}

TEST_P(Value, OfOneToEightOrSixteenBytesTravelsAlone) {
  as_each_of(3, 256, [](Endpoint& me) {
    ASSERT_NO_FATAL_FAILURE(put_and_get<Raw<1>>(me));
    ASSERT_NO_FATAL_FAILURE(put_and_get<Raw<2>>(me));
    ASSERT_NO_FATAL_FAILURE(put_and_get<Raw<3>>(me));
    ASSERT_NO_FATAL_FAILURE(put_and_get<Raw<4>>(me));
    ASSERT_NO_FATAL_FAILURE(put_and_get<Raw<5>>(me));
    ASSERT_NO_FATAL_FAILURE(put_and_get<Raw<6>>(me));
    ASSERT_NO_FATAL_FAILURE(put_and_get<Raw<7>>(me));
    ASSERT_NO_FATAL_FAILURE(put_and_get<Raw<8>>(me));
    ASSERT_NO_FATAL_FAILURE(put_and_get<Raw<16>>(me));
    ASSERT_NO_FATAL_FAILURE(put_and_get<double>(me));
    ASSERT_NO_FATAL_FAILURE(put_and_get<bool>(me));
  });
}

TEST_P(Value, IsTakenAtTheCall) {
  as_each_of(2, 8 * 2000, [](Endpoint& me) {
    std::vector<Event> events;
    for (std::uint64_t i = 0; i < 2000; ++i) {
      std::uint64_t value = mix(i);  // goes out of scope, and its stack is reused, before the put completes
      events.push_back(put_value_nb(me, GlobalPtr<std::uint64_t>{next(me), 8 * i}, value));
    }
    for (Event& event : events) ASSERT_TRUE(me.wait(event));
    ASSERT_TRUE(me.barrier());
    for (std::uint64_t i = 0; i < 2000; ++i) {
      const auto read = get_value(me, GlobalPtr<const std::uint64_t>{me.rank(), 8 * i});
      ASSERT_TRUE(read);
      ASSERT_EQ(*read, mix(i)) << "value " << i;
    }
  });
}

TEST_P(Value, OutsideTheSegmentIsRefused) {
  as_each_of(2, 64, [](Endpoint& me) {
    const GlobalPtr<std::uint64_t> half_outside{next(me), 60};
    const GlobalPtr<std::uint8_t> no_such_rank{me.ranks(), 0};
    EXPECT_EQ(put_value(me, half_outside, 1).code(), ErrorCode::out_of_range);
    EXPECT_EQ(me.wait(put_value_nb(me, half_outside, 1)).code(), ErrorCode::out_of_range);
    EXPECT_EQ(put_value_nbi(me, half_outside, 1).code(), ErrorCode::out_of_range);
    EXPECT_EQ(get_value(me, half_outside).status().code(), ErrorCode::out_of_range);
    EXPECT_EQ(put_value(me, no_such_rank, 1).code(), ErrorCode::out_of_range);
    EXPECT_EQ(get_value(me, no_such_rank).status().code(), ErrorCode::out_of_range);
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(all_are(me.segment(), std::byte{0}));
  });
}

/// The rank that stores the word runs one instruction at a time: the writer if the target is mapped, else the target.
/// The word is overwritten as soon as it is there, as another rank would do in turn.
TEST_P(Value, AWordThatIsPutIsStoredOnce) {
  using support::Stepped;
  if (!fabric().stores_once) return;  // a network's library stores it
  if (!Stepped::possible()) GTEST_SKIP() << "this build or machine does not step through instructions";
  as_each_of(2, 64, [](Endpoint& me) {
    const std::uint64_t value = 0x0807060504030201;
    const auto* const sent = reinterpret_cast<const std::byte*>(&value);
    constexpr std::size_t bytes = 8;  // tests/unit/include/copy_bytes_test.cpp tests other sizes
    const GlobalPtr<std::byte> place{1, bytes};
    std::byte* const mapped = me.local(place.on(1 - me.rank()), bytes);
    const auto write = [&] { ASSERT_TRUE(put(me, place, std::span(sent, bytes))); };
    ASSERT_TRUE(me.barrier());
    if (me.rank() == 0 && mapped != nullptr) {
      EXPECT_EQ(Stepped::count_stores(mapped, sent, bytes, write), 1) << bytes << " bytes";
    } else if (me.rank() == 0) {
      write();
    } else if (mapped == nullptr) {
      std::byte* const mine = me.segment().data() + bytes;
      const auto wait = [&] {
        while (*static_cast<volatile std::byte*>(mine) == std::byte{0}) me.progress();
      };
      // No store is seen if an adapter or a progress thread writes it.
      EXPECT_LE(Stepped::count_stores(mine, sent, bytes, wait), 1) << bytes << " bytes";
    }
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, Value, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
