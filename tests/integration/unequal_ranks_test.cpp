// Ranks with different values of settings that must agree, for example because a variable has not reached all hosts.

#include "tests/integration/aqrun_job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace aqueduct::integration {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kBadSetting = 22;

// For example the number of segments: one rank would be refused a segment that the others wait for.
TEST(UnequalRanks, InASettingThatMustAgreeDoNotStartAndAllSayWhy) {
  AqrunJob job(
      shell({"-n", "3"}, "[ $p = 2 ] && export AQUEDUCT_SEGMENTS=8; exec " AQUEDUCT_BIN_DIR "/hello"));
  EXPECT_EQ(job.status(), kBadSetting) << job.err();
  EXPECT_THAT(
      job.err(),
      AllOf(HasSubstr("process 2 has other settings than this one: AQUEDUCT_SEGMENTS=8, here 65536."),
            HasSubstr("process 0 has other settings than this one: AQUEDUCT_SEGMENTS=65536, here 8.")));
}

// Settings that affect their own rank only, or travel with addresses, keys and segments: the job works.
TEST(UnequalRanks, InSettingsThatMayDifferWorkTogether) {
  const std::string other =
      "AQUEDUCT_SIGNALS=8 AQUEDUCT_HANDLERS=64 AQUEDUCT_OPERATIONS=64 AQUEDUCT_PREPARED=1 AQUEDUCT_SPIN=0 "
      "AQUEDUCT_VIS_PLAN=packed";
  const std::string smp =
      " AQUEDUCT_SMP_SLOTS=16 AQUEDUCT_SMP_RING_BYTES=16K AQUEDUCT_SMP_MEMORY=posix AQUEDUCT_SMP_CMA=off "
      "AQUEDUCT_SMP_PROGRESS=0";
  const std::string udp =
      " AQUEDUCT_UDP_PACKET=1400 AQUEDUCT_UDP_OFFLOAD=off AQUEDUCT_UDP_PROGRESS=0 "
      "AQUEDUCT_UDP_SEND_BUFFER=64K "
      "AQUEDUCT_UDP_RECEIVE_BUFFER=256K";
  // Rank 0 makes the memory that all share, so each of two ranks in turn is the different one.
  for (const char* const different : {"0", "1"}) {
    for (const auto& [near, settings] : {std::pair{"on", smp}, std::pair{"off", udp}}) {
      SCOPED_TRACE(different + settings);
      const std::string conduit = near == std::string("off") ? "udp" : "smp";
      const auto run = [&](const std::string& program) {
        return shell({"-n", "2", "--conduit", conduit, "-e", "AQUEDUCT_NEAR=" + std::string(near)},
                     "[ $p = " + std::string(different) + " ] && export " + other + settings +
                         "; exec " AQUEDUCT_BIN_DIR "/" + program);
      };
      AqrunJob job(run("ring_am --laps 20 --bytes 8192"));
      EXPECT_EQ(job.status(), 0) << job.err();
      EXPECT_THAT(job.out(), HasSubstr("all sums are right")) << job.err();
      AqrunJob collectives(run("kmeans"));
      EXPECT_EQ(collectives.status(), 0) << collectives.err();
    }
  }
}

class UnequalPackets : public ::testing::TestWithParam<const char*> {};

TEST_P(UnequalPackets, OfOtherSizesDoNotStartAndSayWhy) {
  const std::string conduit = GetParam();
  const std::string variable = "AQUEDUCT_" + std::string(conduit == "ofi" ? "OFI" : "UCX") + "_PACKET";
  // Rank 0 has the larger values, which the other rank could not handle.
  AqrunJob job(shell({"-n", "2", "-e", "AQUEDUCT_NEAR=off", "--conduit", conduit},
                     "[ $p = 1 ] || export " + variable + "=64K; exec " AQUEDUCT_BIN_DIR "/hello"));
  const int status = job.status();
  // Presets no-ofi and no-ucx leave one of them out. All other presets, which CI builds, must have both.
  if (has(job.err(), "there is no such conduit")) GTEST_SKIP() << "built without " << conduit;
  EXPECT_EQ(status, kBadSetting) << job.err();
  EXPECT_THAT(job.err(), AllOf(HasSubstr("conduit " + conduit + ": packets of rank"), HasSubstr("65536"),
                               HasSubstr("mpirun")));
}

INSTANTIATE_TEST_SUITE_P(Over, UnequalPackets, ::testing::Values("ofi", "ucx"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace aqueduct::integration
