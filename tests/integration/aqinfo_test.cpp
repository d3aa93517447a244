#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <sstream>
#include <string>

#include <sys/wait.h>

namespace aqueduct {
namespace {

struct InfoAnswer {
  int status = -1;
  std::string text;  // standard output and standard error
};

/// Runs a tool for at most ten seconds. The only AQUEDUCT_* variables are those of `variables` ("A=1 B=2").
InfoAnswer run_tool(const std::string& tool, const std::string& arguments,
                    const std::string& variables = "") {
  const std::string command = "env -i PATH=\"$PATH\" " + variables + " timeout 10 " AQUEDUCT_BIN_DIR "/" +
                              tool + " " + arguments + " 2>&1";
  InfoAnswer answer;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return answer;
  std::array<char, 4096> piece;
  for (std::size_t got; (got = fread(piece.data(), 1, piece.size(), pipe)) > 0;) {
    answer.text.append(piece.data(), got);
  }
  const int status = pclose(pipe);
  if (WIFEXITED(status)) answer.status = WEXITSTATUS(status);
  return answer;
}

InfoAnswer aqinfo(const std::string& arguments, const std::string& variables = "") {
  return run_tool("aqinfo", arguments, variables);
}

nlohmann::json parse(const InfoAnswer& answer) {
  const nlohmann::json json = nlohmann::json::parse(answer.text, nullptr, false);
  EXPECT_TRUE(json.is_object()) << answer.text;
  return json.is_object() ? json : nlohmann::json::object();
}

nlohmann::json setting(const nlohmann::json& all, const std::string& name) {
  for (const auto& each : all.at("settings")) {
    if (each.at("name") == name) return each;
  }
  ADD_FAILURE() << "no setting " << name;
  return nlohmann::json::object();
}

TEST(Aqinfo, FailsIfItsOutputIsNotTaken) { EXPECT_EQ(aqinfo("--errors > /dev/full").status, 1); }

TEST(Aqinfo, DescribesTheMachineInJson) {
  const InfoAnswer answer = aqinfo("--json");
  ASSERT_EQ(answer.status, 0) << answer.text;
  const auto machine = parse(answer).at("machine");
  EXPECT_GE(machine.at("cores"), machine.at("cores_usable"));
  EXPECT_GE(machine.at("cores_usable"), 1);
  EXPECT_GE(machine.at("memory_bytes"), machine.at("memory_available_bytes"));
  EXPECT_GE(machine.at("shm_bytes"), machine.at("shm_free_bytes"));
  EXPECT_GE(machine.at("page_bytes"), 4096);
  EXPECT_FALSE(machine.at("hostname").get<std::string>().empty());
}

TEST(Aqinfo, SaysOfEachConduitWhetherItIsUsableAndWhy) {
  const auto all = parse(aqinfo("--json"));
  std::set<std::string> names;
  for (const auto& conduit : all.at("conduits")) {
    const std::string name = conduit.at("name");
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_FALSE(conduit.at("why").get<std::string>().empty()) << name;
    if (!conduit.at("usable")) continue;
    EXPECT_GE(conduit.at("limits").at("max_packet"), 256) << name;
    EXPECT_EQ(conduit.at("parts").size(), 7u) << name;
    for (const auto& part : conduit.at("parts").items()) {
      EXPECT_TRUE(part.value() == "native" || part.value() == "reference") << name << "." << part.key();
    }
  }
  EXPECT_TRUE(names.contains("loop"));
  EXPECT_TRUE(names.contains("smp"));
}

TEST(Aqinfo, ChoosesAConduitForRanksOfThisHost) {
  const auto near = parse(aqinfo("--json")).at("choice").at("near");
  EXPECT_EQ(near.at("conduit"), "smp") << near.at("why");
  const auto asked = parse(aqinfo("--json", "AQUEDUCT_CONDUIT=loop")).at("choice").at("near");
  EXPECT_EQ(asked.at("conduit"), "loop") << asked.at("why");
}

TEST(Aqinfo, ListsSettingsWithValueUnitDefaultAndOrigin) {
  const InfoAnswer answer = aqinfo("--json", "AQUEDUCT_SEGMENT_BYTES=4M");
  ASSERT_EQ(answer.status, 0) << answer.text;
  const auto all = parse(answer);
  EXPECT_TRUE(all.at("problems").empty());
  const auto changed = setting(all, "segment_bytes");
  EXPECT_EQ(changed.at("variable"), "AQUEDUCT_SEGMENT_BYTES");
  EXPECT_EQ(changed.at("value"), "4M");
  EXPECT_EQ(changed.at("unit"), "bytes");
  EXPECT_EQ(changed.at("default"), "16M");
  EXPECT_EQ(changed.at("origin"), "environment");
  EXPECT_EQ(setting(all, "segments").at("origin"), "built in");
}

TEST(Aqinfo, AnswersOneQuestionAtATime) {
  for (const char* both : {"--collectives --topology", "--topology --errors", "--collectives --errors"}) {
    const InfoAnswer answer = aqinfo(both);
    EXPECT_EQ(answer.status, 2) << both << answer.text;
    EXPECT_NE(answer.text.find(" excludes "), std::string::npos) << answer.text;
  }
}

TEST(Aqinfo, ShowsProblemsAndEndsWithOne) {
  const std::string variables = "AQUEDUCT_SEGMNT_BYTES=4M AQUEDUCT_SIGNALS=none";
  const InfoAnswer json = aqinfo("--json", variables);
  EXPECT_EQ(json.status, 1);
  const auto all = parse(json);
  ASSERT_EQ(all.at("problems").size(), 2u);
  std::set<std::string> of;
  for (const auto& problem : all.at("problems")) of.insert(problem.at("variable").get<std::string>());
  EXPECT_EQ(of, (std::set<std::string>{"AQUEDUCT_SEGMNT_BYTES", "AQUEDUCT_SIGNALS"}));

  const InfoAnswer text = aqinfo("", variables);
  EXPECT_EQ(text.status, 1);
  EXPECT_NE(text.text.find("did you mean AQUEDUCT_SEGMENT_BYTES?"), std::string::npos) << text.text;
}

TEST(Aqinfo, TextHoldsTheSameFactsIn110Columns) {
  const InfoAnswer answer = aqinfo("");
  ASSERT_EQ(answer.status, 0) << answer.text;
  const auto all = parse(aqinfo("--json"));
  for (const auto& conduit : all.at("conduits")) {
    const std::string title = "\nConduit " + conduit.at("name").get<std::string>() + ": ";
    EXPECT_NE(answer.text.find(title), std::string::npos) << title;
  }
  for (const auto& each : all.at("settings")) {
    const std::string variable = each.at("variable");
    EXPECT_NE(answer.text.find("  " + variable + " "), std::string::npos) << variable;
  }
  std::istringstream lines(answer.text);
  for (std::string line; std::getline(lines, line);) {
    std::size_t columns = 0;
    for (const char c : line) columns += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
    EXPECT_LE(columns, 110u) << line;
  }
}

// Ranks of a pretended host of two packages, as the levels place them.
TEST(Aqinfo, ShowsLevelsOfMemoryAndWhereRanksAre) {
  const std::string variables =
      "AQUEDUCT_TOPOLOGY='package:2 core:4 pu:1' AQUEDUCT_PLACES=4,0,5 AQUEDUCT_ENDPOINTS=3";
  const InfoAnswer answer = aqinfo("--topology --json", variables);
  if (answer.text.find("has no hwloc") != std::string::npos) GTEST_SKIP() << answer.text;
  ASSERT_EQ(answer.status, 0) << answer.text;
  const auto all = parse(answer);
  ASSERT_EQ(all.at("levels").size(), 3u);
  EXPECT_EQ(all.at("levels")[1].at("name"), "package");
  EXPECT_EQ(all.at("levels")[1].at("separates_ranks"), true);
  EXPECT_EQ(all.at("collectives_keep_to"), nlohmann::json{"package"});
  ASSERT_EQ(all.at("places").size(), 3u);
  EXPECT_EQ(all.at("places")[0].at("cpus"), "4");
  EXPECT_EQ(all.at("places")[0].at("domains"), (nlohmann::json{0, 1, 4}));
  EXPECT_EQ(all.at("places")[1].at("domains"), (nlohmann::json{0, 0, 0}));
  const InfoAnswer text = aqinfo("--topology", variables);
  EXPECT_NE(text.text.find("rank 2      processors 5: package 1, core 5"), std::string::npos) << text.text;
  const InfoAnswer endless = aqinfo("--topology", "AQUEDUCT_TOPOLOGY=/dev/zero");
  EXPECT_NE(endless.status, 0);
  EXPECT_NE(endless.text.find("'/dev/zero' is no file"), std::string::npos) << endless.text;
  EXPECT_NE(text.text.find("caches: not known"), std::string::npos) << text.text;
  EXPECT_EQ(all.at("tiles").at("most_bytes"), 65536);
  const InfoAnswer small = aqinfo(
      "--topology --json",
      "AQUEDUCT_TOPOLOGY='l3:2(size=1048576) l2:4(size=524288) l1:1(size=32768) pu:1' AQUEDUCT_ENDPOINTS=8");
  ASSERT_EQ(small.status, 0) << small.text;
  const auto cut = parse(small);
  EXPECT_EQ(cut.at("caches").at("second_bytes"), 512 << 10);
  EXPECT_EQ(cut.at("caches").at("processors_sharing_last"), 4);
  EXPECT_EQ(cut.at("tiles").at("most_bytes"), 8192) << "the half of 1 MiB among 9 buffers of 4 tiles";
  const InfoAnswer wrong = aqinfo("--topology", "AQUEDUCT_TOPOLOGY=rubbish");
  EXPECT_EQ(wrong.status, 3) << wrong.text;
  EXPECT_NE(wrong.text.find("'rubbish' is no topology: write levels"), std::string::npos) << wrong.text;
}

nlohmann::json choices_of(const nlohmann::json& all, const std::string& operation) {
  for (const auto& each : all.at("collectives")) {
    if (each.at("operation") == operation) return each;
  }
  ADD_FAILURE() << "no operation " << operation;
  return nlohmann::json::object();
}

// Without gaps, each operation has an algorithm for all sizes in each kind of team.
TEST(Aqinfo, ShowsWhichAlgorithmOfACollectiveRuns) {
  const InfoAnswer answer = aqinfo("--collectives --ranks 8 --json");
  ASSERT_EQ(answer.status, 0) << answer.text;
  const auto all = parse(answer);
  EXPECT_EQ(all.at("ranks"), 8);
  ASSERT_EQ(all.at("collectives").size(), 13u);
  for (const auto& each : all.at("collectives")) {
    EXPECT_EQ(each.at("cases").size(), 4u) << each;
    for (const auto& one : each.at("cases")) {
      const bool barrier = each.at("operation") == "barrier";
      EXPECT_EQ(one.at("ranges").front().at("from"), barrier ? 0 : 8) << each;
      EXPECT_EQ(one.at("ranges").back().at("to"), barrier ? 0 : 64 << 20) << each;
      for (const auto& range : one.at("ranges")) EXPECT_FALSE(range.at("algorithm").is_null()) << each;
    }
  }
  const std::string text = aqinfo("--collectives --ranks 8").text;
  EXPECT_NE(text.find("a team of 8 members"), std::string::npos) << text;
  EXPECT_NE(text.find("\nall_reduce\n  AQUEDUCT_COLL_ALL_REDUCE: auto, multiplying:radix=2..64"),
            std::string::npos)
      << text;
}

/// The algorithm that aqinfo shows for an operation and the first of the sizes.
std::string choice_on(const nlohmann::json& all, const std::string& operation, bool one_host) {
  const nlohmann::json asked = choices_of(all, operation);
  for (const auto& one : asked.at("cases")) {
    if (one.at("one_host") == one_host && one.at("addresses") == "local")
      return one.at("ranges").at(0).at("algorithm");
  }
  return "no such case";
}

// What a job of aqperf really runs.
TEST(Aqinfo, ShowsForOneHostWhatAJobThereRuns) {
  for (const std::string operation : {"broadcast", "all_reduce", "all_gather"}) {
    for (const std::string bytes : {"8", "64K"}) {
      const auto all = parse(aqinfo("--collectives --ranks 2 --json --bytes " + bytes));
      std::string name = choice_on(all, operation, /*one_host=*/true);
      name.resize(std::min(name.find(':'), name.size()));
      std::string bench = "coll-" + operation;
      std::ranges::replace(bench, '_', '-');
      const InfoAnswer job = run_tool("aqrun", "-n 2 --conduit smp " AQUEDUCT_BIN_DIR "/aqperf " + bench +
                                                   " --json --seconds 0.01 --bytes " + bytes);
      ASSERT_EQ(job.status, 0) << job.text;
      EXPECT_NE(job.text.find('"' + name), std::string::npos) << operation << ": " << name << '\n'
                                                              << job.text;
    }
  }
}

TEST(Aqinfo, ShowsTheAlgorithmThatASettingAsksFor) {
  const std::string question = "--collectives --ranks 6 --bytes 1K,64 --json";
  const auto asked = choices_of(parse(aqinfo(question, "AQUEDUCT_COLL_ALL_REDUCE=tree:3")), "all_reduce");
  for (const auto& one : asked.at("cases")) {
    ASSERT_EQ(one.at("ranges").size(), 1u) << one;
    EXPECT_EQ(one.at("ranges")[0].at("from"), 64);
    EXPECT_EQ(one.at("ranges")[0].at("to"), 1024);
    EXPECT_EQ(one.at("ranges")[0].at("algorithm"), "tree:radix=3");
  }
  // It needs a power of two.
  const auto cannot = choices_of(parse(aqinfo(question, "AQUEDUCT_COLL_ALL_REDUCE=halving")), "all_reduce");
  const auto range = cannot.at("cases")[0].at("ranges")[0];
  EXPECT_TRUE(range.at("algorithm").is_null());
  EXPECT_NE(range.at("why").get<std::string>().find("a power of two"), std::string::npos) << range;

  const InfoAnswer wrong = aqinfo("--collectives", "AQUEDUCT_COLL_ALL_REDUCE=halfing");
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.text,
              ::testing::ContainsRegex(
                  "did[[:space:]]+you[[:space:]]+mean[[:space:]]+halving[?]"));  // the text is wrapped
  EXPECT_EQ(aqinfo("--collectives --bytes 8,many").status, 2);
  EXPECT_EQ(aqinfo("--ranks 4").status, 2) << "it needs --collectives";
}

// More members than processors on one host: the last to come combines.
TEST(Aqinfo, KnowsOfTeamsThatShareProcessors) {
  const auto crowded = parse(aqinfo("--collectives --ranks 8 --cores 2 --bytes 8 --json"));
  EXPECT_EQ(crowded.at("processors"), 2);
  EXPECT_EQ(choice_on(crowded, "all_reduce", /*one_host=*/true), "flags-last");
  EXPECT_EQ(choice_on(crowded, "reduce_scatter", /*one_host=*/true), "flags-last");
  EXPECT_EQ(choice_on(crowded, "all_reduce", /*one_host=*/false), "direct");
  const auto roomy = parse(aqinfo("--collectives --ranks 8 --cores 8 --bytes 8 --json"));
  EXPECT_EQ(choice_on(roomy, "all_reduce", /*one_host=*/true), "flags-flat");
  for (const auto& one : choices_of(crowded, "broadcast").at("cases"))
    EXPECT_EQ(one.at("crowded"), one.at("one_host")) << one;
  for (const auto& one : choices_of(roomy, "broadcast").at("cases"))
    EXPECT_EQ(one.at("crowded"), false) << one;
  // Those of this host, as aqinfo shows them.
  const auto machine = parse(aqinfo("--json")).at("machine");
  EXPECT_EQ(parse(aqinfo("--collectives --bytes 8 --json")).at("processors"), machine.at("cores"));
  EXPECT_NE(aqinfo("--collectives --ranks 8 --cores 2")
                .text.find("on hosts of 2 processors, which members of one host share"),
            std::string::npos);
  EXPECT_EQ(aqinfo("--collectives --cores 0").status, 2);
  EXPECT_EQ(aqinfo("--cores 2").status, 2) << "it needs --collectives";
}

TEST(Aqinfo, PrintsTheRegistryOfErrors) {
  const InfoAnswer json = aqinfo("--errors --json");
  ASSERT_EQ(json.status, 0) << json.text;
  const auto errors = parse(json).at("errors");
  const InfoAnswer text = aqinfo("--errors");
  EXPECT_EQ(text.status, 0);
  ASSERT_GT(errors.size(), 1u);
  for (const auto& error : errors) {
    EXPECT_FALSE(error.at("advice").get<std::string>().empty()) << error;
    EXPECT_NE(text.text.find(" " + error.at("name").get<std::string>() + " "), std::string::npos) << error;
  }
}

TEST(Aqinfo, EndsWithTwoWhenItIsMisused) {
  EXPECT_EQ(aqinfo("--jsno").status, 2);
  EXPECT_EQ(aqinfo("smp").status, 2);
  EXPECT_EQ(aqinfo("--help").status, 0);
}

}  // namespace
}  // namespace aqueduct
