// What must hold on every network that has a name, also where messages share links and are cut into packets. `aqsim curves` has the
// same of one without links, for more sizes.

#include "tools/aqsim/run.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace aqueduct::aqsim {
namespace {

/// The microseconds of each algorithm that can do it, by size.
std::map<std::string, std::map<std::uint64_t, double>> times_on(const std::string& network,
                                                                const std::string& operation, Rank ranks,
                                                                std::vector<std::uint64_t> sizes) {
  Options options;
  options.operation = operation;
  options.network = network;
  options.algorithm = "all";
  options.ranks = {ranks};
  options.bytes = std::move(sizes);
  options.in = options.out = coll::Sync::mine;
  options.json = true;
  testing::internal::CaptureStdout();
  EXPECT_EQ(run(options), 0);
  std::fflush(stdout);
  std::istringstream text(testing::internal::GetCapturedStdout());
  std::map<std::string, std::map<std::uint64_t, double>> out;
  for (std::string line; std::getline(text, line);) {
    const nlohmann::json row = nlohmann::json::parse(line);
    out[row.at("algorithm")][row.at("bytes")] = row.at("virtual_us");
  }
  return out;
}

double fastest_on(const std::string& network, const std::string& operation, Rank ranks, std::uint64_t bytes) {
  double best = 1e300;
  for (const auto& [name, times] : times_on(network, operation, ranks, {bytes}))
    best = std::min(best, times.at(bytes));
  return best;
}

constexpr const char* kNetworks[] = {"ideal", "two-level", "crossbar",         "fat-tree",
                                     "torus", "dragonfly", "dragonfly-valiant"};

TEST(AqsimGuidelines, NoAlgorithmIsFasterForMoreBytesWhateverTheNetwork) {
  for (const char* const network : kNetworks) {
    for (const char* const operation : {"broadcast", "all_gather", "reduce", "all_reduce", "all_to_all"}) {
      // Messages of more than four packets of 16 KiB are cut. A little above that size an algorithm may gain, as messages that
      // share a link then take turns on it.
      const auto all = times_on(network, operation, 20, {8, 4096, 32768, 131072, 524288});
      EXPECT_GE(all.size(), 3u);
      for (const auto& [name, times] : all) {
        double before = 0;
        for (const auto& [bytes, us] : times) {
          EXPECT_GE(us, before) << name << " of " << operation << " on " << network << ", " << bytes << " B";
          before = us;
        }
      }
    }
  }
}

TEST(AqsimGuidelines, AnAllReduceTakesAtMostAReduceAndABroadcastWhateverTheNetwork) {
  for (const char* const network : kNetworks) {
    for (const Rank ranks : {5U, 16U, 33U}) {
      for (const std::uint64_t bytes : {8U, 65536U}) {
        EXPECT_LE(
            fastest_on(network, "all_reduce", ranks, bytes),
            fastest_on(network, "reduce", ranks, bytes) + fastest_on(network, "broadcast", ranks, bytes))
            << network << ", " << ranks << " ranks, " << bytes << " B";
      }
    }
  }
}

}  // namespace
}  // namespace aqueduct::aqsim
