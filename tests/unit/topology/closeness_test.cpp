// How close ranks are, by the levels of their host.

#include "topology/closeness.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace aqueduct::topology {
namespace {

/// Two NUMA nodes of two last caches of two cores of two threads: ranks 0 to 15; rank 16 is not bound.
std::uint32_t place_of(Rank rank, std::size_t level) {
  constexpr std::uint32_t kEach[] = {16, 8, 4, 2};
  return level == 0 ? 0 : rank == 16 ? kNowhere : rank / kEach[level];
}

TEST(Closeness, IsThatOfTheMostDistantMembers) {
  const std::vector<Level> levels{
      {"host", 1, false}, {"package+numa", 2, true}, {"l3", 4, true}, {"l2+core", 8, false}};
  const auto of = [&](const std::vector<Rank>& members) {
    return word_of(closeness(members, levels, place_of));
  };
  EXPECT_EQ(of({0}), "core");
  EXPECT_EQ(of({2, 3}), "core");
  EXPECT_EQ(of({1, 2}), "cache");
  EXPECT_EQ(of({0, 1, 2, 3}), "cache");
  EXPECT_EQ(of({0, 4}), "domain");
  EXPECT_EQ(of({0, 1, 7}), "domain");
  EXPECT_EQ(of({7, 8}), "host");
  EXPECT_EQ(of({0, 16}), "host");
}

TEST(Closeness, WithoutALevelOfNodesIsThatOfOneNode) {
  const std::vector<Level> levels{{"host", 1, false}, {"package", 2, true}};
  EXPECT_EQ(word_of(closeness(std::vector<Rank>{7, 8}, levels, place_of)), "domain");
}

}  // namespace
}  // namespace aqueduct::topology
