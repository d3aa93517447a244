// Network files: what they say, what is wrong with them, and the networks that have names.

#include "sim/network.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace aqueduct::sim {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// What is wrong with a network, as text.
template <class Call>
std::string problem_of_network(const Call& call) {
  try {
    call();
  } catch (const BadInput& problem) {
    return problem.what();
  }
  return "nothing was wrong";
}

TEST(Network, ReadsAllThatAFileCanSay) {
  const Network network = parse_network(R"({
    "version": 1, "name": "ours",
    "levels": [{"ranks": 2, "latency_us": 0.2, "overhead_us": 0.01, "gap_us": 0, "ns_per_byte": 0.05},
               {"latency_us": 1.5, "overhead_us": 0.25, "gap_us": 0.5, "ns_per_byte": 0.0805}],
    "cores": 1, "turn_us": 2.5, "copy_ns_per_byte": 0.1, "reduce_ns_per_byte": 0.2, "strided": "pieces", "ranks_per_host": 2,
    "topology": {"kind": "torus", "sizes": [2, 2]}, "placement": [3, 3, 0, 0],
    "link": {"hop_us": 0.1, "gap_us": 0.01, "ns_per_byte": 0.08}, "host_link": {"ns_per_byte": 0.04}, "packet": 4096})",
                                        "file", 4);
  EXPECT_EQ(network.name, "ours");
  ASSERT_EQ(network.machine.levels.size(), 2u);
  EXPECT_EQ(network.machine.between(0, 1, 0), (coll::LogGP{200'000, 10'000, 0, 50'000}));
  EXPECT_EQ(network.machine.between(1, 2, 0), (coll::LogGP{1'500'000, 250'000, 500'000, 80'500}));
  EXPECT_EQ(network.machine.strided, coll::Strided::pieces);
  EXPECT_EQ(network.machine.host, 2u);
  EXPECT_EQ(network.machine.cores, 1u);
  EXPECT_EQ(network.machine.turn, 2'500'000u);
  EXPECT_EQ(network.places, (std::vector<Host>{3, 3, 0, 0}));
  EXPECT_EQ(network.of_switches, (LinkSpeed{100'000, 10'000, 80'000}));
  EXPECT_EQ(network.of_hosts, (LinkSpeed{100'000, 10'000, 40'000}));
  EXPECT_EQ(network.packet, 4096u);
}

// The last level need not say how many ranks it joins, whatever the levels inside it have.
TEST(Network, HasALastLevelOfAllRanks) {
  for (const Rank host : {1U, 2U, 3U, 6U, 12U, 24U, 48U, 1000U}) {
    const std::string text = fmt::format(
        R"({{"version": 1, "levels": [{{"ranks": {0}, "latency_us": 0.2}}, {{"latency_us": 2}}], "ranks_per_host": {0}}})",
        host);
    const Network network = parse_network(text, "test", 96);
    EXPECT_EQ(network.machine.between(0, host - 1, 8).latency, 200'000u);
    EXPECT_EQ(network.machine.between(host - 1, host, 8).latency, 2'000'000u);
    EXPECT_EQ(network.machine.between(0, (1U << 28) - 1, 8).latency, 2'000'000u);
    const Network linked = parse_network(
        fmt::format(
            R"({{"version": 1, "levels": [{{"ranks": {0}}}, {{}}], "ranks_per_host": {0}, "topology": {{"kind": "fat-tree", "ports": 8}}}})",
            host),
        "test", 96);
    EXPECT_EQ(linked.machine.host, std::min<Rank>(host, 96));
  }
}

TEST(Network, HasCostsForLongerMessages) {
  const Network network = parse_network(
      R"({"version": 1, "levels": [{"latency_us": 2, "overhead_us": 0.5, "gap_us": 0, "ns_per_byte": 0.1,
          "longer": [{"bytes": 1024, "latency_us": 3}, {"bytes": 65536, "overhead_us": 4}]}]})",
      "file", 4);
  EXPECT_EQ(network.machine.between(0, 3, 1023), (coll::LogGP{2'000'000, 500'000, 0, 100'000}));
  EXPECT_EQ(network.machine.between(0, 3, 1024), (coll::LogGP{3'000'000, 500'000, 0, 100'000}));
  EXPECT_EQ(network.machine.between(0, 3, 65536), (coll::LogGP{2'000'000, 4'000'000, 0, 100'000}));
}

TEST(Network, PlacesRanks) {
  const auto places = [](const std::string& placement) {
    return parse_network(
               R"({"version": 1, "levels": [{}], "topology": {"kind": "crossbar", "hosts": 4}, "ranks_per_host": 2, "placement": )" +
                   placement + "}",
               "file", 6)
        .places;
  };
  EXPECT_EQ(places("\"block\""), (std::vector<Host>{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(places("\"round-robin\""), (std::vector<Host>{0, 1, 2, 0, 1, 2}));
  const auto random = places(R"({"random": 7})");
  EXPECT_EQ(random, places(R"({"random": 7})"));
  EXPECT_EQ(random[0], random[1]);
  EXPECT_NE(random[0], random[2]);
}

TEST(Network, SaysWhatIsWrongWithAFile) {
  const auto says = [](const std::string& text) {
    return problem_of_network([&] { parse_network(text, "net.json", 8); });
  };
  EXPECT_THAT(says("{"), AllOf(HasSubstr("net.json"), HasSubstr("no JSON")));
  EXPECT_THAT(says(R"({"version": 1, "levels": [{"latency_us": 1e999}]})"),
              AllOf(HasSubstr("net.json"), HasSubstr("1e999")));
  EXPECT_THAT(says("[]"), HasSubstr("an object is expected"));
  EXPECT_THAT(says(R"({"levels": [{}]})"), HasSubstr("'version' is missing"));
  EXPECT_THAT(says(R"({"version": 2, "levels": [{}]})"),
              AllOf(HasSubstr("has version 2"), HasSubstr("up to 1"), HasSubstr("newer aqsim")));
  EXPECT_THAT(says(R"({"version": "1", "levels": [{}]})"), HasSubstr("whole number"));
  EXPECT_THAT(says(R"({"version": 1, "levels": []})"), HasSubstr("at least one"));
  EXPECT_THAT(says(R"({"version": 1, "levels": [{"latncy_us": 1}]})"),
              AllOf(HasSubstr("levels[0]"), HasSubstr("no 'latncy_us'"), HasSubstr("latency_us")));
  EXPECT_THAT(says(R"({"version": 1, "levels": [{"latency_us": -1}]})"), HasSubstr("a number from 0"));
  EXPECT_THAT(says(R"({"version": 1, "levels": [{"latency_us": 0}]})"), HasSubstr("at least a picosecond"));
  EXPECT_THAT(says(R"({"version": 1, "levels": [{"ranks": 4}, {"ranks": 6}]})"),
              HasSubstr("a multiple of 4"));
  EXPECT_THAT(says(R"({"version": 1, "levels": [{"longer": [{"bytes": 9}, {"bytes": 9}]}]})"),
              AllOf(HasSubstr("longer[1]"), HasSubstr("rising")));
  EXPECT_THAT(
      says(R"({"version": 1, "levels": [{"longer": [{"bytes": 9}]}], "topology": {"kind": "crossbar"}})"),
      HasSubstr("no level may have 'longer' ones"));
  EXPECT_THAT(says(R"({"version": 1, "levels": [{}], "topology": "torus of 3"})"),
              AllOf(HasSubstr("topology"), HasSubstr("an object is expected")));
  EXPECT_THAT(says(R"({"version": 1, "levels": [{}], "topology": {"kind": "hypercube"}})"),
              HasSubstr("'hypercube'"));
  EXPECT_THAT(says(R"({"version": 1, "levels": [{}], "topology": {"kind": "torus", "sizes": [2, 2]}})"),
              AllOf(HasSubstr("need 8 hosts"), HasSubstr("has 4 (torus of 2 x 2)")));
  EXPECT_THAT(says(R"({"version": 1, "levels": [{}], "topology": {"kind": "torus", "sizes": [2, "a"]}})"),
              HasSubstr("whole numbers"));
  EXPECT_THAT(says(R"({"version": 1, "levels": [{}], "topology": {"kind": "fat-tree", "ports": 3}})"),
              HasSubstr("even number of ports"));
  EXPECT_THAT(
      says(R"({"version": 1, "levels": [{}], "topology": {"kind": "crossbar"}, "placement": [0, 1]})"),
      HasSubstr("lists 2 hosts"));
  EXPECT_THAT(
      says(
          R"({"version": 1, "levels": [{}], "topology": {"kind": "crossbar"}, "placement": [0, 1, 2, 3, 4, 5, 6, 8]})"),
      HasSubstr("has 8 for rank 7"));
  EXPECT_THAT(says(R"({"version": 1, "levels": [{}], "placement": "block"})"),
              HasSubstr("without a topology"));
  EXPECT_THAT(problem_of_network([] { load_network("/dev/zero", 4); }),
              HasSubstr("has more than 4194304 bytes"));
  EXPECT_THAT(problem_of_network([] { load_network("/", 4); }), HasSubstr("is a folder"));
  EXPECT_THAT(problem_of_network([] { load_network("nonesuch", 4); }),
              AllOf(HasSubstr("no network 'nonesuch'"), HasSubstr("torus")));
}

TEST(Network, HasEachNameForTeamsOfAnySize) {
  for (const BuiltIn& one : built_in_networks()) {
    for (const Rank ranks : {1U, 2U, 17U, 1000U, 32768U}) {
      const Network network = load_network(std::string(one.name), ranks);
      if (network.topology) {
        EXPECT_GE(network.topology->hosts(), ranks) << one.name;
        EXPECT_LE(network.topology->hosts(), std::max(2 * 648U, 20 * ranks)) << one.name;
      }
    }
  }
}

TEST(Network, MakesTheSizesThatAFileLeavesOutFit) {
  const auto hosts_of = [](const std::string& topology, Rank ranks) {
    return parse_network(R"({"version": 1, "levels": [{}], "topology": )" + topology + "}", "test", ranks)
        .topology->hosts();
  };
  for (const char* const topology :
       {R"({"kind": "crossbar"})", R"({"kind": "fat-tree"})", R"({"kind": "fat-tree", "ports": 4})",
        R"({"kind": "fat-tree", "tiers": 1})", R"({"kind": "fat-tree", "tiers": 2})", R"({"kind": "torus"})",
        R"({"kind": "torus", "dimensions": 5})", R"({"kind": "dragonfly"})",
        R"({"kind": "dragonfly", "hosts": 1})", R"({"kind": "dragonfly", "routers": 4})",
        R"({"kind": "dragonfly", "globals": 1})", R"({"kind": "dragonfly", "groups": 9})",
        R"({"kind": "dragonfly", "hosts": 1, "routers": 2})"}) {
    for (const Rank ranks : {1U, 2U, 5U, 64U, 100U, 3000U}) {
      SCOPED_TRACE(testing::Message() << topology << ", " << ranks << " ranks");
      EXPECT_GE(hosts_of(topology, ranks), ranks);
    }
  }
  EXPECT_EQ(hosts_of(R"({"kind": "fat-tree", "tiers": 1})", 64), 64u);  // one switch of 64 ports
  EXPECT_EQ(hosts_of(R"({"kind": "dragonfly"})", 64), 64u);             // 8 groups of 4 routers of 2 hosts
}

}  // namespace
}  // namespace aqueduct::sim
