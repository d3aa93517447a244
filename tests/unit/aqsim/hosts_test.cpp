// Ranks that share hosts: by which option, at which costs, and what the library chooses for them.

#include "coll/algorithms/algorithms.hpp"
#include "coll/tune/table.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/unit/aqsim/hosts.hpp"
#include "tests/unit/aqsim/simulated.hpp"
#include "tools/aqsim/run.hpp"
#include "tools/aqsim/team.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace aqueduct::aqsim {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kByHosts[] = {"barrier", "broadcast", "all_gather", "reduce", "all_reduce"};

/// Inside a host a message costs a tenth of what it costs between hosts.
constexpr const char* kTenTimes = R"({"version": 1, "name": "ten times", "levels": [
    {"ranks": 4, "latency_us": 0.1, "overhead_us": 0.03, "gap_us": 0.01, "ns_per_byte": 0.01},
    {"latency_us": 1, "overhead_us": 0.3, "gap_us": 0.1, "ns_per_byte": 0.1}]})";

TEST(AqsimHosts, AreAListOrANumber) {
  Options options;
  read_hosts("8,8,3", options);
  EXPECT_THAT(options.hosts.sizes, ElementsAre(8, 8, 3));
  EXPECT_THAT(options.ranks, ElementsAre(19)) << "as many as the hosts have, unless --ranks says so too";
  read_hosts("2x4,1", options);
  EXPECT_THAT(options.hosts.sizes, ElementsAre(4, 4, 1));
  Options number;
  number.ranks_per_host = 8;
  EXPECT_THAT(hosts_for(number, 20).sizes, ElementsAre(8, 8, 4));
  EXPECT_THAT(hosts_for(number, 3).sizes, ElementsAre(3));
  EXPECT_FALSE(hosts_for({}, 3).given());
}

TEST(AqsimHosts, SayWhatIsWrong) {
  Options options;
  for (const char* const bad : {"", "8,", ",8", "0", "8,0", "0x8", "8x0", "x8", "8x", "2x2x2", "8 ,8", "-1",
                                "a", "1K", "536870912", "99999999999999999999"}) {
    EXPECT_THAT(refusal_of([&] { read_hosts(bad, options); }),
                AllOf(StartsWith(fmt::format("--hosts {}: ", bad)), HasSubstr("1 to 268435456"),
                      HasSubstr("such as 64x8")))
        << bad;
  }
  EXPECT_THAT(
      refusal_of([&] { read_hosts("268435456,1", options); }),
      AllOf(HasSubstr("--hosts 268435456,1"), HasSubstr("268435456 ranks in all"), HasSubstr("fewer")));
  options = hosts_options("barrier", "8,8,3");
  options.ranks = {20};
  EXPECT_THAT(refusal_of([&] { run(options); }),
              AllOf(HasSubstr("--hosts 8,8,3"), HasSubstr("have 19 ranks"), HasSubstr("--ranks says 20"),
                    HasSubstr("give --ranks 19")));
  // Nothing tells such hosts from one another.
  options = hosts_options("barrier", "");
  options.ranks_per_host = 8;
  options.network = "ideal";
  EXPECT_THAT(
      refusal_of([&] { run(options); }),
      AllOf(HasSubstr("--ranks-per-host 8"), HasSubstr("'ideal' has no level for the ranks of a host"),
            HasSubstr("'levels'"), HasSubstr("--network two-level")));
  options.ranks = {8};
  EXPECT_EQ(refusal_of([&] { hosts_line(options); }), "nothing was wrong") << "one host needs one level";
  EXPECT_THAT(refusal_of([&] { run(hosts_options("barrier", "8", "hosts")); }),
              AllOf(HasSubstr("on one host, or each on its own"), HasSubstr("--ranks-per-host N")));
  EXPECT_THAT(refusal_of([&] { run(hosts_options("all_reduce", "3x8", "hosts:2")); }),
              HasSubstr("the number of hosts is no power of the radix"));
  // The placement of the file contradicts the option.
  const auto with_placement = [](const std::string& placement, const std::string& hosts) {
    const std::string file =
        R"({"version": 1, "levels": [{}], "topology": {"kind": "crossbar"}, "placement": )" + placement + "}";
    sim::parse_network(file, "net.json", 4, hosts_options("barrier", hosts).hosts);
  };
  EXPECT_THAT(refusal_of([&] { with_placement("[0, 1, 0, 1]", "2,2"); }),
              AllOf(HasSubstr("net.json: 'placement'"), HasSubstr("--hosts 2,2"), HasSubstr("leave one")));
  EXPECT_THAT(refusal_of([&] { with_placement("\"round-robin\"", "1,3"); }), HasSubstr("--hosts 1,3"));
  EXPECT_EQ(refusal_of([&] { with_placement("\"round-robin\"", "2,2"); }), "nothing was wrong");
}

