#include "coll/tune/rounds.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <set>
#include <utility>

namespace aqueduct::coll {
namespace {

TEST(Rounds, OfAMeasurementHaveEachCandidateBehindEachOtherEquallyOften) {
  for (std::size_t count = 1; count <= 12; ++count) {
    const std::size_t repeats = count % 2 == 0 ? 1 : 2;
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> follows;
    for (std::size_t round = 0; round < count * repeats; ++round) {
      std::set<std::size_t> seen;
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t one = in_turn(i, round, count);
        seen.insert(one);
        if (i != 0) ++follows[{in_turn(i - 1, round, count), one}];
      }
      ASSERT_EQ(seen.size(), count) << "each once, in round " << round << " of " << count;
      ASSERT_LT(*seen.rbegin(), count);
    }
    EXPECT_EQ(follows.size(), count * (count - 1));
    for (const auto& [pair, times] : follows) EXPECT_EQ(times, repeats) << count;
  }
}

}  // namespace
}  // namespace aqueduct::coll
