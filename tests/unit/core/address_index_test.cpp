#include "core/address_index.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace aqueduct::core {
namespace {

TEST(AddressIndex, FindsTheSegmentThatContainsTheWholeBuffer) {
  std::vector<std::byte> memory(100);
  const MutableBytes all(memory);
  AddressIndex index;
  EXPECT_EQ(index.find(all.first(1)), std::nullopt);
  index.add(7, all.subspan(10, 20));
  index.add(3, all.subspan(30, 20));
  EXPECT_EQ(index.find(all.subspan(10, 20)), 7u);
  EXPECT_EQ(index.find(all.subspan(29, 1)), 7u);
  EXPECT_EQ(index.find(all.subspan(30, 1)), 3u);
  EXPECT_EQ(index.find(all.subspan(9, 2)), std::nullopt);
  EXPECT_EQ(index.find(all.subspan(29, 2)), std::nullopt) << "across two segments";
  EXPECT_EQ(index.find(all.subspan(50, 1)), std::nullopt);
}

TEST(AddressIndex, ForgetsWhatWasRemovedAndKeepsOthersAtTheSamePlace) {
  std::vector<std::byte> memory(100);
  const MutableBytes all(memory);
  AddressIndex index;
  index.add(1, all.first(50));
  index.add(2, all.first(10));
  index.remove(9, all.data());
  index.remove(2, all.data());
  EXPECT_EQ(index.find(all.first(5)), 1u);
  index.remove(1, all.data());
  EXPECT_EQ(index.find(all.first(5)), std::nullopt);
}

TEST(AddressIndex, FindsWhatALoopOverAllSegmentsFinds) {
  std::mt19937 random(3);
  std::vector<std::byte> memory(400);
  AddressIndex index;
  std::vector<MutableBytes> live(40);
  for (int round = 0; round < 20'000; ++round) {
    const SegmentId id = random() % live.size();
    if (live[id].empty()) {
      const std::size_t at = random() % 390;
      live[id] = MutableBytes(memory).subspan(at, 1 + random() % (400 - at));
      index.add(id, live[id]);
    } else if (random() % 2 == 0) {
      index.remove(id, live[id].data());
      live[id] = {};
    }
    const std::size_t at = random() % 390;
    const Bytes buffer = MutableBytes(memory).subspan(at, 1 + random() % 10);
    const auto holds = [&](MutableBytes one) {
      return !one.empty() && one.data() <= buffer.data() &&
             buffer.data() + buffer.size() <= one.data() + one.size();
    };
    const auto found = index.find(buffer);
    ASSERT_EQ(found.has_value(), std::ranges::any_of(live, holds));
    if (found) {
      ASSERT_TRUE(holds(live[*found]));
    }
  }
}

}  // namespace
}  // namespace aqueduct::core
