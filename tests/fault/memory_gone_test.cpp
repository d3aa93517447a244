// A rank gets no more memory and finishes: it does, or says that memory is missing. It does not wait for ever.

#include "conduits/registry.hpp"
#include "tests/fault/launch.hpp"
#include "tests/fault/sanitized.hpp"

#include <gtest/gtest.h>

#include <tuple>

namespace aqueduct::fault {
namespace {

/// What the test changes: `new` fails; or the system gives no memory, to network libraries either (setrlimit).
enum class Gone : std::uint8_t { from_new, from_system };

class MemoryGone : public testing::TestWithParam<std::tuple<const char*, Gone>> {
 protected:
  /// Whether the job ends well. If not, it has named memory.
  bool finishes(const char* before) {
    const auto [conduit, gone] = GetParam();
    std::vector<std::string> arguments{
        "-n", "3", "--timeout", "30", "-e", "AQUEDUCT_UDP_TIMEOUT=2s", "--conduit", conduit};
    if (std::string_view(conduit) != "smp") arguments.insert(arguments.end(), {"-e", "AQUEDUCT_NEAR=off"});
    arguments.insert(arguments.end(),
                     {program("fault_memory_gone"), before, gone == Gone::from_new ? "new" : "system"});
    Launch job(aqrun(arguments));
    const int status = job.status();
    EXPECT_TRUE(status == 0 || status == 70) << status << "\n" << job.out() << job.err();
    EXPECT_FALSE(has(job.err(), "--timeout")) << job.out() << job.err();
    EXPECT_TRUE(status == 0 || has(job.err(), "memory")) << job.out() << job.err();
    return status == 0;
  }
};

TEST_P(MemoryGone, AJobEndsOrSaysWhyNot) {
  const auto [conduit, gone] = GetParam();
  // Aqueduct may be built on a site without libfabric or UCX. `.ci/run` has both, and refuses this skip.
  if (conduits::find(conduit) == nullptr) GTEST_SKIP() << "this build has no " << conduit;
  if (kSanitized && gone == Gone::from_system) GTEST_SKIP() << "the sanitizer's own memory would be missing";
  const bool silent = finishes("silent");
  // Each rank needs a connection that it does not have, so this tests the error, and not only that a job may end well.
  if (std::string_view(conduit) == "udp" && gone == Gone::from_new) {
    EXPECT_FALSE(silent);
  }
  finishes("spoken");
}

INSTANTIATE_TEST_SUITE_P(Faults, MemoryGone,
                         testing::Combine(testing::Values("smp", "udp", "ofi", "ucx"),
                                          testing::Values(Gone::from_new, Gone::from_system)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) == Gone::from_new ? "New" : "System");
                         });

}  // namespace
}  // namespace aqueduct::fault
