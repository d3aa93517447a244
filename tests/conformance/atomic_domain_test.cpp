#include "tests/conformance/fabric_test.hpp"

#include <cstring>

namespace aqueduct::conformance {
namespace {

class AtomicDomains : public FabricTest {};

using Word = std::uint64_t;
constexpr auto kAdapters = {AtomicOp::load, AtomicOp::add, AtomicOp::compare_swap};

// Adapters do atomics on their own: those of neighbours, other hosts and the owner must not overwrite each other.
TEST_P(AtomicDomains, OfAllRanksOnOneWordLoseNothing) {
  as_each_of(3, 1024, [](Endpoint& me) {
    constexpr Word kTurns = 200;
    for (const AtomicFavour favour : {AtomicFavour::remote, AtomicFavour::near}) {
      const AtomicDomain<Word> domain(me, kAdapters, favour);
      for (Rank owner = 0; owner < me.ranks(); ++owner) {
        const GlobalPtr<Word> count{owner, favour == AtomicFavour::near ? 64u : 0u};
        for (Word i = 0; i < kTurns; ++i) {
          switch (i % 4) {
            case 0: ASSERT_TRUE(domain.add(count, 1)); break;
            case 1: ASSERT_TRUE(domain.fetch_add(count, 1)); break;
            case 2: ASSERT_TRUE(domain.nbi(AtomicOp::add, count, 1)); break;
            default: {
              Word seen = *domain.load(count);
              for (;;) {  // as a program does for operations that the network lacks
                const auto before = domain.compare_swap(count, seen, seen + 1);
                ASSERT_TRUE(before) << before.status().text();
                if (*before == seen) break;
                ASSERT_GT(*before, seen);
                seen = *before;
              }
            }
          }
        }
        ASSERT_TRUE(me.wait_implicit());
      }
      ASSERT_TRUE(me.barrier());
      for (Rank owner = 0; owner < me.ranks(); ++owner) {
        const auto count = domain.load(GlobalPtr<Word>{owner, favour == AtomicFavour::near ? 64u : 0u});
        ASSERT_TRUE(count);
        ASSERT_EQ(*count, kTurns * me.ranks()) << "on rank " << owner;
      }
      ASSERT_TRUE(me.barrier());
      Word plain = 0;  // as plain memory too, after a barrier
      std::memcpy(&plain, me.segment().data() + (favour == AtomicFavour::near ? 64 : 0), sizeof plain);
      ASSERT_EQ(plain, kTurns * me.ranks());
    }
  });
}

TEST_P(AtomicDomains, GoTheSameWayOnAllRanks) {
  as_each_of(3, 1024, [has_atomics = fabric().has_atomics](Endpoint& me) {
    const AtomicDomain<Word> few(me, kAdapters);
    if (has_atomics) {
      ASSERT_TRUE(few.is_native());
    }
    const AtomicDomain<Word> near(me, kAdapters, AtomicFavour::near);
    ASSERT_FALSE(near.is_native());
    const std::uint64_t native_before = me.statistics().native_atomics;
    const Rank next = (me.rank() + 1) % me.ranks();
    ASSERT_TRUE(few.add(GlobalPtr<Word>{next, 8}, 1));
    ASSERT_EQ(me.statistics().native_atomics - native_before, few.is_native() ? 1u : 0u);
    ASSERT_TRUE(put_value(me, GlobalPtr<Word>{0, 512 + 8 * me.rank()}, few.is_native() ? 2 : 1));
    ASSERT_TRUE(me.barrier());
    for (Rank rank = 0; rank < me.ranks(); ++rank) {
      const auto theirs = get_value(me, GlobalPtr<Word>{0, 512 + 8 * rank});
      ASSERT_TRUE(theirs);
      ASSERT_EQ(*theirs, few.is_native() ? 2u : 1u) << "rank " << rank;
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(AtomicDomains, RefuseWhatTheyWereNotMadeForAndWhatIsWrong) {
  as_each_of(3, 1024, [](Endpoint& me) {
    const AtomicDomain<Word> domain(me, {AtomicOp::add});
    const GlobalPtr<Word> word{(me.rank() + 1) % me.ranks(), 8};
    EXPECT_TRUE(domain.has(AtomicOp::add));
    EXPECT_FALSE(domain.has(AtomicOp::load));
    EXPECT_EQ(domain.load(word).status().code(), ErrorCode::invalid_argument);
    EXPECT_EQ(domain.swap(word, 1).status().code(), ErrorCode::invalid_argument);
    EXPECT_EQ(domain.store(word, 1).code(), ErrorCode::invalid_argument);
    EXPECT_EQ(domain.compare_swap(word, 0, 1).status().code(), ErrorCode::invalid_argument);
    EXPECT_EQ(me.wait(domain.nb(AtomicOp::min, word, 1)).code(), ErrorCode::invalid_argument);
    EXPECT_EQ(domain.nbi(AtomicOp::max, word, 1).code(), ErrorCode::invalid_argument);
    const AtomicDomain<Word> swaps(me, {AtomicOp::compare_swap});  // compare_swap has a call of its own
    EXPECT_EQ(swaps.apply(AtomicOp::compare_swap, word, 1).code(), ErrorCode::invalid_argument);

    const AtomicDomain<double> floats(me, {AtomicOp::add, AtomicOp::bit_or});
    EXPECT_FALSE(floats.has(AtomicOp::bit_or)) << "which floats do not have";
    const GlobalPtr<double> number{word.rank(), 8};
    EXPECT_EQ(floats.apply(AtomicOp::bit_or, number, -1.0).code(), ErrorCode::invalid_argument);
    EXPECT_EQ(floats.compare_swap_nbi(number, 0.0, 1.0).code(), ErrorCode::invalid_argument);
    EXPECT_EQ(floats.compare_swap(number, 0.0, 1.0).status().code(), ErrorCode::invalid_argument);

    const GlobalPtr<Word> odd{word.rank(), 4};
    EXPECT_EQ(domain.add(odd, 1).code(), ErrorCode::misaligned);
    const GlobalPtr<Word> beyond{word.rank(), me.segment().size()};
    EXPECT_EQ(domain.fetch_add(beyond, 1).status().code(), ErrorCode::out_of_range);
    const GlobalPtr<Word> nobody{me.ranks(), 0};
    EXPECT_EQ(domain.add(nobody, 1).code(), ErrorCode::out_of_range);
    ASSERT_TRUE(me.barrier());
    const auto untouched = get_value(me, GlobalPtr<Word>{me.rank(), 8});
    ASSERT_TRUE(untouched);
    ASSERT_EQ(*untouched, 0u);
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, AtomicDomains, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
