#include "tests/conformance/pattern.hpp"
#include "tests/conformance/vis_test.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace aqueduct::conformance {
namespace {

/// Single elements: additions to them, and groups of them on all ranks.
class VisElements : public VisTest {};

template <class T>
void accumulate_from_all(Endpoint& me) {
  constexpr std::int64_t kRows = 30;
  constexpr std::int64_t kColumns = 20;
  const GlobalPtr<T> base{0, 64};
  std::array<T, kRows * kColumns> mine;
  for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = static_cast<T>(i + me.rank());
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  const Strided there(sizeof(T), {{kRows, 40 * kBytes}, {kColumns, 2 * kBytes}});
  const Strided here(sizeof(T), {{kRows, kColumns * kBytes}, {kColumns, kBytes}});
  for (int times = 0; times < 3; ++times) ASSERT_TRUE(accumulate_strided(me, base, there, mine.data(), here));
  ASSERT_TRUE(accumulate_strided_nbi(me, base, there, mine.data(), here));
  ASSERT_TRUE(me.wait_implicit());
  ASSERT_TRUE(me.barrier());
  if (me.rank() == 0) {
    const auto ranks = static_cast<std::int64_t>(me.ranks());
    const auto* found = reinterpret_cast<const T*>(me.segment().data() + 64);
    for (std::int64_t i = 0; i < kRows; ++i) {
      for (std::int64_t j = 0; j < 40; ++j) {
        const std::int64_t sum = 4 * ((i * kColumns + j / 2) * ranks + ranks * (ranks - 1) / 2);
        ASSERT_EQ(found[i * 40 + j], j % 2 == 0 ? static_cast<T>(sum) : T{}) << i << ", " << j;
        if (i + 1 == kRows && j == 38) break;
      }
    }
    std::ranges::fill(me.segment(), std::byte{0});
  }
  ASSERT_TRUE(me.barrier());
}

TEST_P(VisElements, AccumulateAddsFromAllRanks) {
  with_each_plan(3, kVisSegment, [](Endpoint& me) {
    ASSERT_NO_FATAL_FAILURE(accumulate_from_all<double>(me));
    ASSERT_NO_FATAL_FAILURE(accumulate_from_all<float>(me));
    ASSERT_NO_FATAL_FAILURE(accumulate_from_all<std::int32_t>(me));
    ASSERT_NO_FATAL_FAILURE(accumulate_from_all<std::uint64_t>(me));
  });
}

TEST_P(VisElements, GroupsReadAndWriteElementsOfAllRanks) {
  with_each_plan(3, kVisSegment, [seed = seed()](Endpoint& me) {
    constexpr std::uint64_t kElements = 1000;
    auto* mine = reinterpret_cast<std::uint64_t*>(me.segment().data());
    for (std::uint64_t i = 0; i < kElements; ++i) mine[i] = me.rank() * 100'000 + i;
    ASSERT_TRUE(me.barrier());
    Random random(mix(seed + me.rank()));
    std::vector<GlobalPtr<std::uint64_t>> list;
    for (int i = 0; i < 2000; ++i) {
      list.emplace_back(static_cast<Rank>(random.below(me.ranks())), 8 * random.below(kElements));
    }
    std::vector<std::uint64_t> found(list.size());
    ASSERT_TRUE(get_group<std::uint64_t>(me, found, list));
    for (std::size_t i = 0; i < list.size(); ++i)
      ASSERT_EQ(found[i], list[i].rank() * 100'000 + list[i].offset() / 8);
    ASSERT_TRUE(me.barrier());
    // Each rank writes every ranks-th element of all ranks.
    list.clear();
    std::vector<std::uint64_t> values;
    for (std::uint64_t i = me.rank(); i < kElements; i += me.ranks()) {
      for (Rank to = 0; to < me.ranks(); ++to) {
        list.emplace_back(to, 8 * i);
        values.push_back(to * 7 + i);
      }
    }
    ASSERT_TRUE(put_group<std::uint64_t>(me, list, values));
    ASSERT_TRUE(me.barrier());
    for (std::uint64_t i = 0; i < kElements; ++i) ASSERT_EQ(mine[i], me.rank() * 7 + i);
    list.emplace_back(me.ranks(), 0);
    EXPECT_EQ(put_group<std::uint64_t>(me, list, values).code(), ErrorCode::invalid_argument);
  });
}

INSTANTIATE_TEST_SUITE_P(Every, VisElements, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
