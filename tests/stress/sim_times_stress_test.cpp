// The engine over the conduit sim takes, to the picosecond, the times that the replay of its schedules predicts.

#include "tests/support/sim_times.hpp"

namespace aqueduct::coll::sim_times {
namespace {

TEST(SimTimesStress, AreThoseOfTheReplay) {
  expect_all_compared(compare_all({2, 3, 4, 6, 7, 9, 13, 16, 17, 31, 32, 33, 63, 64}, {1, 7, 300, 1500},
                                  /*all_networks=*/true, /*variants=*/4));
}

}  // namespace
}  // namespace aqueduct::coll::sim_times
