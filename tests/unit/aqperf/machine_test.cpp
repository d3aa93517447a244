#include "tools/aqperf/measure/machine.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace aqueduct::perf {
namespace {

cpu_set_t cores(std::initializer_list<int> numbers) {
  cpu_set_t out;
  CPU_ZERO(&out);
  for (const int number : numbers) CPU_SET(number, &out);
  return out;
}

TEST(CoreSets, AreApartIfNoTwoHaveACoreInCommon) {
  EXPECT_TRUE(are_apart({}));
  EXPECT_TRUE(are_apart(std::vector{cores({0, 4}), cores({1, 5}), cores({2, 6})}));
  EXPECT_FALSE(are_apart(std::vector{cores({0, 4}), cores({1, 5}), cores({4, 7})}));
  EXPECT_FALSE(are_apart(std::vector{cores({0, 1}), cores({0, 1})}));
}

}  // namespace
}  // namespace aqueduct::perf
