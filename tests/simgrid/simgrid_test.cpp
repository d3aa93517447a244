// The replay and the links of the simulator beside SimGrid, which is another program by other people.

#include "coll/algorithms/algorithms.hpp"
#include "sim/simulate.hpp"
#include "tests/simgrid/simgrid_times.hpp"

#include <gtest/gtest.h>

namespace aqueduct::simgrid_tests {
namespace {

coll::Shape shape_of(const coll::Algorithm& algorithm, Rank ranks, std::uint64_t bytes) {
  coll::Shape shape;
  shape.operation = algorithm.operation;
  shape.in = shape.out = coll::Sync::none;
  shape.addresses = coll::Addresses::single;
  shape.ranks = ranks;
  shape.bytes = shape.pitch = algorithm.operation == coll::Operation::barrier ? 0 : bytes;
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i)
    shape.parameters[i] = algorithm.parameters[i].name == "segments" ? 1 : algorithm.parameters[i].usual;
  return shape;
}

coll::Picoseconds ps(double us) { return static_cast<coll::Picoseconds>(us * 1e6 + 0.5); }

/// The same network in our terms.
sim::Network network_of(const Platform& platform, Rank ranks) {
  sim::Network network;
  coll::LogGP& link = network.machine.levels.front().link;
  link = {.latency = ps(platform.latency_us),
          .overhead = ps(platform.overhead_us),
          .gap = 0,
          .femtoseconds_per_byte = ps(platform.ns_per_byte)};
  if (platform.torus.empty() && platform.ports == 0) return network;
  link.latency = 1;  // all latency is that of the links
  network.of_switches = {
      .hop = ps(platform.latency_us), .gap = 0, .femtoseconds_per_byte = ps(platform.ns_per_byte)};
  if (platform.ports == 0) {
    network.topology = sim::make_torus({platform.torus.begin(), platform.torus.end()});
    network.of_hosts = {.hop = 0, .gap = 0, .femtoseconds_per_byte = 0};
  } else {
    network.topology = sim::make_fat_tree({.ports = platform.ports, .tiers = 2});
    network.of_hosts = network.of_switches;
  }
  network.packet = 1024;
  for (Rank rank = 0; rank < ranks; ++rank) network.places.push_back(rank);
  return network;
}

/// Ours over SimGrid's.
double ratio(const coll::Algorithm& algorithm, Rank ranks, std::uint64_t bytes, const Platform& platform) {
  const coll::Shape shape = shape_of(algorithm, ranks, bytes);
  sim::Job job;
  job.algorithm = &algorithm;
  job.shape = shape;
  job.one_by_one = true;
  const double ours =
      static_cast<double>(sim::simulate(job, network_of(platform, ranks)).replayed.time) / 1e6;
  const double theirs = simgrid_us(algorithm, shape, platform);
  EXPECT_GT(theirs, 0) << algorithm.name;
  const double out = ours / theirs;
  testing::Test::RecordProperty(std::string(algorithm.name) + std::to_string(bytes), std::to_string(out));
  std::printf("%-20s %4u ranks %7lu bytes: ours %12.3f us, SimGrid %12.3f us, ratio %.4f\n",
              std::string(algorithm.name).c_str(), ranks, static_cast<unsigned long>(bytes), ours, theirs,
              out);
  return out;
}

// One message at a time on every link: nothing is shared, and both must say L + n G for each hop.
TEST(SimGrid, AgreesWhereNoLinkIsShared) {
  const Platform platform{.latency_us = 1.5, .overhead_us = 0.25, .ns_per_byte = 0.08};
  for (const Rank ranks : {2U, 5U, 16U, 33U}) {
    EXPECT_NEAR(ratio(coll::kBarrierDissemination, ranks, 0, platform), 1,
                1e-4);  // its messages have a byte there
    for (const std::uint64_t bytes : {1U, 1000U, 100'000U}) {
      EXPECT_NEAR(ratio(coll::kAllGatherRing, ranks, bytes, platform), 1, 1e-3);
      EXPECT_NEAR(ratio(coll::kAllGatherBruck, ranks, bytes, platform), 1, 1e-3);
    }
  }
}

// Several messages of a member share its link: one after the other here, all at once there. The last one is there at the same time.
TEST(SimGrid, AgreesOnTheLastOfMessagesThatShareALink) {
  const Platform platform{.latency_us = 1.5, .overhead_us = 0, .ns_per_byte = 0.08};
  for (const Rank ranks : {5U, 16U, 32U}) {
    EXPECT_NEAR(ratio(coll::kAllToAllDirect, ranks, 100'000, platform), 1, 0.02);
    EXPECT_NEAR(ratio(coll::kBroadcastFlat, ranks, 100'000, platform), 1, 0.02);
    EXPECT_NEAR(ratio(coll::kGatherDirect, ranks, 100'000, platform), 1, 0.02);
  }
}

// Links that messages of several members share: one after the other in packets here, all at once there.
TEST(SimGrid, AgreesOnATorus) {
  const Platform ring{.latency_us = 0.5, .overhead_us = 0.1, .ns_per_byte = 0.1, .torus = {8}};
  EXPECT_NEAR(ratio(coll::kAllGatherRing, 8, 100'000, ring), 1, 0.001);
  EXPECT_NEAR(ratio(coll::kAllGatherBruck, 8, 100'000, ring), 1, 0.02);
  const Platform cube{.latency_us = 0.5, .overhead_us = 0.1, .ns_per_byte = 0.1, .torus = {4, 4, 4}};
  EXPECT_NEAR(ratio(coll::kBarrierDissemination, 64, 0, cube), 1, 0.001);
  EXPECT_NEAR(ratio(coll::kAllGatherRing, 64, 10'000, cube), 1, 0.001);
  EXPECT_NEAR(ratio(coll::kAllGatherDoubling, 64, 10'000, cube), 1, 0.1);
  EXPECT_NEAR(ratio(coll::kAllGatherCirculant, 64, 10'000, cube), 1, 0.1);
  EXPECT_NEAR(ratio(coll::kAllToAllPairwise, 64, 10'000, cube), 1, 0.2);
  // Not all messages at once: SimGrid's hosts have six links to send over, ours one port.
  const Platform large{.latency_us = 0.5, .overhead_us = 0.1, .ns_per_byte = 0.1, .torus = {8, 8, 8}};
  EXPECT_NEAR(ratio(coll::kBarrierDissemination, 512, 0, large), 1, 0.001);
}

TEST(SimGrid, AgreesOnAFatTree) {
  const Platform tree{.latency_us = 0.5, .overhead_us = 0.1, .ns_per_byte = 0.1, .ports = 8};
  EXPECT_NEAR(ratio(coll::kBarrierDissemination, 32, 0, tree), 1, 0.001);
  EXPECT_NEAR(ratio(coll::kAllGatherRing, 32, 100'000, tree), 1, 0.001);
  EXPECT_NEAR(ratio(coll::kAllGatherBruck, 32, 10'000, tree), 1, 0.1);
  EXPECT_NEAR(ratio(coll::kGatherDirect, 32, 100'000, tree), 1, 0.02);
  EXPECT_NEAR(ratio(coll::kAllToAllPairwise, 32, 100'000, tree), 1, 0.2);
  EXPECT_NEAR(ratio(coll::kAllToAllDirect, 32, 100'000, tree), 1, 0.2);
}

}  // namespace
}  // namespace aqueduct::simgrid_tests
