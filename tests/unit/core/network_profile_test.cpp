#include <aqueduct/aqueduct.hpp>

#include "core/json_reader.hpp"
#include "core/log.hpp"
#include "core/network_profile.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace aqueduct::core {
namespace {

using testing::HasSubstr;

std::string profile_of(const std::string& machine, int version = 1, const std::string& latency = "1000") {
  return R"({"format": "aqueduct-network-profile", "version": )" + std::to_string(version) +
         R"(, "machine": ")" + machine +
         R"(", "conduit": "loop", "levels": {"later": 7, "host": {"injection_depth": 32,
    "inline_limit": 64, "peak_bytes": 8192, "rendezvous_limit": 0, "copy_femtoseconds_per_byte": 5,
    "reduce_femtoseconds_per_byte": 6, "new_member": [true, null], "costs": [
      {"bytes": 0, "latency_ps": )" +
         latency + R"(, "overhead_ps": 20, "gap_ps": 3, "femtoseconds_per_byte": 400},
      {"bytes": 4096, "latency_ps": 2000, "overhead_ps": 30, "gap_ps": 4, "femtoseconds_per_byte": 300}]}}})";
}

TEST(JsonReader, ReadsValues) {
  const JsonRead read = read_json(R"( {"a": [1, -2.5e1, "x\"\u0041\n", true, false, null], "b": {}} )");
  ASSERT_EQ(read.problem, "");
  const Json* const list = read.value.find("a");
  ASSERT_NE(list, nullptr);
  ASSERT_EQ(list->items.size(), 6u);
  EXPECT_EQ(list->items[0].whole(), 1u);
  EXPECT_EQ(list->items[1].number, -25);
  EXPECT_EQ(list->items[1].whole(), std::nullopt);
  EXPECT_EQ(list->items[2].text, "x\"A\n");
  EXPECT_TRUE(list->items[3].boolean);
  EXPECT_EQ(list->items[5].kind, Json::Kind::null);
  EXPECT_EQ(read.value.find("c"), nullptr);
}

TEST(JsonReader, SaysWhatIsWrong) {
  for (const char* text : {"", "{", "[1,", "[1 2]", "{\"a\" 1}", "{a: 1}", "\"x", "\"\\", "\"\\u00e4\"",
                           "\"\\q\"", "01x", "1 2", "nul", "-", "[1e999]", "\"\n\"", "{\"a\":1,}"}) {
    EXPECT_NE(read_json(text).problem, "") << text;
  }
  EXPECT_THAT(read_json(std::string(10000, '[')).problem, HasSubstr("deeply"));
}

TEST(NetworkProfile, IsRead) {
  const ProfileRead read = read_profile(profile_of("here"), "here", "loop");
  ASSERT_EQ(read.problem, "");
  const NetworkModel* const model = read.profile.between(true);
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(read.profile.between(false), nullptr);
  EXPECT_EQ(model->origin, NetworkModel::Origin::profile);
  EXPECT_EQ(model->sizes, 2u);
  EXPECT_EQ(model->at(4095).latency.count(), 1000);
  EXPECT_EQ(model->at(4096).latency.count(), 2000);
  EXPECT_EQ(model->put_time(10).count(), 1000 + 20 + 4);
  EXPECT_EQ(model->put_interval(10).count(), 20);
  EXPECT_EQ(model->put_interval(1000).count(), 403);
  EXPECT_EQ(model->injection_depth, 32u);
}

TEST(NetworkProfile, HasTheIntervalOfAStream) {
  const auto read = [](const std::string& interval) {
    std::string text = profile_of("here");
    const std::string from = "\"femtoseconds_per_byte\": 400";
    text.insert(text.find(from) + from.size(), ", \"interval_ps\": " + interval);
    return read_profile(text, "here", "loop");
  };
  const ProfileRead shorter = read("7");
  ASSERT_EQ(shorter.problem, "");
  EXPECT_EQ(shorter.profile.between(true)->put_interval(8).count(), 7);       // less than the overhead of 20
  EXPECT_EQ(shorter.profile.between(true)->put_interval(1000).count(), 403);  // the port
  EXPECT_EQ(shorter.profile.between(true)->put_time(10).count(), 1000 + 20 + 4);
  EXPECT_EQ(read("0").profile.between(true)->put_interval(8).count(), 20);
  EXPECT_THAT(read("-1").problem, HasSubstr("'interval_ps'"));
}

TEST(NetworkProfile, OfAnotherMachineConduitOrVersionIsRefused) {
  const auto problem = [](const std::string& text) { return read_profile(text, "here", "loop").problem; };
  EXPECT_THAT(problem(profile_of("there")), HasSubstr("another machine (\"there\""));
  EXPECT_THAT(problem(profile_of("here", 2)), HasSubstr("version 2, and this library reads 1"));
  EXPECT_THAT(read_profile(profile_of("here"), "here", "udp").problem,
              HasSubstr("of conduit loop, not of udp"));
  EXPECT_THAT(problem(profile_of("here", 1, "-1")), HasSubstr("level host: 'latency_ps'"));
  EXPECT_THAT(problem("{}"), HasSubstr("no network profile"));
  // Cut off anywhere, it is damaged or lacks something.
  const std::string whole = profile_of("here");
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 7)
    EXPECT_NE(problem(whole.substr(0, bytes)), "");
}

/// The same with a level between hosts in place of that of a host, or beside it.
std::string with_network(const std::string& text, bool alone) {
  const std::size_t at = text.find("\"host\": ");
  const std::string level = text.substr(at + 8, text.size() - at - 8 - 2);
  return text.substr(0, at) + "\"network\": " + level + (alone ? "" : ", \"host\": " + level) + "}}";
}