TEST(AqsimHosts, AreThoseOfTheLevels) {
  const auto cost = [](const std::string& hosts, Rank a, Rank b) {
    const Options options = hosts_options("barrier", hosts);
    const sim::Network network = sim::parse_network(kTenTimes, "ten", options.ranks[0], options.hosts);
    return network.machine.between(a, b, 0).latency;
  };
  constexpr coll::Picoseconds kInside = 100'000;
  constexpr coll::Picoseconds kBetween = 1'000'000;
  // Hosts of the level's size, larger ones, smaller ones, and of different sizes.
  for (const std::string hosts : {"4,4", "6,6", "2,2,2", "3,1,5"}) {
    const std::vector<sim::Host> host_of = hosts_options("barrier", hosts).hosts.host_of();
    for (Rank a = 0; a < host_of.size(); ++a) {
      for (Rank b = 0; b < host_of.size(); ++b) {
        if (a == b) continue;
        EXPECT_EQ(cost(hosts, a, b), host_of[a] == host_of[b] ? kInside : kBetween)
            << hosts << ": " << a << ", " << b;
      }
    }
  }
}

TEST(AqsimHosts, KeepTheLevelsInsideAndAround) {
  // Pairs of cores, hosts of 4, racks of 2 hosts, all.
  constexpr const char* kFour = R"({"version": 1, "ranks_per_host": 4, "levels": [
      {"ranks": 2, "latency_us": 1}, {"ranks": 4, "latency_us": 2}, {"ranks": 8, "latency_us": 3}, {"latency_us": 4}]})";
  const auto latencies_from = [&](Rank rank, const std::string& hosts) {
    const Options options = hosts_options("barrier", hosts);
    const sim::Network network = sim::parse_network(kFour, "four", options.ranks[0], options.hosts);
    std::vector<coll::Picoseconds> out;
    for (Rank peer = 0; peer < options.ranks[0]; ++peer)
      out.push_back(network.machine.between(rank, peer, 0).latency / 1'000'000);
    return out;
  };
  EXPECT_THAT(latencies_from(0, "4,4,4"), ElementsAre(1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4));
  EXPECT_THAT(latencies_from(1, "5,1,3"), ElementsAre(1, 1, 2, 2, 2, 3, 4, 4, 4));
  EXPECT_THAT(latencies_from(6, "5,1,3"), ElementsAre(4, 4, 4, 4, 4, 4, 1, 1, 2));
}

TEST(AqsimHosts, OfAFileAndItsPlacementCountToo) {
  const auto hosts_of = [](const std::string& placement) {
    const sim::Network network = sim::parse_network(
        R"({"version": 1, "levels": [{"ranks": 2, "latency_us": 0.1}, {}], "ranks_per_host": 2,
            "topology": {"kind": "crossbar"}, "placement": )" +
            placement + "}",
        "net.json", 6);
    EXPECT_EQ(network.machine.between(0, 3, 0).latency, placement == "\"block\"" ? 1'000'000u : 100'000u);
    const SimulatedTeam team(network.machine, 6);
    EXPECT_NE(team.traits().groups, nullptr);
    std::vector<Rank> out;
    for (Rank rank = 0; rank < 6; ++rank) out.push_back(team.traits().groups->group_of(rank));
    return out;
  };
  EXPECT_THAT(hosts_of("\"block\""), ElementsAre(0, 0, 1, 1, 2, 2));
  EXPECT_THAT(hosts_of("\"round-robin\""), ElementsAre(0, 1, 2, 0, 1, 2));
}

TEST(AqsimHosts, AreChosenForAndRunAtLargeScale) {
  for (const char* const operation : kByHosts) {
    for (const char* const hosts : {"64x64", "40x64,1,23x67"}) {
      SCOPED_TRACE(fmt::format("{} on {}", operation, hosts));
      const Options chosen = hosts_options(operation, hosts);
      const nlohmann::json line = hosts_line(chosen);
      EXPECT_THAT(line.at("algorithm").get<std::string>(), StartsWith("hosts"));
      EXPECT_EQ(line.at("hosts"), 64);
      EXPECT_EQ(line.at("ranks"), chosen.ranks[0]);
      const nlohmann::json forced = hosts_line(hosts_options(operation, hosts, "hosts"));
      EXPECT_THAT(forced.at("algorithm").get<std::string>(), StartsWith("hosts"));
      EXPECT_GT(forced.at("virtual_us").get<double>(), 0);
    }
  }
}

