// Memory runs out in any call: the call fails, and what is left works.

#include "conduits/registry.hpp"
#include "tests/fault/launch.hpp"

#include <gtest/gtest.h>

namespace aqueduct::fault {
namespace {

class ShortOfMemory : public testing::TestWithParam<const char*> {};

TEST_P(ShortOfMemory, EachAllocationMayFail) {
  const std::string conduit = GetParam();
  // Aqueduct may be built on a site without libfabric or UCX. `.ci/run` has both, and refuses this skip.
  if (conduits::find(conduit) == nullptr) GTEST_SKIP() << "this build has no " << conduit;
  const std::vector<std::string> far{"-e", "AQUEDUCT_NEAR=off"};
  std::vector<std::string> arguments{"-n", "2", "--timeout", "300", "--conduit", conduit};
  if (conduit != "smp") arguments.insert(arguments.end(), far.begin(), far.end());
  arguments.push_back(program("fault_short_of_memory"));
  Launch job(aqrun(arguments));
  EXPECT_EQ(job.status(), 0) << job.out() << job.err();
  for (const char* call :
       {"put", "segment", "dup", "split", "barrier_nb", "broadcast", "all_reduce", "plan"}) {
    EXPECT_FALSE(job.lines(std::string(call) + ": ").empty()) << call;
    EXPECT_TRUE(job.lines(std::string(call) + ": 0").empty()) << call << " has allocated nothing";
  }
}

INSTANTIATE_TEST_SUITE_P(Faults, ShortOfMemory, testing::Values("smp", "udp", "ofi", "ucx"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace aqueduct::fault
