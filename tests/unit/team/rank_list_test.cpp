#include <aqueduct/rank_list.hpp>

#include "team/rank_list_state.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <vector>

namespace aqueduct {
namespace {

using Ranks = std::vector<Rank>;

std::vector<Rank> ranks_of_list(const RankList& list) { return team::ranks_in(list); }

/// A list that can be made.
RankList list_from(const Ranks& ranks) {
  auto list = RankList::of(ranks);
  EXPECT_TRUE(list) << list.status().text();
  return list ? *list : RankList();
}

void expect_list(const Result<RankList>& list, const Ranks& ranks) {
  ASSERT_TRUE(list) << list.status().text();
  EXPECT_EQ(ranks_of_list(*list), ranks);
  EXPECT_EQ(list->size(), ranks.size());
  EXPECT_EQ(list->empty(), ranks.empty());
  for (Rank i = 0; i < ranks.size(); ++i) {
    EXPECT_EQ(list->rank_of(i), ranks[i]);
    EXPECT_EQ(list->index_of(ranks[i]), i);
    EXPECT_TRUE(list->contains(ranks[i]));
  }
  EXPECT_EQ(list->rank_of(list->size()), kNoRank);
  EXPECT_EQ(list->rank_of(kNoRank), kNoRank);
  EXPECT_EQ(list->index_of(kNoRank), kNoRank);
  EXPECT_EQ(list->index_of(kAnyRank), kNoRank);
}

Result<RankList> by_ranges(const std::vector<RankRange>& ranges) { return RankList::of_ranges(ranges); }

TEST(RankList, HasTheGivenRanksInTheirOrder) {
  expect_list(RankList(), {});
  for (const Ranks& ranks :
       {Ranks{}, Ranks{7}, Ranks{0, 1, 2}, Ranks{9, 6, 3}, Ranks{4, 1, 3}, Ranks{0, kAnyRank - 1},
        Ranks{0, 0x60000000, 0xC0000000, 0x20000000}, Ranks{5, 1, 0xFFFFFFFD}})
    expect_list(RankList::of(ranks), ranks);
}

TEST(RankList, RefusesTwinsAndWhatIsNoRank) {
  EXPECT_EQ(RankList::of(Ranks{3, 5, 3}).status(), Status(ErrorCode::invalid_argument, 3));
  EXPECT_EQ(RankList::of(Ranks{0, 0}).status(), Status(ErrorCode::invalid_argument, 0));
  EXPECT_EQ(RankList::of(Ranks{0, kNoRank}).status().code(), ErrorCode::out_of_range);
  EXPECT_EQ(RankList::of(Ranks{kAnyRank}).status().code(), ErrorCode::out_of_range);
}

TEST(RankList, OfARangeStopsAtItsLastRank) {
  expect_list(RankList::range(0, 3), {0, 1, 2, 3});
  expect_list(RankList::range(5, 5), {5});
  expect_list(RankList::range(5, 5, -7), {5});
  expect_list(RankList::range(1, 9, 3), {1, 4, 7});
  expect_list(RankList::range(1, 10, 3), {1, 4, 7, 10});
  expect_list(RankList::range(9, 1, -3), {9, 6, 3});
  expect_list(RankList::range(9, 0, -3), {9, 6, 3, 0});
  expect_list(RankList::range(2, 9, std::numeric_limits<std::int64_t>::max()), {2});
  expect_list(RankList::range(9, 2, std::numeric_limits<std::int64_t>::min()), {9});
  expect_list(RankList::range(0, kAnyRank - 1, kAnyRank - 1), {0, kAnyRank - 1});
  expect_list(RankList::range(0, kNoRank, kAnyRank - 1), {0, kAnyRank - 1});  // `last` itself is not reached
}

TEST(RankList, RefusesRangesThatEndNowhere) {
  EXPECT_EQ(RankList::range(0, 5, 0).status().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(RankList::range(5, 5, 0).status().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(RankList::range(0, 5, -1).status().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(RankList::range(5, 0, 1).status().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(RankList::range(0, kAnyRank).status().code(), ErrorCode::out_of_range);
  EXPECT_EQ(RankList::range(kNoRank, 0, -1).status().code(), ErrorCode::out_of_range);
}

TEST(RankList, OfRangesHasOneAfterTheOther) {
  expect_list(by_ranges({}), {});
  expect_list(by_ranges({{4, 8, 2}}), {4, 6, 8});
  expect_list(by_ranges({{4, 8, 2}, {3, 1, -1}, {20, 20, 1}}), {4, 6, 8, 3, 2, 1, 20});
  EXPECT_EQ(by_ranges({{0, 3, 1}, {6, 2, -2}}).status(), Status(ErrorCode::invalid_argument, 2));
  EXPECT_EQ(by_ranges({{0, 3, 1}, {6, 2, 2}}).status().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(by_ranges({{0, 3, 1}, {kNoRank, kNoRank, 1}}).status().code(), ErrorCode::out_of_range);
  // More numbers than there are ranks: refused before they are listed.
  EXPECT_EQ(by_ranges({{0, kAnyRank - 1, 1}, {0, kAnyRank - 1, 1}}).status().code(),
            ErrorCode::invalid_argument);
}

TEST(RankList, OfARangeTakesNoMemoryForItsRanks) {
  const auto all = RankList::range(0, kAnyRank - 1);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), kAnyRank);
  EXPECT_FALSE(all->state()->ranks.is_listed());
  EXPECT_EQ(all->index_of(1u << 31), 1u << 31);
  EXPECT_EQ(all->index_of(kAnyRank), kNoRank);
  // What is short in the end is found by the shorter list.
  expect_list(all->intersection_with(list_from({5, 1, 3000000000})), {1, 5, 3000000000});
  expect_list(list_from({5, 1, 3000000000}).intersection_with(*all), {5, 1, 3000000000});
  expect_list(all->include(Ranks{4000000000, 3}), {4000000000, 3});
  expect_list(list_from({5, 1, 3000000000}).difference_with(*all), {});
  EXPECT_EQ(all->compare(*RankList::range(0, kAnyRank - 1)), Likeness::same);
  EXPECT_EQ(all->compare(*RankList::range(1, kAnyRank - 1)), Likeness::different);
}

TEST(RankList, WhoseRanksAreAtEqualDistancesIsNeverListed) {
  const auto is_listed = [](const Result<RankList>& list) { return list->state()->ranks.is_listed(); };
  EXPECT_FALSE(is_listed(RankList::of(Ranks{8, 6, 4, 2})));
  EXPECT_FALSE(is_listed(by_ranges({{0, 3, 1}, {4, 9, 1}})));
  EXPECT_FALSE(is_listed(list_from({1, 3}).union_with(list_from({5, 7}))));
  EXPECT_FALSE(is_listed(list_from({4, 1, 2, 3}).exclude(Ranks{0})));
  EXPECT_TRUE(is_listed(RankList::of(Ranks{0, 1, 3})));
}

TEST(RankList, CombinesAsSetsInTheOrderOfTheFirst) {
  const RankList a = list_from({6, 2, 9, 4}), b = list_from({4, 5, 6}), none;
  expect_list(a.union_with(b), {6, 2, 9, 4, 5});
  expect_list(b.union_with(a), {4, 5, 6, 2, 9});
  expect_list(a.intersection_with(b), {6, 4});
  expect_list(b.intersection_with(a), {4, 6});
  expect_list(a.difference_with(b), {2, 9});
  expect_list(b.difference_with(a), {5});
  for (const RankList& list : {a, b, none}) {
    const Ranks ranks = ranks_of_list(list);
    expect_list(list.union_with(none), ranks);
    expect_list(none.union_with(list), ranks);
    expect_list(list.union_with(list), ranks);
    expect_list(list.intersection_with(list), ranks);
    expect_list(list.intersection_with(none), {});
    expect_list(none.intersection_with(list), {});
    expect_list(list.difference_with(none), ranks);
    expect_list(list.difference_with(list), {});
    expect_list(none.difference_with(list), {});
  }
}

TEST(RankList, IncludesAndExcludesByIndex) {
  const RankList list = list_from({10, 30, 20, 50, 40});
  expect_list(list.include(Ranks{3, 0}), {50, 10});
  expect_list(list.include(Ranks{}), {});
  expect_list(list.exclude(Ranks{3, 0}), {30, 20, 40});
  expect_list(list.exclude(Ranks{}), {10, 30, 20, 50, 40});
  expect_list(list.exclude(Ranks{0, 1, 2, 3, 4}), {});
  const std::array<RankRange, 2> ranges{RankRange{4, 2, -2}, RankRange{0, 0, 1}};
  expect_list(list.include(ranges), {40, 20, 10});
  expect_list(list.exclude(ranges), {30, 50});
  expect_list(list.exclude(std::span<const RankRange>()), {10, 30, 20, 50, 40});
}

TEST(RankList, NamesWhatIsWrongWithIndices) {
  const RankList list = list_from({10, 30, 20});
  const RankList none;
  for (const Ranks& outside : {Ranks{3}, Ranks{0, kNoRank}}) {
    EXPECT_EQ(list.include(outside).status().code(), ErrorCode::out_of_range);
    EXPECT_EQ(list.exclude(outside).status().code(), ErrorCode::out_of_range);
    EXPECT_EQ(none.include(outside).status().code(), ErrorCode::out_of_range);
  }
  EXPECT_EQ(list.include(Ranks{1, 2, 1}).status(), Status(ErrorCode::invalid_argument, 30));
  EXPECT_EQ(list.exclude(Ranks{1, 2, 1}).status(), Status(ErrorCode::invalid_argument, 30));
  const auto code_of = [&](RankRange range) {
    const std::array<RankRange, 1> one{range};
    EXPECT_EQ(list.include(one).status(), list.exclude(one).status());
    return list.include(one).status().code();
  };
  EXPECT_EQ(code_of({0, 2, 0}), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of({0, 2, -1}), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of({0, 3, 1}), ErrorCode::out_of_range);
  EXPECT_EQ(code_of({3, 0, -1}), ErrorCode::out_of_range);
  EXPECT_EQ(code_of({0, 3, 2}), ErrorCode::ok) << "0 and 2: 3 is not reached";
  const std::array<RankRange, 2> twice{RankRange{0, 1, 1}, RankRange{1, 2, 1}};
  EXPECT_EQ(list.include(twice).status().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(none.exclude(twice).status().code(), ErrorCode::out_of_range);
}

TEST(RankList, TranslatesIndices) {
  const RankList from = list_from({10, 30, 20}), to = list_from({20, 40, 10}), none;
  Ranks into(4, 99);
  ASSERT_TRUE(from.translate(Ranks{2, 0, 1, kNoRank}, to, into));
  EXPECT_EQ(into, (Ranks{0, 2, kNoRank, kNoRank}));
  Ranks in_place{0, 2};
  ASSERT_TRUE(from.translate(in_place, to, in_place));
  EXPECT_EQ(in_place, (Ranks{2, 0}));
  EXPECT_TRUE(from.translate({}, to, {}));
  ASSERT_TRUE(from.translate(Ranks{0, 1, 2, kNoRank}, none, into));
  EXPECT_EQ(into, Ranks(4, kNoRank));
  into.assign(4, 99);
  EXPECT_EQ(from.translate(Ranks{0, 1, 3, 2}, to, into).code(), ErrorCode::out_of_range);
  EXPECT_EQ(from.translate(Ranks{0, 1, 2}, to, into).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(none.translate(Ranks{0, 0, 0, 0}, to, into).code(), ErrorCode::out_of_range);
  EXPECT_EQ(into, Ranks(4, 99));
}

TEST(RankList, Compares) {
  const RankList list = list_from({1, 2, 3}), none;
  EXPECT_EQ(list.compare(list_from({1, 2, 3})), Likeness::same);
  EXPECT_EQ(list.compare(*RankList::range(1, 3)), Likeness::same);
  EXPECT_EQ(list.compare(list_from({3, 2, 1})), Likeness::reordered);
  EXPECT_EQ(list.compare(list_from({2, 1, 3})), Likeness::reordered);
  EXPECT_EQ(list.compare(list_from({1, 2})), Likeness::different);
  EXPECT_EQ(list.compare(list_from({1, 2, 4})), Likeness::different);
  EXPECT_EQ(list.compare(none), Likeness::different);
  EXPECT_EQ(none.compare(list), Likeness::different);
  EXPECT_EQ(none.compare(RankList()), Likeness::same);
  EXPECT_EQ(list_from({4, 9, 1}).compare(list_from({4, 9, 1})), Likeness::same);
  EXPECT_EQ(list_from({7}).compare(*RankList::range(7, 9, 5)), Likeness::same);
  EXPECT_EQ(none.compare(*list.exclude(Ranks{0, 1, 2})), Likeness::same);
  EXPECT_TRUE(list == list_from({1, 2, 3}));
  EXPECT_FALSE(list == none);
}

TEST(RankList, KeepsItsRanksWhenACopyGoes) {
  RankList copy;
  {
    const RankList list = list_from({4, 1, 3});
    copy = list;
  }
  expect_list(copy, {4, 1, 3});
}

// Beside a naive model, on lists that are now at equal distances and now not.
TEST(RankList, AgreesWithPlainSets) {
  std::mt19937 random(11);
  const auto some = [&] {
    Ranks all(12);
    std::iota(all.begin(), all.end(), Rank{0});
    if (random() % 2 == 0) std::shuffle(all.begin(), all.end(), random);
    const std::size_t first = random() % all.size();
    const std::size_t count = random() % (all.size() - first + 1);
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
    return Ranks(begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  const auto has = [](const Ranks& ranks, Rank rank) {
    return std::ranges::find(ranks, rank) != ranks.end();
  };
  for (int round = 0; round < 300; ++round) {
    const Ranks a = some(), b = some();
    Ranks both, common, only;
    std::ranges::copy_if(b, std::back_inserter(both), [&](Rank rank) { return !has(a, rank); });
    both.insert(both.begin(), a.begin(), a.end());
    std::ranges::copy_if(a, std::back_inserter(common), [&](Rank rank) { return has(b, rank); });
    std::ranges::copy_if(a, std::back_inserter(only), [&](Rank rank) { return !has(b, rank); });
    const RankList x = list_from(a), y = list_from(b);
    expect_list(x.union_with(y), both);
    expect_list(x.intersection_with(y), common);
    expect_list(x.difference_with(y), only);
    Ranks sorted_a = a, sorted_b = b;
    std::ranges::sort(sorted_a);
    std::ranges::sort(sorted_b);
    const Likeness expected = a == b                 ? Likeness::same
                              : sorted_a == sorted_b ? Likeness::reordered
                                                     : Likeness::different;
    EXPECT_EQ(x.compare(y), expected) << "round " << round;
  }
}

}  // namespace
}  // namespace aqueduct
