// Jobs over udp between two hosts on a long and faulty cable, through the real kernel. A relay in this process
// delays, reorders and repeats packets (tests/support/relay.hpp).

#include "tests/integration/aqrun_job.hpp"
#include "tests/integration/udp_hosts.hpp"
#include "tests/support/relay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <ostream>

namespace aqueduct::integration {
namespace {

using namespace std::chrono_literals;
using support::Joined;
using support::NetworkNamespaces;
using support::Relay;
using testing::HasSubstr;

struct Cable {
  const char* name;
  Relay::Plan plan;
  const char* security;
};
void PrintTo(const Cable& cable, std::ostream* out) { *out << cable.name; }

class UdpOverRelay : public testing::TestWithParam<Cable> {
 protected:
  void SetUp() override {
    std::string why;
    if (!NetworkNamespaces::usable(why) || !NetworkNamespaces::can_hold(why)) GTEST_SKIP() << why;
    hosts_.emplace(2, Joined::by_holder);
    const int first = hosts_->net.plug(0), second = hosts_->net.plug(1);
    ASSERT_TRUE(first >= 0 && second >= 0);
    relay_.emplace(std::array{first, second}, GetParam().plan);
    ASSERT_EQ(hosts_->net.problem(), "");
  }
  std::optional<UdpHosts> hosts_;
  std::optional<Relay> relay_;
};

TEST_P(UdpOverRelay, JobsAreRight) {
  const Relay::Plan& plan = GetParam().plan;
  const Words security{"-e", std::string("AQUEDUCT_UDP_SECURITY=") + GetParam().security};
  const std::pair<Words, const char*> programs[] = {
      {built("heat2d", {"--steps", "20", "--size", "256", "256"}), "heat2d: equal to the serial result\n"},
      {built("gups", {"--log2-words", "12", "--mode", "am"}), "gups: 0 wrong words, 0 allowed\n"},
      {built("ring_am", {"--laps", "5"}), "ring_am: all sums are right\n"}};
  for (const auto& [program, says] : programs) {
    SCOPED_TRACE(program.front());
    AqrunJob job(hosts_->run(security, program));
    EXPECT_EQ(job.status(), 0) << job.out() << job.err();
    EXPECT_THAT(job.out(), HasSubstr(says));
    EXPECT_EQ(job.err(), "");
  }
  // Checks that the cable was as faulty as planned.
  const Relay::Counts counts = relay_->counts();
  EXPECT_GT(counts.frames, 100u);
  const auto expect_share = [&](std::uint64_t count, double share, const char* of) {
    const double wanted = share * static_cast<double>(counts.frames);
    EXPECT_GE(static_cast<double>(count), wanted / 3) << of << " of " << counts.frames << " frames";
  };
  expect_share(counts.held, plan.reorder, "held back");
  expect_share(counts.repeated, plan.duplicate, "repeated");
  expect_share(counts.lost, plan.loss, "lost");
}

INSTANTIATE_TEST_SUITE_P(
    Jobs, UdpOverRelay,
    testing::Values(
        Cable{"far", {.delay = 2ms, .jitter = 500us}, "header"},
        Cable{"disorder", {.delay = 500us, .duplicate = 0.05, .reorder = 0.25, .hold = 1ms}, "header"},
        Cable{"all",
              {.delay = 1ms, .jitter = 500us, .loss = 0.01, .duplicate = 0.05, .reorder = 0.1, .hold = 2ms},
              "full"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace aqueduct::integration
