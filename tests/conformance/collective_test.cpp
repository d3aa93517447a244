#include "tests/conformance/collective_trial.hpp"
#include "tests/conformance/fabric_test.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace aqueduct::conformance {
namespace {

/// Every operation against the naive model: sizes of teams, roots, counts, types, places of buffers, forms of calls.
class Collectives : public FabricTest {};

/// What a case leaves open, chosen from a number: the same on all members.
CollectiveCall any_call(Collective operation, std::uint64_t count, std::uint64_t number) {
  const std::uint64_t bits = mix(number);
  constexpr ReduceOp kOps[] = {ReduceOp::sum, ReduceOp::min, ReduceOp::max, ReduceOp::sum};
  return {.operation = operation,
          .count = count,
          .reducer = kOps[bits % std::size(kOps)],
          .in_place = has_place(operation) && (bits >> 8) % 2 == 0,
          .place = kCollPlaces[(bits >> 16) % kCollPlaces.size()],
          .form = kCollForms[(bits >> 24) % kCollForms.size()]};
}

/// One call with elements of one of three types.
void try_any_type(Endpoint& me, Team& team, CollMemory& memory, const CollectiveCall& call,
                  std::uint64_t number) {
  switch (mix(~number) % 3) {
    case 0: return try_call<std::uint8_t>(me, team, memory, call, number);
    case 1: return try_call<std::int32_t>(me, team, memory, call, number);
    default: return try_call<double>(me, team, memory, call, number);
  }
}

TEST_P(Collectives, OnTeamsOfAllSizesEqualTheModelForAllRoots) {
  as_each_of(many(), 4096, [sizes = team_sizes(many())](Endpoint& me) {
    constexpr std::uint64_t kMost = 21;
    CollMemory memory(me.world(), kMost * 8 * me.ranks());
    ASSERT_TRUE(memory.ok());
    for (const Rank size : sizes) {
      std::uint64_t number = std::uint64_t{size} << 16;  // the same on all members
      // The last ranks, in reverse order: no member has its rank as its index.
      const bool member = me.rank() + size >= me.ranks();
      auto team =
          me.world().split(member ? std::optional<std::uint32_t>(1) : std::nullopt, -std::int64_t{me.rank()});
      ASSERT_TRUE(team) << team.status().text();
      if (!member) continue;
      for (const Collective operation : kCollectives) {
        for (Rank root = 0; root < (has_root(operation) ? size : 1); ++root) {
          for (const std::uint64_t count : {0u, 1u, 5u, 21u}) {
            CollectiveCall call = any_call(operation, count, ++number);
            call.root = root;
            ASSERT_NO_FATAL_FAILURE(try_any_type(me, **team, memory, call, number));
          }
        }
      }
      ASSERT_TRUE((*team)->end());
    }
    ASSERT_TRUE(memory.release());
  });
}

TEST_P(Collectives, InEveryFormWithBuffersInEveryPlaceEqualTheModel) {
  as_each_of(3, 4096, [](Endpoint& me) {
    CollMemory memory(me.world(), 3 * 33 * 8);
    ASSERT_TRUE(memory.ok());
    std::uint64_t number = 1;
    for (const Collective operation : kCollectives) {
      for (const CollPlace place : kCollPlaces) {
        for (const CollForm form : kCollForms) {
          for (const bool in_place : {false, true}) {
            if (in_place && !has_place(operation)) continue;
            CollectiveCall call{.operation = operation,
                                .count = 33,
                                .root = static_cast<Rank>(mix(number) % 3),
                                .in_place = in_place,
                                .place = place,
                                .form = form};
            ASSERT_NO_FATAL_FAILURE(try_call<std::uint8_t>(me, me.world(), memory, call, ++number));
            ASSERT_NO_FATAL_FAILURE(try_call<std::int32_t>(me, me.world(), memory, call, ++number));
            ASSERT_NO_FATAL_FAILURE(try_call<double>(me, me.world(), memory, call, ++number));
          }
        }
      }
    }
    ASSERT_TRUE(memory.release());
  });
}

// Both sides of sizes where algorithms, protocols and segments of the library change.
TEST_P(Collectives, OfSizesAroundPowersOfTwoEqualTheModel) {
  as_each_of(std::min<Rank>(many(), 4), 4096, [](Endpoint& me) {
    const std::uint64_t most = reasonable(me, 65536 + 8) / 8;
    CollMemory memory(me.world(), most * 8 * me.ranks());
    ASSERT_TRUE(memory.ok());
    std::uint64_t number = 1;
    for (const std::uint64_t bytes : {64u, 1024u, 8192u, 65536u}) {
      for (const std::uint64_t count : {bytes / 8 - 1, bytes / 8, bytes / 8 + 1}) {
        if (count > most) continue;
        for (const Collective operation : kCollectives) {
          CollectiveCall call = any_call(operation, count, ++number);
          call.root = static_cast<Rank>((mix(number) >> 32) % me.ranks());
          ASSERT_NO_FATAL_FAILURE(try_call<double>(me, me.world(), memory, call, number));
        }
      }
    }
    ASSERT_TRUE(memory.release());
  });
}

TEST_P(Collectives, OfMoreThanAMebibyteEqualTheModel) {
  as_each_of(std::min<Rank>(many(), 4), 4096, [](Endpoint& me) {
    const std::uint64_t most = reasonable(me, (1 << 20) + 24) / 8;
    CollMemory memory(me.world(), (most + me.ranks()) * 8);
    ASSERT_TRUE(memory.ok());
    std::uint64_t number = 1;
    for (const Collective operation : kCollectives) {
      const std::uint64_t blocks =
          std::max(blocks_in(operation, me.ranks()), blocks_out(operation, me.ranks()));
      CollectiveCall call = any_call(operation, most / blocks + 1, ++number);
      call.root = me.ranks() - 1;
      ASSERT_NO_FATAL_FAILURE(try_call<double>(me, me.world(), memory, call, number));
    }
    ASSERT_TRUE(memory.release());
  });
}

// Elements that a type cannot name are bytes, which move and are not combined.
TEST_P(Collectives, MoveElementsOfAnyType) {
  struct Odd {
    std::array<std::uint8_t, 7> bytes{};
    bool operator==(const Odd&) const = default;
  };
  as_each_of(3, 4096, [](Endpoint& me) {
    const auto odd = [](Rank member, std::uint8_t i) {
      return Odd{
          {static_cast<std::uint8_t>(member + 1), i, 3, 4, 5, 6, static_cast<std::uint8_t>(i + member)}};
    };
    std::array<Odd, 3> mine{};  // on the stack
    for (std::uint8_t i = 0; i < 3; ++i) mine[i] = odd(me.rank(), i);
    std::array<Odd, 9> all{};
    ASSERT_TRUE(all_gather(me.world(), mine, all));
    for (Rank from = 0; from < 3; ++from) {
      for (std::uint8_t i = 0; i < 3; ++i) EXPECT_EQ(all[from * 3 + i], odd(from, i)) << from;
    }
    std::array<Odd, 3> turned{};
    ASSERT_TRUE(all_to_all(me.world(), mine, turned));
    for (Rank from = 0; from < 3; ++from)
      EXPECT_EQ(turned[from], odd(from, static_cast<std::uint8_t>(me.rank())));
    std::vector<Odd> one(5, odd(me.rank(), 9));
    ASSERT_TRUE(broadcast(me.world(), one, 2));
    EXPECT_EQ(one, std::vector<Odd>(5, odd(2, 9)));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Collectives, FindTheLeastIndexOfEqualValues) {
  as_each_of(many(), 4096, [](Endpoint& me) {
    const std::int64_t rank = me.rank();
    // Element 0: all are equal. Element 1: the last rank has the least value, and the first the greatest.
    const std::array<WithIndex<double>, 2> mine{WithIndex<double>{4.5, 1000 - rank},
                                                WithIndex<double>{-static_cast<double>(rank), rank}};
    std::array<WithIndex<double>, 2> least;
    std::array<WithIndex<double>, 2> most;
    ASSERT_TRUE(all_reduce(me.world(), mine, least, ReduceOp::min_index));
    ASSERT_TRUE(all_reduce(me.world(), mine, most, ReduceOp::max_index));
    const std::int64_t last = me.ranks() - 1;
    EXPECT_EQ(least[0], (WithIndex<double>{4.5, 1000 - last}));
    EXPECT_EQ(most[0], (WithIndex<double>{4.5, 1000 - last}));
    EXPECT_EQ(least[1], (WithIndex<double>{-static_cast<double>(last), last}));
    EXPECT_EQ(most[1], (WithIndex<double>{-0.0, 0}));
    ASSERT_TRUE(me.barrier());
  });
}

// 2048 + 1 is 2048 in half precision, but the sum of three members is 2050: partial results are floats.
TEST_P(Collectives, RoundSumsOfHalfPrecisionOnce) {
  as_each_of(3, 4096, [](Endpoint& me) {
    constexpr Half kOne{0x3c00}, k2048{0x6800}, k2050{0x6801};
    constexpr Bfloat16 kOneB{0x3f80}, k256B{0x4380}, k258B{0x4381};
    std::vector<Half> half(11, me.rank() == 0 ? k2048 : kOne);
    ASSERT_TRUE(all_reduce(me.world(), half, ReduceOp::sum));
    for (const Half value : half) EXPECT_EQ(value.bits, k2050.bits);
    std::vector<Bfloat16> upper(11, me.rank() == 0 ? k256B : kOneB);
    ASSERT_TRUE(all_reduce(me.world(), upper, ReduceOp::sum));
    for (const Bfloat16 value : upper) EXPECT_EQ(value.bits, k258B.bits);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Collectives, GoOnWithoutAThreadInsideACall) {
  as_each_of(many(), 4096, [](Endpoint& me) {
    std::uint64_t sum = me.rank() + 1;
    Event event = all_reduce_nb(me.world(), std::span(&sum, 1), ReduceOp::sum);
    // Messages and puts go on meanwhile, and so do other operations of the team.
    ASSERT_TRUE(put_value(me, GlobalPtr<std::uint64_t>{next(me), 0}, me.rank() + 7));
    std::uint64_t most = me.rank();
    ASSERT_TRUE(all_reduce(me.world(), std::span(&most, 1), ReduceOp::max));
    EXPECT_EQ(most, me.ranks() - 1);
    ASSERT_TRUE(me.wait(event));
    EXPECT_EQ(sum, std::uint64_t{me.ranks()} * (me.ranks() + 1) / 2);
    ASSERT_TRUE(me.barrier());
    std::uint64_t word = 0;
    std::memcpy(&word, me.segment().data(), sizeof word);
    EXPECT_EQ(word, previous(me) + 7);
  });
}

TEST_P(Collectives, AreExplained) {
  as_each_of(2, 4096, [](Endpoint& me) {
    for (const Collective operation : kCollectives) {
      for (const std::uint64_t bytes : {0u, 8u, 1u << 20}) {
        EXPECT_FALSE(me.world().explain(operation, bytes, 8).empty());
      }
    }
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, Collectives, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
