// Collectives that go by hosts, on hosts in name only: no rights are needed, unlike for network namespaces.

#include "tests/integration/kit_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include <sys/wait.h>

namespace aqueduct::integration {
namespace {

class KitByHosts : public testing::TestWithParam<const char*> {};

// Hosts of different sizes, whose members follow one another or are dealt out to them.
TEST_P(KitByHosts, EqualsTheModel) {
  const KitRun outcome =
      run_aqconform({std::string("--fabric=") + GetParam(), "--limit=100",
                     "--gtest_filter=*CollectiveAlgorithms.ThatGoByHostsEqualTheModelOrRefuse/*"},
                    std::chrono::seconds(300));
  EXPECT_TRUE(outcome.in_time) << outcome.output;
  ASSERT_TRUE(WIFEXITED(outcome.status)) << outcome.output;
  EXPECT_EQ(WEXITSTATUS(outcome.status), 0) << outcome.output;
  EXPECT_THAT(outcome.output, testing::HasSubstr("[       OK ] On/CollectiveAlgorithms.ThatGoByHosts"));
}

INSTANTIATE_TEST_SUITE_P(Of, KitByHosts, testing::Values("udp-hosts-in-rows", "udp-hosts-in-turns"),
                         [](const auto& one) {
                           return std::string(one.param).substr(10) == "in-rows" ? "Rows" : "Turns";
                         });

}  // namespace
}  // namespace aqueduct::integration