TEST(AqsimHosts, SendEachByteToAHostOnce) {
  constexpr std::uint64_t kBytes = 1000;
  for (const char* const hosts : {"8,8,8,8", "8,8,3", "1,5,2"}) {
    SCOPED_TRACE(hosts);
    const auto line_of = [&](const char* operation) {
      Options options = hosts_options(operation, hosts);
      options.bytes = {kBytes};
      options.in = options.out = coll::Sync::none;  // without the signals around the algorithm
      return hosts_line(options);
    };
    const Options options = hosts_options("barrier", hosts);
    const std::uint64_t count = options.hosts.sizes.size();
    const std::uint64_t ranks = options.ranks[0];
    const nlohmann::json gather = line_of("all_gather");
    EXPECT_EQ(gather.at("bytes_between_hosts"), (count - 1) * ranks * kBytes);
    EXPECT_EQ(gather.at("messages_between_hosts"), count * (count - 1));
    EXPECT_EQ(gather.at("messages"), 2 * (ranks - count) + count * (count - 1));
    for (const char* const operation : {"broadcast", "reduce"}) {
      EXPECT_EQ(line_of(operation).at("bytes_between_hosts"), (count - 1) * kBytes) << operation;
      EXPECT_EQ(line_of(operation).at("messages_between_hosts"), count - 1) << operation;
      EXPECT_EQ(line_of(operation).at("messages"), ranks - 1) << operation;
    }
    // One message for each pair of hosts; up and down a tree; a doubling of the hosts.
    const auto between = [&](const char* operation) {
      Options forced = hosts_options(operation, hosts, "hosts");
      forced.bytes = {kBytes};
      forced.in = forced.out = coll::Sync::none;
      const nlohmann::json line = hosts_line(forced);
      return std::pair<std::uint64_t, std::uint64_t>(
          line.at("messages_between_hosts"), line.at("bytes_between_hosts").get<std::uint64_t>() / kBytes);
    };
    std::uint64_t pairs = 0, doubling = 0;
    for (const std::uint32_t size : options.hosts.sizes) pairs += size * (ranks - size);
    for (std::uint64_t distance = 1; distance < count; distance *= 2) doubling += count - distance;
    const std::uint64_t of_others = ranks - options.hosts.sizes[0];
    for (const char* const operation : {"gather", "scatter"}) {
      EXPECT_EQ(between(operation).first, count - 1) << operation;
      EXPECT_EQ(between(operation).second, of_others)
          << operation << ": the usual radix makes no host pass on";
    }
    EXPECT_EQ(between("all_to_all"), std::pair(count * (count - 1), pairs));
    EXPECT_EQ(between("reduce_scatter"), std::pair(count * (count - 1), (count - 1) * ranks));
    EXPECT_EQ(between("scan"), std::pair(doubling, doubling));
    EXPECT_EQ(between("exscan"), std::pair(doubling, doubling));
    // A dissemination of the leaders.
    std::uint64_t rounds = 0;
    while ((std::uint64_t{1} << rounds) < count) ++rounds;
    EXPECT_EQ(line_of("barrier").at("messages_between_hosts"), count * rounds);
    EXPECT_EQ(line_of("barrier").at("messages"), count * rounds + 2 * (ranks - count));
  }
}

TEST(AqsimHosts, AreNotSlowerThanAnAlgorithmThatTakesAllAlike) {
  const support::ScratchFolder folder;
  const std::string file = folder / "ten.json";
  std::ofstream(file) << kTenTimes;
  const auto times_of = [&](const char* operation, std::uint64_t bytes) {
    Options options = hosts_options(operation, "8,8,8,3", "all");
    options.network = file;
    options.bytes = {bytes};
    std::map<std::string, double> times;
    for (const nlohmann::json& line : lines_of(options)) {
      const auto name = line.at("algorithm").get<std::string>();
      times[name.substr(0, name.find(':'))] = line.at("virtual_us").get<double>();
    }
    return times;
  };
  for (const std::uint64_t bytes : {8u, 1024u}) {
    auto gather = times_of("all_gather", bytes);
    EXPECT_LE(gather.at("hosts"), gather.at("ring")) << bytes;
    auto reduce = times_of("all_reduce", bytes);
    EXPECT_LE(reduce.at("hosts"), reduce.at("ring")) << bytes;
    EXPECT_LE(reduce.at("hosts"), reduce.at("multiplying")) << bytes;
  }
  auto barrier = times_of("barrier", 0);
  EXPECT_LE(barrier.at("hosts"), barrier.at("dissemination"));
}

