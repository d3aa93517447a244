#include "tests/support/scratch_folder.hpp"
#include "tests/unit/aqsim/simulated.hpp"
#include "tools/aqsim/printer.hpp"
#include "tools/aqsim/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>

namespace aqueduct::aqsim {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Options options_of(const std::string& operation) {
  Options options;
  options.operation = operation;
  options.json = true;
  return options;
}

TEST(Aqsim, PrintsTheFieldsThatScriptsKnow) {
  Options options = options_of("all-to-all");
  options.ranks = {64};
  options.bytes = {8, 16};
  options.algorithm = "bruck:8";
  const auto lines = lines_of(options);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1].at("op"), "all_to_all");
  EXPECT_EQ(lines[1].at("algorithm"), "bruck:radix=8");
  EXPECT_EQ(lines[1].at("ranks"), 64);
  EXPECT_EQ(lines[1].at("bytes"), 16);
  EXPECT_GT(lines[1].at("virtual_us").get<double>(), lines[0].at("virtual_us").get<double>());
  // 14 puts of each, and twice 6 signals around them.
  EXPECT_EQ(lines[0].at("messages"), 64 * (14 + 12));
  EXPECT_EQ(lines[0].at("bytes_sent"), 64 * 2 * 56 * 8);
  EXPECT_GT(lines[0].at("messages_per_s").get<double>(), 0);
  EXPECT_GT(lines[0].at("wall_s").get<double>(), 0);
}

TEST(Aqsim, MeanIdleTimeOfMembersWhoAreAllAlikeIsThatOfEach) {
  for (const Rank ranks : {7u, 11u, 13u, 100u}) {
    Options options = options_of("barrier");
    options.algorithm = "dissemination";
    options.ranks = {ranks};
    const auto lines = lines_of(options);
    EXPECT_GT(lines.at(0).at("idle_most_us").get<double>(), 0);
    EXPECT_EQ(lines.at(0).at("idle_mean_us"), lines.at(0).at("idle_most_us")) << ranks << " ranks";
  }
}

TEST(Aqsim, SimulatesAllThatCanDoIt) {
  Options options = options_of("broadcast");
  options.algorithm = "all";
  options.network = "torus";
  options.ranks = {27};
  const auto lines = lines_of(options);
  EXPECT_EQ(lines.size(), 10u);
  for (const nlohmann::json& line : lines) EXPECT_FALSE(line.at("links").empty());
}

TEST(Aqsim, WritesPlotsAndTraces) {
  const support::ScratchFolder folder;
  Options options = options_of("reduce");
  options.ranks = {8, 16};
  options.bytes = {8, 64};
  options.plot = folder / "plot.html";
  lines_of(options);
  EXPECT_GT(std::filesystem::file_size(options.plot), 1000u);
  options.trace = folder / "trace.json";
  EXPECT_THAT(refusal_of([&] { run(options); }), HasSubstr("--trace is for one simulation"));
  options.plot.clear();
  options.ranks = {8};
  options.bytes = {8};
  lines_of(options);
  EXPECT_GT(std::filesystem::file_size(options.trace), 1000u);
}

TEST(Aqsim, KeepsATraceThatItCannotReplace) {
  const support::ScratchFolder folder;
  Options options = options_of("reduce");
  options.ranks = {8};
  options.trace = folder / "trace.json";
  lines_of(options);
  const auto bytes = std::filesystem::file_size(options.trace);
  options.most_messages = 1;
  EXPECT_THAT(refusal_of([&] { run(options); }), HasSubstr("--most-messages"));
  EXPECT_EQ(std::filesystem::file_size(options.trace), bytes);
  options.most_messages = 0;
  options.trace = folder / "none/trace.json";
  testing::internal::CaptureStdout();
  EXPECT_THAT(refusal_of([&] { run(options); }), HasSubstr("trace.json cannot be written: No such file"));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");  // before the simulation
}

TEST(Aqsim, FailsIfNoAlgorithmCouldBeSimulated) {
  const support::ScratchFolder folder;
  Options options = options_of("all_to_all");
  options.ranks = {16};
  options.algorithm = "all";
  options.network = "torus";
  options.most_messages = 1;
  options.plot = folder / "plot.html";
  EXPECT_THAT(refusal_of([&] { run(options); }),
              HasSubstr("no algorithm could be simulated for 1 of the sizes"));
  EXPECT_FALSE(std::filesystem::exists(options.plot));
  options.most_messages = 200;  // bruck's are fewer, those of direct are more
  EXPECT_GT(lines_of(options).size(), 0u);
}

