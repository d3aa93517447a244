// The engine over the conduit sim takes, to the picosecond, the times that the replay of its schedules predicts.

#include "tests/support/sim_times.hpp"

namespace aqueduct::coll::sim_times {
namespace {

TEST(SimTimes, AreThoseOfTheReplay) {
  const auto compared = compare_all({2, 5, 8}, {1, 300}, /*all_networks=*/false);
  for (const std::string& name : all_names())
    EXPECT_GT(compared.count(name), 0u) << name << " was not compared";
}

}  // namespace
}  // namespace aqueduct::coll::sim_times
