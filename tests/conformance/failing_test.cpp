// Cases that fail on purpose, to test the kit itself: they exist with --failing only.

#include "tests/conformance/fabric_test.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include <unistd.h>

namespace aqueduct::conformance {
namespace {

class Failing : public FabricTest {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Failing);

bool is_last(const Endpoint& me) { return me.rank() + 1 == me.ranks(); }

TEST_P(Failing, OnTheLastRank) {
  as_each_of(2, 64, [](Endpoint& me) { ASSERT_TRUE(me.barrier()); });  // the second launch fails
  as_each_of(many(), 64, [](Endpoint& me) {
    ASSERT_TRUE(me.barrier());
    const char* const host = std::getenv("AQUEDUCT_HOST_ID");
    ASSERT_FALSE(is_last(me)) << "on purpose, on host " << (host != nullptr ? host : "unknown");
    static_cast<void>(me.barrier());
  });
}

TEST_P(Failing, ByTheDeathOfTheLastRank) {
  as_each_of(many(), 64, [](Endpoint& me) {
    // Fails where the last has died before the network took what the others need.
    static_cast<void>(me.barrier());
    if (is_last(me)) std::raise(SIGKILL);
    // Whoever is ended by this death says so too. The launcher must see the last one's first, so the others stay.
    std::this_thread::sleep_for(std::chrono::seconds(10));
  });
}

TEST_P(Failing, ByALastRankThatHangs) {
  as_each_of(many(), 64, [](Endpoint& me) {
    ASSERT_TRUE(me.barrier());
    while (is_last(me)) ::pause();
    static_cast<void>(me.barrier());
  });
}

std::vector<Fabric> failing_fabrics() {
  return program_selection().failing ? fabrics() : std::vector<Fabric>{};
}
INSTANTIATE_TEST_SUITE_P(On, Failing, testing::ValuesIn(failing_fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
