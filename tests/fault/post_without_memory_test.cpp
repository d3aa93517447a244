// A rank that has no memory left calls a peer: the call returns no_memory, or succeeds, and does not wait for ever.

#include "conduits/registry.hpp"
#include "tests/fault/launch.hpp"
#include "tests/fault/sanitized.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace aqueduct::fault {
namespace {

struct Case {
  const char* conduit;
  const char* gone;
};

class PostWithoutMemory : public testing::TestWithParam<Case> {};

TEST_P(PostWithoutMemory, EndsWithTheReasonAndWorksOnceThereIsMemory) {
  const auto [conduit, gone] = GetParam();
  // Aqueduct may be built on a site without libfabric or UCX. `.ci/run` has both, and refuses this skip.
  if (conduits::find(conduit) == nullptr) GTEST_SKIP() << "this build has no " << conduit;
  if (kSanitized && std::string_view(gone) == "system")
    GTEST_SKIP() << "the sanitizer's own memory would be missing";
  Launch job(aqrun({"-n", "2", "--timeout", "35", "--conduit", conduit, "-e", "AQUEDUCT_NEAR=off",
                    program("fault_post_without_memory"), gone}));
  EXPECT_EQ(job.status(), 0) << job.out() << job.err();
  for (const char* call : {"message", "put", "get", "atomic"})
    EXPECT_EQ(job.lines(std::string(call) + ": ").size(), 1u) << call << "\n" << job.out() << job.err();
  // The log says why a call is refused.
  if (has(job.out(), "no_memory")) {
    EXPECT_TRUE(has(job.err(), "memory")) << job.out() << job.err();
  }
}

// Not ucx without the system's memory: UCX 1.13.1 ends the program by itself when its progress finds none
// (callbackq.c:93, "could not allocate memory for slow_elems").
INSTANTIATE_TEST_SUITE_P(Faults, PostWithoutMemory,
                         testing::Values(Case{"ofi", "new"}, Case{"ofi", "system"}, Case{"ucx", "new"}),
                         [](const auto& info) {
                           return std::string(info.param.conduit) + "_" + info.param.gone;
                         });

}  // namespace
}  // namespace aqueduct::fault
