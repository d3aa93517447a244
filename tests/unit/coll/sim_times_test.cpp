// The engine over the conduit sim takes, to the picosecond, the times that the replay of its schedules predicts.

#include "tests/support/sim_times.hpp"

namespace aqueduct::coll::sim_times {
namespace {

TEST(SimTimes, AreThoseOfTheReplay) {
  expect_all_compared(compare_all({2, 5, 8}, {1, 300}, /*all_networks=*/false, /*variants=*/2));
}

}  // namespace
}  // namespace aqueduct::coll::sim_times
