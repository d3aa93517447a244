// A layer over the public headers, as foreign runtimes are (tests/layer), on every conduit. Each part of the program checks
// its own answers. tests/stress/layer_stress_test.cpp has more ranks, faults and rounds.

#include "tests/integration/aqrun_job.hpp"
#include "tests/integration/udp_hosts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

namespace aqueduct::integration {
namespace {

using testing::HasSubstr;

constexpr int kLeftWith = 77;

struct LayerRun {
  const char* name;
  const char* conduit;
  int ranks;
  Words options = {};    // of aqrun
  Words arguments = {};  // of the program
};
void PrintTo(const LayerRun& run, std::ostream* out) { *out << run.name; }

const Words kOverUdpWithFaults = {
    "-e", "AQUEDUCT_UDP_FAULTS=loss=1%,delay=1ms,jitter=0.5ms,reorder=25%,duplicate=5%,corrupt=1%"};
const Words kInOneProcess = {"--endpoints", "4"};
const Words kTwoAProcess = {"--endpoints", "2"};
const Words kOfi = {"-e", "AQUEDUCT_OFI_PROVIDER=tcp;ofi_rxm"};
const Words kUcxTcp = {"-e", "AQUEDUCT_UCX_TRANSPORTS=tcp,self"};
const Words kThreads = {"--threads"};

/// aqrun's command line. The conduit serves all pairs of ranks: nothing goes through smp beside it.
Words layer(const LayerRun& run, const Words& more = {}) {
  Words all{"-n", std::to_string(run.ranks), "--conduit", run.conduit, "--timeout", "25"};
  if (run.conduit != std::string("smp")) all = joined(all, {"-e", "AQUEDUCT_NEAR=off"});
  return joined(joined(joined(all, run.options), built("layer", run.arguments)), more);
}

class Layer : public testing::TestWithParam<LayerRun> {};

TEST_P(Layer, GetsTheRightAnswers) {
  AqrunJob job(layer(GetParam()));
  const int status = job.status();
  if (has(job.err(), "there is no such conduit")) GTEST_SKIP() << "built without " << GetParam().conduit;
  EXPECT_EQ(status, 0) << job.out() << job.err();
  EXPECT_THAT(job.out(), HasSubstr(std::to_string(GetParam().ranks) + " ranks, 14 parts are right"))
      << job.err();
}

INSTANTIATE_TEST_SUITE_P(
    Over, Layer,
    testing::Values(LayerRun{"smp_1", "smp", 1}, LayerRun{"smp_2", "smp", 2}, LayerRun{"smp_8", "smp", 8},
                    LayerRun{"smp_4_mixed", "smp", 4, kTwoAProcess},
                    LayerRun{"smp_4_threads", "smp", 4, {}, kThreads}, LayerRun{"udp_2", "udp", 2},
                    LayerRun{"udp_8", "udp", 8}, LayerRun{"udp_3_threads", "udp", 3, {}, kThreads},
                    LayerRun{"udp_4_faults", "udp", 4, kOverUdpWithFaults}, LayerRun{"ofi_4", "ofi", 4, kOfi},
                    LayerRun{"ofi_2_threads", "ofi", 2, kOfi, kThreads}, LayerRun{"ucx_4", "ucx", 4},
                    LayerRun{"ucx_2_tcp_threads", "ucx", 2, kUcxTcp, kThreads},
                    LayerRun{"loop_4", "loop", 4, kInOneProcess},
                    LayerRun{"loop_4_threads", "loop", 4, kInOneProcess, kThreads}),
    [](const auto& info) { return std::string(info.param.name); });

class LayerLeaves : public testing::TestWithParam<LayerRun> {};

TEST_P(LayerLeaves, WithTheCodeOfTheRankThatLeft) {
  AqrunJob job(layer(GetParam(), {"--part", "addresses", "--leave", std::to_string(kLeftWith)}));
  const int status = job.status();
  if (has(job.err(), "there is no such conduit")) GTEST_SKIP() << "built without " << GetParam().conduit;
  EXPECT_EQ(status, kLeftWith) << job.out() << job.err();
  EXPECT_THAT(job.err(), HasSubstr(") left with code " + std::to_string(kLeftWith))) << job.out();
}

INSTANTIATE_TEST_SUITE_P(Over, LayerLeaves,
                         testing::Values(LayerRun{"smp_3", "smp", 3}, LayerRun{"udp_3", "udp", 3},
                                         LayerRun{"ofi_2", "ofi", 2, kOfi}, LayerRun{"ucx_2", "ucx", 2},
                                         LayerRun{"loop_4", "loop", 4, kInOneProcess}),
                         [](const auto& info) { return std::string(info.param.name); });

// A checker that cannot fail is worth nothing.
TEST(LayerAlone, SaysWhatWasWrongAndEndsTheJob) {
  AqrunJob job(layer({"unknown", "smp", 2, {}, {"--part", "wishes"}}));
  EXPECT_EQ(job.status(), 9) << job.err();  // Report::kWrong
  EXPECT_THAT(job.err(), HasSubstr("there is no part \"wishes\""));
}

}  // namespace
}  // namespace aqueduct::integration
