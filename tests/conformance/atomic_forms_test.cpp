#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/pattern.hpp"

#include <array>
#include <limits>

namespace aqueduct::conformance {
namespace {

/// The forms and operations of atomics that came later than those in atomic_test.cpp.
class AtomicForms : public FabricTest {};

template <class T>
void check_multiply(Endpoint& me, GlobalPtr<T> cell) {
  ASSERT_TRUE(store(me, cell, T{3}));
  const auto first = fetch_multiply(me, cell, T{5});
  ASSERT_TRUE(first) << first.status().text();
  ASSERT_EQ(*first, T{3});
  ASSERT_TRUE(atomic<AtomicOp::multiply>(me, cell, T{2}));
  T old{};
  ASSERT_TRUE(me.wait(atomic_nb<AtomicOp::multiply>(me, cell, T{4}, &old)));
  ASSERT_EQ(old, T{30});
  ASSERT_TRUE(atomic_nbi<AtomicOp::multiply>(me, cell, T{2}));
  ASSERT_TRUE(me.wait_implicit());
  ASSERT_EQ(*load(me, cell), T{240});
}

TEST_P(AtomicForms, MultiplyInEveryFormAndType) {
  as_each_of(2, 256, [](Endpoint& me) {
    for (const Rank owner : {next(me), me.rank()}) {
      const std::uint64_t mine = 128 * me.rank();
      ASSERT_NO_FATAL_FAILURE(check_multiply(me, GlobalPtr<std::int32_t>{owner, mine}));
      ASSERT_NO_FATAL_FAILURE(check_multiply(me, GlobalPtr<std::uint32_t>{owner, mine + 8}));
      ASSERT_NO_FATAL_FAILURE(check_multiply(me, GlobalPtr<std::int64_t>{owner, mine + 16}));
      ASSERT_NO_FATAL_FAILURE(check_multiply(me, GlobalPtr<std::uint64_t>{owner, mine + 24}));
      ASSERT_NO_FATAL_FAILURE(check_multiply(me, GlobalPtr<float>{owner, mine + 32}));
      ASSERT_NO_FATAL_FAILURE(check_multiply(me, GlobalPtr<double>{owner, mine + 40}));
      const GlobalPtr<std::int32_t> wraps{owner, mine};
      ASSERT_TRUE(store(me, wraps, std::numeric_limits<std::int32_t>::max()));
      ASSERT_TRUE(atomic<AtomicOp::multiply>(me, wraps, 2));
      ASSERT_EQ(*load(me, wraps), -2) << "modulo 2^32";
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(AtomicForms, MultipliesOfAllRanksLoseNothing) {
  as_each_of(4, 64, [](Endpoint& me) {
    const GlobalPtr<std::uint64_t> product{0, 8};
    if (me.rank() == 0) {
      ASSERT_TRUE(store(me, product, 1));
    }
    ASSERT_TRUE(me.barrier());
    std::uint64_t expected = 1;
    for (int i = 0; i < 100; ++i) {
      for (Rank rank = 0; rank < me.ranks(); ++rank) expected *= 3 + 2 * rank;
      ASSERT_TRUE(atomic_nbi<AtomicOp::multiply>(me, product, 3 + 2 * me.rank()));
    }
    ASSERT_TRUE(me.wait_implicit());
    ASSERT_TRUE(me.barrier());
    EXPECT_EQ(*load(me, product), expected);
    ASSERT_TRUE(me.barrier());
  });
}

template <AtomicFloat T>
void check_extremes(Endpoint& me, GlobalPtr<T> cell) {
  ASSERT_TRUE(store(me, cell, T{2.5}));
  const auto larger = fetch_max(me, cell, T{4.5});
  ASSERT_TRUE(larger) << larger.status().text();
  ASSERT_EQ(*larger, T{2.5});
  ASSERT_EQ(*fetch_max(me, cell, T{-7}), T{4.5});
  ASSERT_TRUE(atomic<AtomicOp::min>(me, cell, T{-1.5}));
  ASSERT_EQ(*fetch_min(me, cell, T{0}), T{-1.5});
  const T nan = std::numeric_limits<T>::quiet_NaN();
  ASSERT_TRUE(atomic<AtomicOp::min>(me, cell, nan));
  ASSERT_TRUE(atomic<AtomicOp::max>(me, cell, nan));
  ASSERT_EQ(*load(me, cell), T{-1.5}) << "a NaN changed the target";
  ASSERT_TRUE(store(me, cell, nan));
  ASSERT_TRUE(atomic<AtomicOp::min>(me, cell, T{1}));
  ASSERT_TRUE(atomic_nbi<AtomicOp::max>(me, cell, T{1}));
  ASSERT_TRUE(me.wait_implicit());
  ASSERT_EQ(detail::bits(*load(me, cell)), detail::bits(nan)) << "a NaN in the target was replaced";
}

TEST_P(AtomicForms, MinAndMaxOfFloatsLeaveTheTargetAtANaN) {
  as_each_of(2, 128, [](Endpoint& me) {
    for (const Rank owner : {next(me), me.rank()}) {
      ASSERT_NO_FATAL_FAILURE(check_extremes(me, GlobalPtr<float>{owner, 64 * me.rank()}));
      ASSERT_NO_FATAL_FAILURE(check_extremes(me, GlobalPtr<double>{owner, 64 * me.rank() + 8}));
    }
    ASSERT_TRUE(me.barrier());
  });
}

template <AtomicFloat T>
void check_bits(Endpoint& me, GlobalPtr<T> cell) {
  const T nan = std::numeric_limits<T>::quiet_NaN();
  ASSERT_TRUE(store(me, cell, T{-0.0}));
  const auto missed = compare_swap(me, cell, T{0.0}, T{1});
  ASSERT_TRUE(missed) << missed.status().text();
  ASSERT_EQ(detail::bits(*missed), detail::bits(T{-0.0}));
  ASSERT_EQ(detail::bits(*load(me, cell)), detail::bits(T{-0.0})) << "0.0 was taken for -0.0";
  ASSERT_EQ(detail::bits(*compare_swap(me, cell, T{-0.0}, nan)), detail::bits(T{-0.0}));
  ASSERT_EQ(detail::bits(*compare_swap(me, cell, nan, T{3})), detail::bits(nan));
  ASSERT_EQ(*load(me, cell), T{3}) << "a NaN does not equal itself";
}

TEST_P(AtomicForms, CompareSwapOfFloatsComparesBits) {
  as_each_of(2, 128, [](Endpoint& me) {
    for (const Rank owner : {next(me), me.rank()}) {
      ASSERT_NO_FATAL_FAILURE(check_bits(me, GlobalPtr<float>{owner, 64 * me.rank()}));
      ASSERT_NO_FATAL_FAILURE(check_bits(me, GlobalPtr<double>{owner, 64 * me.rank() + 8}));
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(AtomicForms, CompareSwapWithImplicitCompletionAndWithoutAResult) {
  as_each_of(3, 256, [](Endpoint& me) {
    const GlobalPtr<std::uint64_t> cell{next(me), 8 * me.rank()};
    std::array<std::uint64_t, 2> old{77, 77};
    ASSERT_TRUE(compare_swap_nbi(me, cell, 1, 5, &old[0]));
    ASSERT_TRUE(me.wait_implicit());
    ASSERT_EQ(old[0], 0u) << "it did not fetch";
    ASSERT_TRUE(compare_swap_nbi(me, cell, 0, 6));
    ASSERT_TRUE(me.wait_implicit());
    ASSERT_TRUE(me.wait(compare_swap_nb(me, cell, 0, 7)));
    ASSERT_TRUE(me.wait(compare_swap_nb(me, cell, 6, 8)));
    ASSERT_TRUE(me.begin_region());
    ASSERT_TRUE(compare_swap_nbi(me, cell, 8, 9, &old[1]));
    ASSERT_TRUE(me.wait(me.end_region()));
    ASSERT_EQ(old[1], 8u);
    ASSERT_EQ(*load(me, cell), 9u);
    const AtomicDomain<std::uint64_t> domain(me, {AtomicOp::compare_swap, AtomicOp::load});
    const GlobalPtr<std::uint64_t> other{next(me), 128 + 8 * me.rank()};
    ASSERT_TRUE(domain.compare_swap_nbi(other, 0, 4, &old[0]));
    ASSERT_TRUE(me.wait_implicit());
    ASSERT_EQ(old[0], 0u);
    ASSERT_TRUE(me.wait(domain.compare_swap_nb(other, 4, 5)));
    ASSERT_EQ(*domain.load(other), 5u);
    const GlobalPtr<std::uint64_t> odd{next(me), 4};
    EXPECT_EQ(compare_swap_nbi(me, odd, 0, 1).code(), ErrorCode::misaligned);
    const GlobalPtr<float> beyond{next(me), 256};
    EXPECT_EQ(compare_swap_nbi(me, beyond, 0, 1).code(), ErrorCode::out_of_range);
    EXPECT_EQ(fetch_multiply(me, beyond, 2).status().code(), ErrorCode::out_of_range);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(AtomicForms, ADomainMultipliesAndComparesFloats) {
  as_each_of(2, 64, [](Endpoint& me) {
    const AtomicDomain<double> domain(
        me, {AtomicOp::multiply, AtomicOp::min, AtomicOp::compare_swap, AtomicOp::load, AtomicOp::store});
    const GlobalPtr<double> cell{next(me), 8 * me.rank()};
    ASSERT_TRUE(domain.store(cell, 1.5));
    ASSERT_TRUE(domain.apply(AtomicOp::multiply, cell, 4));
    ASSERT_EQ(*domain.fetch(AtomicOp::min, cell, 2), 6);
    ASSERT_EQ(*domain.compare_swap(cell, 2, 9), 2);
    ASSERT_EQ(*domain.load(cell), 9);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(AtomicForms, ValuesOf16BytesArePutAndGot) {
  as_each_of(3, 4096, [](Endpoint& me) {
    using Two = std::array<std::uint64_t, 2>;
    const std::uint64_t odd = 64 * me.rank() + 5;  // any address will do
    const GlobalPtr<Two> there{next(me), odd};
    const Two first{mix(me.rank()), mix(10 + me.rank())};
    ASSERT_TRUE(put_value(me, there, first));
    ASSERT_EQ(*get_value(me, there), first);
    std::array<Two, 3> sent{};
    std::array<Event, 3> events;
    for (std::uint64_t i = 0; i < sent.size(); ++i) {
      sent[i] = {mix(i), mix(100 + i)};
      events[i] = put_value_nb(me, GlobalPtr<Two>{next(me), 1024 + 64 * me.rank() + 16 * i}, sent[i]);
    }
    for (Event& event : events) ASSERT_TRUE(me.wait(event));
    for (std::uint64_t i = 0; i < sent.size(); ++i)
      ASSERT_EQ(*get_value(me, GlobalPtr<Two>{next(me), 1024 + 64 * me.rank() + 16 * i}), sent[i]);
    ASSERT_TRUE(put_value_nbi(me, GlobalPtr<long double>{next(me), 2048 + 64 * me.rank()}, 1.25L));
    ASSERT_TRUE(me.wait_implicit());
    ASSERT_EQ(*get_value(me, GlobalPtr<long double>{next(me), 2048 + 64 * me.rank()}), 1.25L);
    EXPECT_EQ(put_value(me, GlobalPtr<Two>{next(me), 4096 - 8}, first).code(), ErrorCode::out_of_range);
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, AtomicForms, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
