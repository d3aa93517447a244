#include "tools/aqrun/binding.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace aqrun {
namespace {

using testing::ElementsAre;

/// The processors of each process on a pretended machine; hwloc describes the text.
std::vector<std::vector<int>> bound(const char* machine, const std::string& kind,
                                    const std::vector<std::uint32_t>& ranks_of) {
  ::setenv("HWLOC_SYNTHETIC", machine, 1);
  const auto chosen = choose_binding(kind, ranks_of);
  ::unsetenv("HWLOC_SYNTHETIC");
  std::vector<std::vector<int>> all;
  if (const auto* why = std::get_if<std::string>(&chosen)) {
    ADD_FAILURE() << *why;
    return all;
  }
  for (const cpu_set_t& set : std::get<std::vector<cpu_set_t>>(chosen)) {
    auto& processors = all.emplace_back();
    for (int i = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(i, &set)) processors.push_back(i);
    }
  }
  return all;
}

using Sets = std::vector<std::vector<int>>;

TEST(AqrunBinding, GoesThroughTheCoresInTurn) {
  EXPECT_EQ(bound("package:2 core:2 pu:2", "core", {1, 1, 1}), (Sets{{0, 1}, {2, 3}, {4, 5}}));
  EXPECT_EQ(bound("package:2 core:2 pu:1", "package", {2, 2, 2}), (Sets{{0, 1}, {2, 3}, {0, 1}}));
}

// Requirement N-75, also where the system numbers the first processors of all cores before the second ones.
TEST(AqrunBinding, FillsTheProcessorsOfACoreThenCoresThenPackages) {
  EXPECT_EQ(bound("package:2 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)", "pu", {1, 1, 1, 1, 1, 1, 1, 1}),
            (Sets{{0}, {4}, {1}, {5}, {2}, {6}, {3}, {7}}));
}

TEST(AqrunBinding, GivesEachRankOfAProcessACore) {
  EXPECT_EQ(bound("package:1 core:6 pu:1", "core", {2, 2}), (Sets{{0, 1}, {2, 3}}));
  // The last process has fewer ranks than the others, and takes no core of theirs.
  EXPECT_EQ(bound("package:1 core:5 pu:1", "core", {2, 2, 1}), (Sets{{0, 1}, {2, 3}, {4}}));
  EXPECT_EQ(bound("package:1 core:5 pu:1", "pu", {3, 2}), (Sets{{0, 1, 2}, {3, 4}}));
}

TEST(AqrunBinding, GoesThroughTheNumaNodesInTurn) {
  EXPECT_EQ(bound("numa:2 core:2 pu:1", "numa", {1, 1, 1}), (Sets{{0, 1}, {2, 3}, {0, 1}}));
  EXPECT_EQ(bound("package:2 numa:2 core:1 pu:1", "numa", {1, 1, 1, 1}), (Sets{{0}, {1}, {2}, {3}}));
  EXPECT_EQ(bound("package:2 core:2 pu:1", "numa", {1, 1}), (Sets{{0, 1, 2, 3}, {0, 1, 2, 3}}));
}

// As on processors with two kinds of memory.
TEST(AqrunBinding, CountsNumaNodesOfTheSameProcessorsOnce) {
  EXPECT_EQ(bound("package:2 [numa] [numa] core:2 pu:1", "numa", {1, 1}), (Sets{{0, 1}, {2, 3}}));
  EXPECT_EQ(bound("package:2 [numa] die:2 [numa] core:1 pu:1", "numa", {1, 1, 1, 1}),
            (Sets{{0}, {1}, {2}, {3}}));
}

}  // namespace
}  // namespace aqrun