// Over a fast network and one of sockets, each host with a link that its members share.
TEST(AqsimHosts, ShortenShortOperationsInWhichEachMemberHasABlock) {
  const support::ScratchFolder folder;
  for (const auto& [name, far, link] :
       {std::tuple("fast", R"("latency_us": 1.5, "overhead_us": 0.3, "gap_us": 0.1, "ns_per_byte": 0.04)",
                   0.04),
        std::tuple("sockets", R"("latency_us": 15, "overhead_us": 2, "gap_us": 2, "ns_per_byte": 0.8)",
                   0.8)}) {
    const std::string file = folder / name;
    std::ofstream(file) << fmt::format(
        R"({{"version": 1, "levels": [{{"ranks": 4, "latency_us": 0.3, "overhead_us": 0.1, "gap_us": 0.05, "ns_per_byte": 0.1}},
             {{{}}}], "topology": {{"kind": "crossbar"}}, "ranks_per_host": 4, "host_link": {{"hop_us": 0.05, "ns_per_byte": {}}},
             "copy_ns_per_byte": 0.1, "reduce_ns_per_byte": 0.1}})",
        far, link);
    for (const char* const operation :
         {"gather", "scatter", "all_to_all", "reduce_scatter", "scan", "exscan"}) {
      for (const char* const hosts : {"2x4", "4x4", "9x4"}) {
        for (const std::uint64_t bytes : {8u, 64u}) {
          Options options = hosts_options(operation, hosts, "all");
          options.network = file;
          options.bytes = {bytes};
          double by_hosts = 0, best_other = 1e9;
          for (const nlohmann::json& line : lines_of(options)) {
            const double time = line.at("virtual_us").get<double>();
            if (line.at("algorithm").get<std::string>().starts_with("hosts"))
              by_hosts = time;
            else
              best_other = std::min(best_other, time);
          }
          options.algorithm = "auto";
          const nlohmann::json chosen = hosts_line(options);
          EXPECT_THAT(chosen.at("algorithm").get<std::string>(), StartsWith("hosts"));
          EXPECT_GT(by_hosts, 0);
          EXPECT_LT(by_hosts, best_other) << operation << " of " << bytes << " on " << hosts << ", " << name;
        }
      }
    }
  }
}

// What the table takes, beside `hosts` and every other algorithm, where the members of a host share its link.
TEST(AqsimHosts, ChooseForLongBlocksWhatKeepsAllMembersAtWork) {
  const support::ScratchFolder folder;
  const std::string file = folder / "shared.json";
  std::ofstream(file)
      << R"({"version": 1, "levels": [{"ranks": 8, "latency_us": 0.3, "overhead_us": 0.1, "gap_us": 0.05, "ns_per_byte": 0.1},
             {"latency_us": 1.5, "overhead_us": 0.3, "gap_us": 0.1, "ns_per_byte": 0.04}],
             "topology": {"kind": "crossbar"}, "ranks_per_host": 8, "host_link": {"hop_us": 0.05, "ns_per_byte": 0.04},
             "copy_ns_per_byte": 0.1, "reduce_ns_per_byte": 0.1})";
  for (const char* const operation : {"broadcast", "all_gather", "reduce", "all_reduce"}) {
    for (const char* const hosts_of : {"3x8", "4x8", "12x2", "14x8", "20x4"}) {
      Options options = hosts_options(operation, hosts_of);
      options.network = file;
      options.bytes = {64 << 10};
      const double chosen = hosts_line(options).at("virtual_us").get<double>();
      options.algorithm = "all";
      double best = chosen, hosts = 0;
      for (const nlohmann::json& line : lines_of(options)) {
        const double time = line.at("virtual_us").get<double>();
        best = std::min(best, time);
        if (line.at("algorithm").get<std::string>().starts_with("hosts")) hosts = time;
      }
      const bool two_on_each = hosts_of == std::string("12x2");  // the ring does worst there (decision 111)
      EXPECT_LE(chosen, (two_on_each ? 2.1 : 1.6) * best) << operation << ' ' << hosts_of;
      if (hosts > 0) {
        EXPECT_LT(chosen, (two_on_each ? 1.02 : 1) * hosts) << operation << ' ' << hosts_of;
      }
    }
  }
}

TEST(AqsimHosts, ShareLinksBetweenThemAlone) {
  for (const char* const network : {"crossbar", "fat-tree", "torus", "dragonfly"}) {
    Options options = hosts_options("all_gather", "8,8,3");
    options.network = network;
    options.in = options.out = coll::Sync::none;
    const nlohmann::json line = hosts_line(options);
    EXPECT_EQ(line.at("algorithm"), "hosts") << network;
    EXPECT_EQ(line.at("messages_between_hosts"), 6) << network;
    EXPECT_GE(line.at("hops"), 2 * 6) << network << ": only these take links";
    EXPECT_LT(line.at("hops"), 10 * 6) << network;
  }
}

}  // namespace
}  // namespace aqueduct::aqsim
