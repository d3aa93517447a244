#include "coll/scratch/hidden_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace aqueduct::coll {
namespace {

TEST(UsedRanges, AreTheFirstThatFit) {
  UsedRanges ranges(100);
  EXPECT_EQ(ranges.longest(), 100u);
  EXPECT_EQ(ranges.take(60), 0u);
  EXPECT_EQ(ranges.take(30), 60u);
  EXPECT_FALSE(ranges.take(11));
  EXPECT_EQ(ranges.longest(), 10u);
  ranges.give_back(0);
  EXPECT_EQ(ranges.free(), 70u);
  EXPECT_EQ(ranges.longest(), 60u);
  EXPECT_EQ(ranges.take(20), 0u);
  EXPECT_EQ(ranges.take(40), 20u);
  EXPECT_EQ(ranges.take(10), 90u);
  EXPECT_EQ(ranges.free(), 0u);
  ranges.give_back(5);  // nothing begins there
  EXPECT_EQ(ranges.used(), 4u);
}

TEST(HiddenMemory, GivesWholeLinesAndCountersThatHoldZero) {
  std::vector<std::uint64_t> words(64, 7);
  HiddenMemory memory(words, 1024);
  const auto first = memory.take(1, 10);
  ASSERT_TRUE(first);
  EXPECT_EQ(*first, (HiddenMemory::Place{0, 64, 0, 10}));
  const auto second = memory.take(65, 54);
  ASSERT_TRUE(second);
  EXPECT_EQ(*second, (HiddenMemory::Place{64, 128, 10, 54}));
  EXPECT_TRUE(std::all_of(words.begin(), words.end(), [](std::uint64_t word) { return word == 0; }));
  words[3] = 9;
  memory.give_back(*first);
  EXPECT_EQ(memory.take(64, 5)->first_counter, 0u);
  EXPECT_EQ(words[3], 0u);
}

TEST(HiddenMemory, ThatHasNoRoomForOneOfTheTwoTakesNeither) {
  std::vector<std::uint64_t> words(16);
  HiddenMemory memory(words, 1024);
  EXPECT_FALSE(memory.take(64, 17));
  EXPECT_FALSE(memory.take(1025, 1));
  EXPECT_FALSE(memory.take(UINT64_MAX, 1));
  EXPECT_EQ(memory.free_bytes(), 1024u);
  EXPECT_EQ(memory.free_counters(), 16u);
  EXPECT_EQ(memory.places(), 0u);
  EXPECT_TRUE(memory.take(1024, 16));
}

TEST(HiddenMemory, KnowsTheMostThatPlacesHaveHadAtOneTime) {
  std::vector<std::uint64_t> words(64);
  HiddenMemory memory(words, 1024);
  EXPECT_EQ(memory.high_water(), 0u);
  const auto first = memory.take(100, 1);
  const auto second = memory.take(64, 1);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(memory.high_water(), 192u);
  memory.give_back(*first);
  ASSERT_TRUE(memory.take(64, 1));
  EXPECT_EQ(memory.high_water(), 192u);
  EXPECT_FALSE(memory.take(2000, 1));
  EXPECT_EQ(memory.high_water(), 192u) << "what was refused was not had";
}

// Thousands of places: no two overlap, and when all are given back, all is one range again.
TEST(HiddenMemory, KeepsThousandsOfPlacesApart) {
  std::vector<std::uint64_t> words(65536);
  HiddenMemory memory(words, 8 << 20);
  std::mt19937 random(1);
  std::vector<HiddenMemory::Place> places;
  std::size_t most = 0;
  for (int i = 0; i < 20'000; ++i) {
    if (random() % 4 != 0 || places.empty()) {
      const auto place = memory.take(1 + random() % 4096, 1 + random() % 32);
      if (place) {
        for (std::uint64_t& word : memory.counters_of(*place)) {
          ASSERT_EQ(word, 0u);
          word = 1;
        }
        places.push_back(*place);
      }
    } else {
      const std::size_t which = random() % places.size();
      memory.give_back(places[which]);
      places[which] = places.back();
      places.pop_back();
    }
    most = std::max(most, places.size());
  }
  EXPECT_GT(most, 2000u);
  std::map<std::uint64_t, std::uint64_t> bytes, counters;
  for (const auto& place : places) {
    bytes[place.offset] = place.offset + place.bytes;
    counters[place.first_counter] = place.first_counter + place.counters;
  }
  for (const auto* ranges : {&bytes, &counters}) {
    ASSERT_EQ(ranges->size(), places.size());
    std::uint64_t end = 0;
    for (const auto& [from, to] : *ranges) {
      EXPECT_GE(from, end);
      end = to;
    }
  }
  for (const auto& place : places) memory.give_back(place);
  EXPECT_EQ(memory.most_bytes(), 8u << 20);
  EXPECT_EQ(memory.most_counters(), 65536u);
}

}  // namespace
}  // namespace aqueduct::coll
