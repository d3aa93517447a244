#include "tests/conformance/collective.hpp"
#include "tests/conformance/fabric_test.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

namespace aqueduct::conformance {
namespace {

/// The order in which reductions combine: operators that are not commutative, and sums of floats, whose bits tell.
class CollectiveOrder : public FabricTest {};

/// The map x → a x + b modulo 2^64. `left ∘ right` is right after left, which is not left after right.
struct Affine {
  std::uint64_t a = 1;
  std::uint64_t b = 0;
  friend Affine operator*(const Affine& left, const Affine& right) {
    return {left.a * right.a, right.a * left.b + right.b};
  }
};
/// A 2 × 2 matrix modulo 256 without its lower left element: elements of 3 bytes.
struct Triangle {
  std::uint8_t a = 1, b = 0, c = 1;
  friend Triangle operator*(const Triangle& left, const Triangle& right) {
    return {static_cast<std::uint8_t>(left.a * right.a),
            static_cast<std::uint8_t>(left.a * right.b + left.b * right.c),
            static_cast<std::uint8_t>(left.c * right.c)};
  }
};
static_assert(sizeof(Triangle) == 3);
/// Longer than what is combined at once (kernels::Fold::kBlock).
struct Page {
  std::array<Triangle, 2731> all;
  friend Page operator*(const Page& left, const Page& right) {
    Page product;
    for (std::size_t i = 0; i < product.all.size(); ++i) product.all[i] = left.all[i] * right.all[i];
    return product;
  }
};
static_assert(sizeof(Page) == 8193);

Affine value_of(Affine, Rank member, std::uint64_t i) {
  return {coll_value<std::uint64_t>(1, member, i) | 1, coll_value<std::uint64_t>(2, member, i)};
}
Triangle value_of(Triangle, Rank member, std::uint64_t i) {
  return {static_cast<std::uint8_t>(coll_value<std::uint8_t>(3, member, i) | 1),
          coll_value<std::uint8_t>(4, member, i),
          static_cast<std::uint8_t>(coll_value<std::uint8_t>(5, member, i) | 1)};
}

Page value_of(Page, Rank member, std::uint64_t i) {
  Page page;
  for (std::size_t at = 0; at < page.all.size(); ++at)
    page.all[at] = value_of(Triangle{}, member, 7 * i + at);
  return page;
}

template <class T>
void multiply(void* to, const void* left, const void* right, std::size_t count, void* context) {
  // The memory may be aligned for bytes only.
  for (std::size_t i = 0; i < count; ++i) {
    T a, b;
    std::memcpy(&a, static_cast<const char*>(left) + i * sizeof(T), sizeof(T));
    std::memcpy(&b, static_cast<const char*>(right) + i * sizeof(T), sizeof(T));
    const T product = a * b;
    std::memcpy(static_cast<char*>(to) + i * sizeof(T), &product, sizeof(T));
  }
  if (context != nullptr) *static_cast<std::uint64_t*>(context) += count;
}

constexpr Collective kReductions[] = {Collective::reduce, Collective::all_reduce, Collective::reduce_scatter,
                                      Collective::scan, Collective::exscan};

/// Makes the call with elements of T whose values `value(member, i)` tells, and compares bits with the model.
template <class T, class Value, class Combine>
void reduce_as_model(Team& team, const CollectiveCall& call, const Value& value, const Combine& combine) {
  const Rank members = team.size();
  std::vector<T> in(call.count * blocks_in(call.operation, members));
  for (std::uint64_t i = 0; i < in.size(); ++i) in[i] = value(team.index(), i);
  std::vector<T> out(call.count * blocks_out(call.operation, members));
  if (call.in_place) out = in;
  const std::vector<T> expected = coll_result<T>(call, members, team.index(), value, combine, out);
  const Status status = coll_call<BlockingCalls>(team, call, in, out);
  ASSERT_TRUE(status) << status.text() << ": " << text_of(call);
  ASSERT_TRUE(holds(std::as_bytes(std::span(out)), std::as_bytes(std::span(expected))))
      << "member " << team.index() << " of " << members << ": " << text_of(call);
}

template <class T>
void multiply_in_order(Team& team, std::uint32_t number, std::uint64_t count, ReduceOrder order) {
  for (const Collective operation : kReductions) {
    for (Rank root = 0; root < (has_root(operation) ? team.size() : 1); ++root) {
      for (const bool in_place : {false, true}) {
        if (in_place && !has_place(operation)) continue;
        CollectiveCall call{.operation = operation,
                            .count = count,
                            .root = root,
                            .reducer = Reducer::user(number),
                            .in_place = in_place};
        call.options.order = order;
        ASSERT_NO_FATAL_FAILURE(reduce_as_model<T>(
            team, call, [](Rank member, std::uint64_t i) { return value_of(T{}, member, i); },
            [](const T& left, const T& right) { return left * right; }));
      }
    }
  }
}

TEST_P(CollectiveOrder, OfAnOperatorThatIsNotCommutativeIsThatOfTheTeam) {
  as_each_of(many(), 4096, [sizes = team_sizes(many())](Endpoint& me) {
    std::uint64_t combined = 0;
    ASSERT_TRUE(add_operator(me, 70, {multiply<Affine>, &combined, sizeof(Affine), false}));
    ASSERT_TRUE(add_operator(me, 4'000'000'000, {multiply<Triangle>, nullptr, sizeof(Triangle), false}));
    for (const Rank size : sizes) {
      const bool member = me.rank() < size;
      auto team =
          me.world().split(member ? std::optional<std::uint32_t>(1) : std::nullopt, -std::int64_t{me.rank()});
      ASSERT_TRUE(team) << team.status().text();
      if (!member) continue;
      for (const ReduceOrder order : {ReduceOrder::any, ReduceOrder::same_everywhere, ReduceOrder::exact}) {
        ASSERT_NO_FATAL_FAILURE(multiply_in_order<Affine>(**team, 70, 3, order));
        ASSERT_NO_FATAL_FAILURE(multiply_in_order<Triangle>(**team, 4'000'000'000, 11, order));
      }
      ASSERT_TRUE((*team)->end());
    }
    EXPECT_TRUE(me.ranks() == 1 || combined > 0) << "with its own context";
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(CollectiveOrder, OfLongBuffersIsThatOfTheTeam) {
  as_each_of(std::min<Rank>(many(), 5), 4096, [](Endpoint& me) {
    ASSERT_TRUE(add_operator(me, 1, {multiply<Affine>, nullptr, sizeof(Affine), false}));
    const std::uint64_t count = reasonable(me, 80'000) / sizeof(Affine) + 1;
    ASSERT_NO_FATAL_FAILURE(multiply_in_order<Affine>(me.world(), 1, count, ReduceOrder::any));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(CollectiveOrder, OfElementsOfManyPagesIsThatOfTheTeam) {
  as_each_of(std::min<Rank>(many(), 4), 4096, [](Endpoint& me) {
    ASSERT_TRUE(add_operator(me, 2, {multiply<Page>, nullptr, sizeof(Page), false}));
    for (const std::uint64_t count : {1, 9})
      ASSERT_NO_FATAL_FAILURE(multiply_in_order<Page>(me.world(), 2, count, ReduceOrder::any));
    ASSERT_TRUE(me.barrier());
  });
}

/// Numbers of many magnitudes and both signs: almost each order of adding them gives other bits.
template <class T>
T wild(Rank member, std::uint64_t i) {
  const std::uint64_t bits = mix(member * 7919 + i);
  const T fraction = static_cast<T>(bits >> 40) / T{1 << 24} + T{0.5};
  return std::ldexp(bits % 2 == 0 ? fraction : -fraction, static_cast<int>((bits >> 8) % 30));
}

template <class T>
void add_exactly(Team& team, std::uint64_t count) {
  for (const Collective operation : kReductions) {
    CollectiveCall call{.operation = operation, .count = count, .root = team.size() / 2};
    call.options.order = ReduceOrder::exact;
    ASSERT_NO_FATAL_FAILURE(reduce_as_model<T>(team, call, wild<T>, [](T a, T b) { return a + b; }));
  }
}

TEST_P(CollectiveOrder, ExactAddsFromLeftToRight) {
  as_each_of(many(), 4096, [](Endpoint& me) {
    const std::uint64_t most = reasonable(me, 70'000);
    for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{37}, most / sizeof(double)}) {
      ASSERT_NO_FATAL_FAILURE(add_exactly<float>(me.world(), count));
      ASSERT_NO_FATAL_FAILURE(add_exactly<double>(me.world(), count));
    }
    auto turned = me.world().split(0, -std::int64_t{me.rank()});
    ASSERT_TRUE(turned && *turned);
    ASSERT_NO_FATAL_FAILURE(add_exactly<float>(**turned, 19));
    ASSERT_TRUE((*turned)->end());
    ASSERT_TRUE(me.barrier());
  });
}

/// Sums whose order is free, or only the same on all members: they are near the true ones.
template <class T>
void expect_near_sums(const std::vector<T>& sums, Rank members) {
  for (std::uint64_t i = 0; i < sums.size(); ++i) {
    double sum = 0, magnitude = 0;
    for (Rank from = 0; from < members; ++from) {
      sum += static_cast<double>(wild<T>(from, i));
      magnitude += std::abs(static_cast<double>(wild<T>(from, i)));
    }
    ASSERT_NEAR(static_cast<double>(sums[i]), sum, magnitude * 1e-5) << "element " << i;
  }
}

TEST_P(CollectiveOrder, SameEverywhereGivesAllMembersTheSameBits) {
  as_each_of(many(), 4096, [](Endpoint& me) {
    for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{50}, reasonable(me, 40'000) / 4}) {
      std::vector<float> mine(count);
      for (std::uint64_t i = 0; i < count; ++i) mine[i] = wild<float>(me.rank(), i);
      CollOptions options;
      options.order = ReduceOrder::same_everywhere;
      std::vector<float> sums(count);
      ASSERT_TRUE(all_reduce(me.world(), mine, sums, ReduceOp::sum, options));
      ASSERT_NO_FATAL_FAILURE(expect_near_sums(sums, me.ranks()));
      std::vector<float> all(count * me.ranks());
      ASSERT_TRUE(all_gather(me.world(), sums, all));
      for (Rank of = 0; of < me.ranks(); ++of) {
        ASSERT_TRUE(
            holds(std::as_bytes(std::span(all).subspan(of * count, count)), std::as_bytes(std::span(sums))))
            << "sums of rank " << of << " beside those of " << me.rank();
      }
      ASSERT_TRUE(all_reduce(me.world(), mine, sums, ReduceOp::sum));
      ASSERT_NO_FATAL_FAILURE(expect_near_sums(sums, me.ranks()));
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(CollectiveOrder, OperatorsThatCannotBeAddedAreRefused) {
  as_each_of(1, 64, [](Endpoint& me) {
    const UserOperator good{multiply<Affine>, nullptr, sizeof(Affine), false};
    EXPECT_EQ(add_operator(me, 5, {nullptr, nullptr, 8, true}).code(), ErrorCode::invalid_argument);
    EXPECT_EQ(add_operator(me, 5, {multiply<Affine>, nullptr, 0, true}).code(), ErrorCode::invalid_argument);
    EXPECT_TRUE(add_operator(me, 5, good));
    EXPECT_EQ(add_operator(me, 5, {multiply<Triangle>, nullptr, sizeof(Triangle), false}).code(),
              ErrorCode::invalid_argument);
    EXPECT_TRUE(add_operator(me, 0, good)) << "every number will do";
    EXPECT_TRUE(add_operator(me, ~std::uint32_t{0}, good));
  });
}

INSTANTIATE_TEST_SUITE_P(On, CollectiveOrder, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