TEST(NetworkProfile, OfAnotherMachineOfTheKindCountsBetweenHosts) {
  const std::string here = "node2, a processor, 2 processors";
  const std::string other = profile_of("node1, a processor, 2 processors");
  for (const bool alone : {true, false}) {
    const ProfileRead read = read_profile(with_network(other, alone), here, "loop");
    ASSERT_EQ(read.problem, "");
    ASSERT_NE(read.profile.between(false), nullptr);
    EXPECT_EQ(read.profile.between(false)->at(0).latency.count(), 1000);
    EXPECT_EQ(read.profile.between(true), nullptr) << "that of the other host";
  }
  EXPECT_THAT(read_profile(other, here, "loop").problem, HasSubstr("another machine (\"node1, "));
  const ProfileRead ours = read_profile(with_network(profile_of(here), false), here, "loop");
  EXPECT_NE(ours.profile.between(true), nullptr);
  EXPECT_THAT(
      read_profile(with_network(other, true), "node1, another processor, 2 processors", "loop").problem,
      HasSubstr("another machine"));
}

TEST(NetworkProfile, OfAnotherNetworkLeavesOutTheLevelsThatSayIt) {
  const std::string older = with_network(profile_of("here"), false);
  std::string text = older;
  const std::size_t network = text.find("\"network\": {") + 12;
  text.insert(network, R"("over": "tcp on eth0", )");
  const ProfileRead same = read_profile(text, "here", "loop", "tcp on eth0");
  EXPECT_NE(same.profile.between(false), nullptr);
  EXPECT_FALSE(same.profile.is_of_another(false));
  const ProfileRead other = read_profile(text, "here", "loop", "verbs on mlx5_0");
  EXPECT_EQ(other.problem, "");
  EXPECT_EQ(other.profile.between(false), nullptr);
  EXPECT_TRUE(other.profile.is_of_another(false));
  EXPECT_EQ(other.profile.other_network, "tcp on eth0");
  EXPECT_NE(other.profile.between(true), nullptr) << "it says no network";
  EXPECT_FALSE(other.profile.is_of_another(true));
  EXPECT_NE(read_profile(text, "here", "loop").profile.between(false), nullptr) << "for tools without a job";
  EXPECT_NE(read_profile(older, "here", "loop", "tcp on eth0").profile.between(false), nullptr);
}

// Rank 0 may be on another node than that which was calibrated.
TEST(NetworkProfile, OfAFolderIsThatOfTheKindBetweenHosts) {
  const support::ScratchFolder folder;
  const std::string machine = "another_host, " + std::string(kind_of_machine(machine_name()));
  std::ofstream(profile_file(folder.path(), "loop", /*same_host=*/false))
      << with_network(profile_of(machine), true);
  Config config;
  Log log(config, 0);
  testing::internal::CaptureStderr();
  const NetworkProfile read = load_profile(log, folder.path(), "loop");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_NE(read.between(false), nullptr);
  EXPECT_EQ(read.between(true), nullptr);
  std::ofstream(profile_file(folder.path(), "loop", /*same_host=*/true)) << profile_of(machine_name());
  EXPECT_NE(load_profile(log, folder.path(), "loop").between(true), nullptr) << "each level has its file";
  EXPECT_NE(load_profile(log, folder.path(), "loop").between(false), nullptr);
}

class ModelOfAnEndpoint : public testing::Test {
 protected:
  static NetworkModel model(const std::string& file, std::string* said) {
    Config config;
    EXPECT_TRUE(config.set("conduit", "loop"));
    EXPECT_TRUE(config.set("near", "off"));
    EXPECT_TRUE(config.set("segment_bytes", "4K"));
    EXPECT_TRUE(config.set("network_profile", file));
    testing::internal::CaptureStderr();
    auto job = Job::in_process(2, config);
    EXPECT_TRUE(job) << job.status().text();
    NetworkModel found = job->endpoint(0).network_model(1);
    EXPECT_EQ(job->endpoint(0).network_model(1).origin, found.origin);  // says nothing more
    *said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(job->endpoint(0).network_model(7).by_size[0], NetworkCost{});
    EXPECT_TRUE(job->finish());
    return found;
  }
  static void write(const std::string& file, const std::string& text) { std::ofstream(file) << text; }
};

TEST_F(ModelOfAnEndpoint, ComesFromAFileOrAFolderOrTheDefaults) {
  const support::ScratchFolder folder;
  const std::string file = profile_file(folder.path(), "loop", /*same_host=*/true);
  write(file, profile_of(machine_name()));
  std::string said;
  EXPECT_EQ(model(file, &said).at(0).latency.count(), 1000);
  EXPECT_EQ(said, "");
  EXPECT_EQ(model(folder.path(), &said).at(0).latency.count(), 1000);
  EXPECT_EQ(model("", &said).origin, NetworkModel::Origin::defaults);
  EXPECT_EQ(said, "");
}

TEST_F(ModelOfAnEndpoint, OfAWrongFileIsTheDefaultsWithOneWarning) {
  const support::ScratchFolder folder;
  const std::string file = (folder / "wrong.json").string();
  std::string said;
  EXPECT_EQ(model(file, &said).origin, NetworkModel::Origin::defaults);
  EXPECT_THAT(said, HasSubstr("cannot be read"));
  for (const auto& [text, why] : {std::pair{profile_of("elsewhere"), "another machine"},
                                  std::pair{profile_of(machine_name(), 9), "version 9"},
                                  std::pair{std::string("{\"format\""), "damaged"}}) {
    write(file, text);
    EXPECT_EQ(model(file, &said).origin, NetworkModel::Origin::defaults);
    EXPECT_THAT(said, HasSubstr(why));
    EXPECT_EQ(said.find(why), said.rfind(why)) << said;
  }
}

}  // namespace
}  // namespace aqueduct::core