TEST(Aqsim, NamesTheProfileInItsPlot) {
  const support::ScratchFolder folder;
  Options options = options_of("barrier");
  Printer printer(options);
  options.plot = folder / "plot.html";
  options.profile = "profiles/mine.json";
  printer.plot();
  std::ifstream in(options.plot);
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  EXPECT_THAT(page, AllOf(HasSubstr("barrier on profiles/mine.json"), Not(HasSubstr("on ideal"))));
}

TEST(Aqsim, PrintsJsonWhateverBytesTheNameOfAFileHas) {
  const support::ScratchFolder folder;
  Options options = options_of("barrier");
  options.network = folder / "a\xff.json";
  std::ofstream(options.network) << R"({"version": 1, "levels": [{}]})";
  const auto lines = lines_of(options);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0].at("network").get<std::string>(), HasSubstr("a\xEF\xBF\xBD.json"));
}

TEST(Aqsim, ReadsRangesAndModes) {
  EXPECT_THAT(read_range("8:64", "bytes", 1000), ElementsAre(8, 16, 32, 64));
  EXPECT_THAT(read_range("3:20", "bytes", 1000), ElementsAre(3, 6, 12, 20));
  EXPECT_THAT(read_range("0:2", "bytes", 1000), ElementsAre(0, 1, 2));
  EXPECT_THAT(read_range("1K", "bytes", 2000), ElementsAre(1024));
  EXPECT_THAT(read_range("1T", "bytes", std::uint64_t{1} << 40), ElementsAre(std::uint64_t{1} << 40));
  for (const char* const bad :
       {"", "a", "8:", ":8", "9:8", "1:2:3", "2000", "1T", "1P", "-1", "99999999999999999999"})
    EXPECT_THAT(refusal_of([&] { read_range(bad, "bytes", 1000); }), HasSubstr("bytes are given as A or A:B"))
        << bad;
  Options options;
  read_sync("none:mine", options);
  EXPECT_EQ(options.in, coll::Sync::none);
  EXPECT_EQ(options.out, coll::Sync::mine);
  EXPECT_THAT(refusal_of([&] { read_sync("some", options); }), HasSubstr("none, mine or all"));
  read_noise("1000:2.5", options);
  EXPECT_EQ(options.noise_us, 2.5);
  for (const char* const bad : {"", "5", "5:5", "a:b", "5:1x", ":1", "1:2", "1e-6:1e-7", "nan:1", "1e10:1"})
    EXPECT_THAT(refusal_of([&] { read_noise(bad, options); }), HasSubstr("PERIOD:LENGTH")) << bad;
}

TEST(Aqsim, SaysWhatIsWrong) {
  EXPECT_THAT(refusal_of([] { run(options_of("allreduce")); }),
              AllOf(HasSubstr("no operation 'allreduce'"), HasSubstr("all_reduce")));
  Options options = options_of("broadcast");
  options.algorithm = "k-nomal";
  EXPECT_THAT(refusal_of([&] { run(options); }),
              AllOf(HasSubstr("no such algorithm"), HasSubstr("k-nomial")));
  options.algorithm = "k-nomial:1000";
  EXPECT_THAT(refusal_of([&] { run(options); }), HasSubstr("radix may be a whole number from"));
  options.algorithm = "auto";
  options.root = 64;
  EXPECT_THAT(refusal_of([&] { run(options); }), HasSubstr("there are 64 ranks"));
  options.root = 0;
  options.element = 16;
  EXPECT_THAT(refusal_of([&] { run(options); }), HasSubstr("no whole number of elements"));
  Options ring = options_of("all_gather");
  ring.algorithm = "ring";
  ring.ranks = {1000};
  EXPECT_THAT(refusal_of([&] { run(ring); }), HasSubstr("it needs a counter for each member: too many"));
}

TEST(Aqsim, CurvesExplainWhatDiffersFromTheSource) {
  const auto lines = lines_of([] { return curves(true); });
  EXPECT_GE(lines.size(), 15u);
  for (const nlohmann::json& line : lines) {
    EXPECT_TRUE(line.at("agrees").get<bool>() || !line.at("why").get<std::string>().empty()) << line;
    // Guidelines are no matter of opinion.
    if (line.at("id") == "guideline") {
      EXPECT_TRUE(line.at("agrees").get<bool>()) << line;
    }
  }
}

}  // namespace
}  // namespace aqueduct::aqsim
