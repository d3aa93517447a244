#include "conduits/udp/tests/simulated_path.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <tuple>

// Fixed seeds and virtual time: each test gives the same numbers on every machine.
namespace aqueduct::conduits::udp {
namespace {

using connection_tests::FlowShape;
using connection_tests::PathShape;
using connection_tests::SimulatedPath;
using Flow = SimulatedPath::Flow;

constexpr double kLink = 125e6;  // 1 Gb/s

PathShape shape_of(Time delay, std::uint64_t queue, double loss) {
  PathShape shape;
  shape.rate = kLink;
  shape.delay = delay;
  shape.queue = queue;
  shape.loss = loss;
  return shape;
}

FlowShape flow_of(Time starts, std::uint64_t seed) {
  FlowShape shape;
  shape.starts = starts;
  shape.seed = seed;
  return shape;
}

// Runs the path for a while; returns the share of the link's bandwidth that one flow gets.
double share(SimulatedPath& path, const Flow& flow, Time length) {
  const std::uint64_t before = flow.delivered;
  path.run_until(path.now() + length);
  return static_cast<double>(flow.delivered - before) * 1e9 / static_cast<double>(length) / path.shape().rate;
}

TEST(UdpCongestionSimulation, OneFlowFillsThePath) {
  struct Case {
    Time delay;
    std::uint64_t queue;
    double loss, least;
  };
  const Case cases[] = {
      {kMillisecond, 1'000'000, 0, 0.95},        {kMillisecond, 1'000'000, 0.01, 0.95},
      {kMillisecond, 1'000'000, 0.03, 0.92},     {kMillisecond, 1'000'000, 0.1, 0.8},
      {kMillisecond, 60'000, 0, 0.95},           {kMillisecond, 60'000, 0.01, 0.93},
      {50 * kMicrosecond, 1'000'000, 0, 0.95},   {50 * kMicrosecond, 60'000, 0.01, 0.93},
      {20 * kMillisecond, 1'000'000, 0.01, 0.9},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(::testing::Message() << c.delay << " ns, queue " << c.queue << ", loss " << c.loss);
    SimulatedPath path(shape_of(c.delay, c.queue, c.loss));
    const Flow& flow = path.add(flow_of(0, 1));
    path.run_until(300 * kMillisecond);  // startup, and draining the queue that it built
    EXPECT_GE(share(path, flow, kSecond), c.least);
    EXPECT_EQ(std::string(flow.congestion.phase()), "steady");
    EXPECT_NEAR(flow.congestion.bandwidth() / kLink, 1, 0.06);
  }
}

TEST(UdpCongestionSimulation, TheQueueStaysShort) {
  SimulatedPath path(shape_of(kMillisecond, 10'000'000, 0));
  path.add(flow_of(0, 1));
  path.run_until(kSecond);
  EXPECT_LT(path.longest_queue(), 1'000'000U);  // startup: 8 ms
  path.forget_longest_queue();
  path.run_until(3 * kSecond);
  EXPECT_LT(path.longest_queue(), 200'000U);  // 1.6 ms; one burst is a third of it
}

TEST(UdpCongestionSimulation, StartupTakesFewRounds) {
  SimulatedPath path(shape_of(20 * kMillisecond, 10'000'000, 0));
  const Flow& flow = path.add(flow_of(0, 1));
  path.run_until(16 * 20 * kMillisecond);  // from 10 packets to 1700 in flight
  EXPECT_GE(share(path, flow, 500 * kMillisecond), 0.9);
}

class TwoFlows : public ::testing::TestWithParam<std::tuple<std::uint64_t, std::uint64_t>> {};

TEST_P(TwoFlows, ShareAlike) {
  const auto [queue, seed] = GetParam();
  SimulatedPath path(shape_of(kMillisecond, queue, 0), seed);
  const Flow& first = path.add(flow_of(0, seed));
  const Flow& second = path.add(flow_of(kSecond, seed + 10));
  path.run_until(3 * kSecond);
  const std::uint64_t before = second.delivered;
  const double of_first = share(path, first, 4 * kSecond);
  const double of_second = static_cast<double>(second.delivered - before) / 4 / kLink;
  EXPECT_GT(of_first, 0.35);
  EXPECT_LT(of_first, 0.65);
  EXPECT_GT(of_second, 0.35);
  EXPECT_LT(of_second, 0.65);
  EXPECT_GT(of_first + of_second, 0.93);
  EXPECT_LE(path.longest_queue(), 900'000U);  // both windows, although the queue has more room
}

INSTANTIATE_TEST_SUITE_P(UdpCongestionSimulation, TwoFlows,
                         ::testing::Combine(::testing::Values(60'000, 300'000, 4'000'000),
                                            ::testing::Values(1, 2)));

TEST(UdpCongestionSimulation, NobodyStarves) {
  for (const std::uint64_t queue : {60'000U, 300'000U, 1'000'000U}) {
    SCOPED_TRACE(queue);
    SimulatedPath path(shape_of(kMillisecond, queue, 0), 5);
    std::array<const Flow*, 4> flows{};
    std::array<std::uint64_t, 4> before{};
    for (std::size_t i = 0; i < flows.size(); ++i)
      flows[i] = &path.add(flow_of(static_cast<Time>(i) * 500 * kMillisecond, 50 + i));
    path.run_until(3 * kSecond);
    std::uint64_t lost_before = 0, lost = 0;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      before[i] = flows[i]->delivered;
      lost_before += flows[i]->lost;
    }
    path.run_until(6 * kSecond);
    double sum = 0;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      const double of_this = static_cast<double>(flows[i]->delivered - before[i]) / 3 / kLink;
      EXPECT_GT(of_this, queue < 100'000 ? 0.05 : 0.15) << "flow " << i;
      sum += of_this;
      lost += flows[i]->lost;
    }
    EXPECT_GT(sum, 0.93);
    // Loss would be higher if each flow mistook the others' queue for path delay and widened its window.
    if (queue >= 300'000) {
      EXPECT_LT(static_cast<double>(lost - lost_before), 0.03 * 3 * kLink);
    }
  }
}

TEST(UdpCongestionSimulation, AFlowTakesWhatAnotherLeaves) {
  SimulatedPath path(shape_of(kMillisecond, 1'000'000, 0));
  Flow& first = path.add(flow_of(0, 1));
  const Flow& second = path.add(flow_of(0, 2));
  path.run_until(2 * kSecond);
  first.budget = 0;
  path.run_until(path.now() + 500 * kMillisecond);
  EXPECT_GE(share(path, second, kSecond), 0.93);
}

TEST(UdpCongestionSimulation, AdaptsToARateThatFallsAndRises) {
  for (const std::uint64_t queue : {60'000U, 300'000U, 1'000'000U}) {
    SCOPED_TRACE(queue);
    SimulatedPath path(shape_of(kMillisecond, queue, 0));
    const Flow& flow = path.add(flow_of(0, 3));
    path.run_until(kSecond);
    path.shape().rate = kLink / 4;
    path.run_until(2 * kSecond);
    EXPECT_NEAR(flow.congestion.bandwidth() / path.shape().rate, 1, 0.1);
    path.forget_longest_queue();
    EXPECT_GE(share(path, flow, kSecond), 0.9);
    EXPECT_LE(path.longest_queue(),
              std::min<std::uint64_t>(queue, 160'000));  // the window, 2 x 31 KB + 3 x 31 KB
    path.shape().rate = kLink;
    path.run_until(4 * kSecond);
    EXPECT_GE(share(path, flow, kSecond), 0.93);
  }
}

TEST(UdpCongestionSimulation, HavingLittleToSendDoesNotLowerTheEstimate) {
  SimulatedPath path(shape_of(kMillisecond, 1'000'000, 0));
  Flow& flow = path.add(flow_of(0, 1));
  path.run_until(kSecond);
  const double known = flow.congestion.bandwidth();
  flow.budget = 0;
  for (int i = 0; i < 2000; ++i) {  // some packets every 2 ms: 6 % of the link
    path.run_until(path.now() + 2 * kMillisecond);
    path.give(flow, 10 * flow.shape.packet);
  }
  EXPECT_GE(flow.congestion.bandwidth(), 0.9 * known);
  path.give(flow, UINT64_MAX / 2);
  EXPECT_GE(share(path, flow, kSecond), 0.9);
}

TEST(UdpCongestionSimulation, ASilentPathDoesNotCostTheRate) {
  SimulatedPath path(shape_of(kMillisecond, 1'000'000, 0));
  const Flow& flow = path.add(flow_of(0, 1));
  path.run_until(kSecond);
  path.shape().loss = 1;
  const std::uint64_t lost = flow.lost;
  path.run_until(2 * kSecond);
  EXPECT_GE(flow.timeouts, 3U);
  // During the silence the flow sends few packets, and rarely.
  EXPECT_EQ(flow.congestion.window(), 4 * flow.shape.packet);
  EXPECT_LT(flow.lost - lost, 1'000'000U);
  path.shape().loss = 0;
  const std::uint64_t timeouts = flow.timeouts;
  path.run_until(4 * kSecond);
  EXPECT_LE(flow.timeouts, timeouts + 1);
  EXPECT_GE(share(path, flow, kSecond), 0.93);
}

// A single flow measures the true delay each time it drains. With two flows, each must reduce its window to measure it.
TEST(UdpCongestionSimulation, LooksForTheDelayAndGoesOn) {
  SimulatedPath path(shape_of(kMillisecond, 1'000'000, 0));
  path.add(flow_of(0, 1));
  const Flow& flow = path.add(flow_of(100 * kMillisecond, 2));
  const auto looks = [&] { return std::string(flow.congestion.phase()) == "probe-rtt"; };
  while (!looks() && path.now() < 5 * kSecond) path.run_until(path.now() + kMillisecond);
  ASSERT_TRUE(looks());
  EXPECT_EQ(flow.congestion.window(), 4 * flow.shape.packet);
  path.run_until(path.now() + 50 * kMillisecond);
  EXPECT_EQ(std::string(flow.congestion.phase()), "steady");
  EXPECT_GE(share(path, flow, 500 * kMillisecond), 0.35);
}

TEST(UdpCongestionSimulation, FastPathsAreNotStoppedForTheDelay) {
  PathShape shape = shape_of(20 * kMicrosecond, 1'000'000, 0);
  SimulatedPath path(shape);
  const Flow& flow = path.add(flow_of(0, 1));
  for (int i = 0; i < 1500; ++i) {
    path.run_until(path.now() + kMillisecond);
    ASSERT_NE(std::string(flow.congestion.phase()), "probe-rtt") << i;
  }
  EXPECT_GE(share(path, flow, 100 * kMillisecond), 0.95);
}

}  // namespace
}  // namespace aqueduct::conduits::udp
