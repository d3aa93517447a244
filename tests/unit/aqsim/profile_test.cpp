#include "core/network_profile.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tools/aqsim/profile.hpp"
#include "tools/aqsim/run.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::aqsim {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string level_of(int latency_ps) {
  return fmt::format(
      R"({{"injection_depth": 32, "inline_limit": 64, "peak_bytes": 65536, "rendezvous_limit": 0,
           "copy_femtoseconds_per_byte": 71000, "reduce_femtoseconds_per_byte": 120000,
           "costs": [{{"bytes": 0, "latency_ps": {}, "overhead_ps": 2000, "gap_ps": 100, "femtoseconds_per_byte": 300}},
                     {{"bytes": 4096, "latency_ps": 9000, "overhead_ps": 2500, "gap_ps": 90, "femtoseconds_per_byte": 290}}]}})",
      latency_ps);
}
std::string profile_of(const std::string& machine, int version, const std::string& levels) {
  return fmt::format(
      R"({{"format": "aqueduct-network-profile", "version": {}, "machine": "{}", "conduit": "udp", "levels": {{{}}}}})",
      version, machine, levels);
}
std::string refusal_of(const std::string& text) {
  try {
    network_of_profile(text, "ours.json");
  } catch (const sim::BadInput& problem) {
    return problem.what();
  }
  return "nothing was wrong";
}

TEST(AqsimProfile, IsAMachineWithARowForEachSize) {
  const std::string levels = fmt::format(R"("host": {}, "core": {})", level_of(6000), level_of(7500));
  const sim::Network network = network_of_profile(profile_of(core::machine_name(), 1, levels), "ours.json");
  ASSERT_EQ(network.machine.levels.size(), 1u);
  EXPECT_EQ(network.machine.between(0, 1, 4095), (coll::LogGP{6000, 2000, 100, 300}));
  EXPECT_EQ(network.machine.between(0, 1, 4096), (coll::LogGP{9000, 2500, 90, 290}));
  EXPECT_EQ(network.machine.copy_femtoseconds_per_byte, 71000u);
  EXPECT_EQ(network.machine.reduce_femtoseconds_per_byte, 120000u);
  EXPECT_EQ(network.machine.strided, coll::Strided::pieces);
  // A message to a rank on the same processor is seen when that has gone over.
  EXPECT_EQ(network.machine.turn, 7500u);
  EXPECT_EQ(network.machine.receive, 0u) << "an earlier profile does not tell the two apart";
  EXPECT_FALSE(network.machine.shares_cores()) << "unless --cores says so";
}

TEST(AqsimProfile, TellsTurnsOfAProcessorFromWhatReceiversDo) {
  const auto machine_with = [](int turn_ps) {
    std::string core = level_of(7500);
    core.insert(1, fmt::format(R"("turn_ps": {}, )", turn_ps));
    const std::string levels = fmt::format(R"("host": {}, "core": {})", level_of(6000), core);
    return network_of_profile(profile_of(core::machine_name(), 1, levels), "ours.json").machine;
  };
  EXPECT_EQ(machine_with(1500).turn, 1500u);
  EXPECT_EQ(machine_with(1500).receive, 6000u);
  EXPECT_EQ(machine_with(9000).turn, 7500u) << "a turn is no longer than a message takes";
  EXPECT_EQ(machine_with(9000).receive, 0u);
}

TEST(AqsimProfile, OfAnotherMachineOrVersionIsRefused) {
  const std::string levels = fmt::format(R"("host": {})", level_of(6000));
  EXPECT_THAT(refusal_of(profile_of("elsewhere, a processor, 3 processors", 1, levels)),
              AllOf(HasSubstr("ours.json"), HasSubstr("of another machine"), HasSubstr("elsewhere"),
                    HasSubstr(core::machine_name())));
  EXPECT_THAT(refusal_of(profile_of(core::machine_name(), 2, levels)),
              AllOf(HasSubstr("has version 2"), HasSubstr("reads 1")));
  EXPECT_THAT(refusal_of(profile_of(core::machine_name(), 1, "")), HasSubstr("no level was measured"));
  EXPECT_THAT(refusal_of("{"), HasSubstr("damaged"));
  EXPECT_THAT(refusal_of("[]"), HasSubstr("no network profile"));
  EXPECT_THAT(refusal_of(R"({"version": 1, "levels": [{}]})"), HasSubstr("no network profile"));
}

TEST(AqsimProfile, HasTheLevelsThatHostsNeed) {
  const auto network_of = [](const std::string& levels, std::vector<Rank> sizes) {
    return network_of_profile(profile_of(core::machine_name(), 1, levels), "ours.json",
                              {.sizes = std::move(sizes), .argument = "--hosts X"});
  };
  const auto refusal = [&](const std::string& levels, std::vector<Rank> sizes) -> std::string {
    try {
      network_of(levels, std::move(sizes));
    } catch (const sim::BadInput& problem) {
      return problem.what();
    }
    return "nothing was wrong";
  };
  const std::string host = fmt::format(R"("host": {})", level_of(6000));
  const std::string network = fmt::format(R"("network": {})", level_of(70000));
  const sim::Network both = network_of(host + ", " + network, {1, 3});
  EXPECT_EQ(both.machine.between(1, 3, 8).latency, 6000u);
  EXPECT_EQ(both.machine.between(0, 1, 8).latency, 70000u);
  EXPECT_EQ(both.machine.hosts(4), 2u);
  EXPECT_EQ(network_of(network, {1, 1}).machine.between(0, 1, 8).latency, 70000u);
  EXPECT_EQ(network_of(host, {4}).machine.hosts(4), 1u);
  EXPECT_THAT(refusal(host, {2, 2}),
              AllOf(HasSubstr("--hosts X: ours.json has no level between hosts"),
                    HasSubstr("aqperf calibrate --profile ours.json"), HasSubstr("on two hosts")));
  EXPECT_THAT(refusal(network, {4}), AllOf(HasSubstr("no level inside a host"), HasSubstr("on one host")));
}

TEST(AqsimProfile, ThatIsNotThereIsNamed) {
  Options options;
  options.operation = "barrier";
  options.profile = "/nonexistent/profile.json";
  try {
    run(options);
    FAIL() << "it was read";
  } catch (const sim::BadInput& problem) {
    EXPECT_THAT(problem.what(), HasSubstr("--profile /nonexistent/profile.json: it cannot be read"));
  }
}

TEST(AqsimProfile, RanksShareTheCoresOfTheirHost) {
  const support::ScratchFolder folder;
  Options options;
  options.operation = "all_gather";
  options.algorithm = "bruck";
  options.ranks = {8};
  options.profile = folder / "profile.json";
  std::ofstream(options.profile) << profile_of(
      core::machine_name(), 1, fmt::format(R"("host": {}, "core": {})", level_of(6000), level_of(7500)));
  options.json = true;
  const auto microseconds = [&](std::uint32_t cores) {
    options.cores = cores;
    testing::internal::CaptureStdout();
    run(options);
    std::fflush(stdout);
    const std::string line = testing::internal::GetCapturedStdout();
    return std::stod(line.substr(line.find("\"virtual_us\":") + 13));
  };
  EXPECT_EQ(microseconds(8), microseconds(0));
  EXPECT_GT(microseconds(1), 1.5 * microseconds(0));
}

}  // namespace
}  // namespace aqueduct::aqsim
