// The engine over the conduit sim takes, to the picosecond, the times that the replay of its schedules predicts.

#include "tests/support/sim_times.hpp"

namespace aqueduct::coll::sim_times {
namespace {

TEST(SimTimesStress, AreThoseOfTheReplay) {
  const auto compared = compare_all({2, 3, 4, 6, 7, 9, 13, 16, 17, 31, 32, 33, 63, 64}, {1, 7, 300, 1500},
                                    /*all_networks=*/true);
  for (const std::string& name : all_names())
    EXPECT_GT(compared.count(name), 0u) << name << " was not compared";
}

}  // namespace
}  // namespace aqueduct::coll::sim_times
