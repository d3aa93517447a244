// The engine over the conduit sim takes, to the picosecond, the times that the replay of its schedules predicts.

#include "tests/support/sim_times.hpp"

namespace aqueduct::coll::sim_times {
namespace {

TEST(SimTimesStress, OfTeamsOfUpTo17AreThoseOfTheReplay) {
  expect_all_compared(compare_all({2, 3, 4, 6, 7, 9, 13, 16, 17}, {1, 7, 300, 1500}, /*all_networks=*/true,
                                  /*variants=*/4));
}

TEST(SimTimesStress, OfTeamsOfUpTo64AreThoseOfTheReplay) {
  expect_all_compared(compare_all({31, 33, 64}, {1, 7, 300}, /*all_networks=*/false, /*variants=*/2));
}

}  // namespace
}  // namespace aqueduct::coll::sim_times
