#include <aqueduct/config.hpp>
#include <aqueduct/job.hpp>

#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

namespace aqueduct {
namespace {

Config from(std::vector<std::string> variables) { return Config::from_variables(variables); }

TEST(Config, OfDefaultsHasNoProblemsWhateverWasCompiledIn) {
  const Config config;
  for (const SettingProblem& problem : config.problems()) ADD_FAILURE() << problem.text;
  for (const SettingInfo& info : config.settings()) {
    EXPECT_EQ(config.origin(info.name), SettingOrigin::built_in) << info.name;
    // aqinfo prints it as it is, and docs/settings.md has it. It may begin with one of the setting's own words, as "header".
    ASSERT_FALSE(info.help.empty()) << info.name;
    EXPECT_EQ(info.help.back(), '.') << info.name;
    const std::string_view first = info.help.substr(0, info.help.find(' '));
    EXPECT_TRUE(std::isupper(static_cast<unsigned char>(first.front())) ||
                info.choices.find(first) != std::string_view::npos)
        << info.name << ": " << info.help;
  }
}

TEST(Config, EverySettingHasANameOfItsOwnAndTheVariableThatFollowsFromIt) {
  std::set<std::string_view> names;
  for (const SettingInfo& info : Config().settings()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    std::string variable = "AQUEDUCT_";
    for (const char c : info.name) variable += static_cast<char>(std::toupper(c));
    EXPECT_EQ(info.environment, variable);
  }
}

TEST(Config, ReadsVariablesOverDefaults) {
  const Config config = from({"AQUEDUCT_SEGMENT_BYTES=64K", "AQUEDUCT_SPIN=5", "AQUEDUCT_NEAR=off",
                              "AQUEDUCT_HOST_ID=a=b", "HOME=/root", "AQUEDUCT"});
  EXPECT_TRUE(config.problems().empty());
  EXPECT_EQ(config.number("segment_bytes"), 65536);
  EXPECT_EQ(config.nanoseconds("spin"), 5000);
  EXPECT_FALSE(config.flag("near"));
  EXPECT_EQ(config.text("host_id"), "a=b");
  EXPECT_EQ(config.origin("spin"), SettingOrigin::environment);
  EXPECT_EQ(config.origin("yield"), SettingOrigin::built_in);
  EXPECT_EQ(config.nanoseconds("yield"), 1'000'000);
  EXPECT_EQ(config.text("log"), "warn");
}

TEST(Config, AnUnknownVariableIsAProblemThatNamesTheNearest) {
  const Config config = from({"AQUEDUCT_SEGMNT_BYTES=1M"});
  ASSERT_EQ(config.problems().size(), 1u);
  EXPECT_EQ(config.problems()[0].variable, "AQUEDUCT_SEGMNT_BYTES");
  EXPECT_EQ(config.problems()[0].text,
            "AQUEDUCT_SEGMNT_BYTES is not a setting; did you mean AQUEDUCT_SEGMENT_BYTES?");
}

// Whatever a job makes of the value: nobody wants to read 100 KB of it.
TEST(Config, OfALongTextLeavesMessagesThatCanBeRead) {
  int said = 0;
  for (const SettingInfo& info : Config().settings()) {
    if (info.type != SettingType::text) continue;
    Config config = from({"AQUEDUCT_CONDUIT=loop", "AQUEDUCT_SEGMENT_BYTES=64K", "AQUEDUCT_SMP_MEMORY=posix",
                          std::string(info.environment) + "=" + std::string(100'000, 'x')});
    testing::internal::CaptureStderr();
    if (auto job = Job::in_process(2, config)) static_cast<void>(job->finish());
    std::string text = testing::internal::GetCapturedStderr();
    for (const SettingProblem& problem : config.problems()) text += problem.text;
    EXPECT_LT(text.size(), 9000u) << info.name << ": " << text.substr(0, 9000);
    said += text.find(" bytes)") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(said, 3) << "messages that name the value";
}

TEST(Config, AnUnknownVariableLikeNoneSaysWhereToLook) {
  const Config config = from({"AQUEDUCT_COLOUR_OF_WATER=blue"});
  ASSERT_EQ(config.problems().size(), 1u);
  EXPECT_NE(config.problems()[0].text.find("aqinfo lists all"), std::string::npos);
}

TEST(Config, VariablesOfPluginsPassUnread) {
  EXPECT_TRUE(from({"AQUEDUCT_PLUGIN_ANYTHING=?"}).problems().empty());
}

// CMake, environment modules and package managers set them for any package.
TEST(Config, VariablesThatSayWhereAqueductIsPassUnread) {
  const Config config = from({"AQUEDUCT_ROOT=/opt/aqueduct", "AQUEDUCT_DIR=/opt/aqueduct/lib/cmake",
                              "AQUEDUCT_HOME=/opt/aqueduct", "AQUEDUCT_VERSION=1.2",
                              "AQUEDUCT_INCLUDE_DIR=/x", "AQUEDUCT_LIB=/y"});
  for (const SettingProblem& problem : config.problems()) ADD_FAILURE() << problem.text;
  for (const SettingInfo& info : config.settings()) {
    EXPECT_EQ(config.origin(info.name), SettingOrigin::built_in) << info.name << " is read no more";
    const std::string misspelt = std::string(info.environment) + "X";
    EXPECT_EQ(from({misspelt + "=1"}).problems().size(), 1u) << misspelt;
    EXPECT_EQ(from({std::string(info.environment) + "=" + std::string(info.default_value)}).origin(info.name),
              SettingOrigin::environment);
  }
  EXPECT_EQ(from({"AQUEDUCT_ROOTS=/opt/aqueduct"}).problems().size(), 1u);
  Config program;
  EXPECT_FALSE(program.set("AQUEDUCT_ROOT", "/opt/aqueduct"));
}

TEST(Config, ABadValueIsAProblemAndLeavesTheDefault) {
  const Config config = from({"AQUEDUCT_SEGMENTS=5000000", "AQUEDUCT_LOG=loud"});
  ASSERT_EQ(config.problems().size(), 2u);
  EXPECT_NE(config.problems()[0].text.find("AQUEDUCT_SEGMENTS=5000000"), std::string::npos);
  EXPECT_NE(config.problems()[0].text.find("2 to 1048576"), std::string::npos);
  EXPECT_EQ(config.number("segments"), 65536);
  EXPECT_EQ(config.origin("segments"), SettingOrigin::built_in);
  EXPECT_EQ(config.text("log"), "warn");
}

TEST(Config, IsSetByNameOrByVariable) {
  Config config;
  EXPECT_TRUE(config.set("segments", "3"));
  EXPECT_TRUE(config.set("AQUEDUCT_SIGNALS", "77"));
  EXPECT_EQ(config.number("segments"), 3);
  EXPECT_EQ(config.number("signals"), 77);
  EXPECT_EQ(config.origin("segments"), SettingOrigin::program);
}

TEST(Config, SetReturnsAndKeepsAProblem) {
  Config config;
  EXPECT_EQ(config.set("segments", "0").code(), ErrorCode::bad_setting);
  EXPECT_EQ(config.set("sgements", "1").code(), ErrorCode::bad_setting);
  ASSERT_EQ(config.problems().size(), 2u);
  EXPECT_EQ(config.problems()[1].text, "sgements is not a setting; did you mean segments?");
}

TEST(Config, AGoodValueTakesAwayTheProblemOfTheBadOneBefore) {
  Config config = from({"AQUEDUCT_SEGMENTS=0", "AQUEDUCT_SIGNALS=0"});
  EXPECT_EQ(config.problems().size(), 2u);
  EXPECT_TRUE(config.set("segments", "2"));
  ASSERT_EQ(config.problems().size(), 1u);
  EXPECT_EQ(config.problems()[0].variable, "AQUEDUCT_SIGNALS");
}

TEST(Config, ACopyIsIndependent) {
  Config first;
  Config second = first;
  EXPECT_TRUE(second.set("segments", "2"));
  EXPECT_EQ(first.number("segments"), 65536);
  EXPECT_EQ(second.number("segments"), 2);
}

TEST(Config, AConduitIsAutoOrOneThereIsOrAPath) {
  EXPECT_TRUE(from({"AQUEDUCT_CONDUIT=auto"}).problems().empty());
  EXPECT_TRUE(from({"AQUEDUCT_CONDUIT=./libmine.so"}).problems().empty());
  const Config config = from({"AQUEDUCT_CONDUIT=pigeon"});
  ASSERT_EQ(config.problems().size(), 1u);
  const std::string& text = config.problems()[0].text;
  EXPECT_EQ(text.find("AQUEDUCT_CONDUIT=pigeon: there is no such conduit; it may be auto"), 0u) << text;
  EXPECT_EQ(config.text("conduit"), "auto");
}

TEST(Config, AConduitLooksAtWhatItsOwnSettingsSay) {
  EXPECT_TRUE(from({"AQUEDUCT_UDP_FAULTS=loss=1%,seed=7"}).problems().empty());
  const Config config = from({"AQUEDUCT_UDP_FAULTS=los=1%"});
  ASSERT_EQ(config.problems().size(), 1u);
  EXPECT_EQ(config.problems()[0].variable, "AQUEDUCT_UDP_FAULTS");
  EXPECT_NE(config.problems()[0].text.find("there is no fault \"los\"; there are loss, "), std::string::npos)
      << config.problems()[0].text;
  EXPECT_EQ(config.text("udp_faults"), "");
}

TEST(Config, TimesCanBeAddedToAClock) {
  const Config config = from({"AQUEDUCT_STALL_WARN=9223372036854775807ns"});
  EXPECT_TRUE(config.problems().empty());
  constexpr std::int64_t kYear = std::int64_t{365} * 86'400 * 1'000'000'000;
  EXPECT_GT(config.nanoseconds("stall_warn"), 99 * kYear);
  EXPECT_LT(config.nanoseconds("stall_warn"), 101 * kYear);
}

// 0 is no "without limit": every start would fail at once.
TEST(Config, TheTimeoutOfAStartIsAMillisecondToAWeek) {
  for (const char* good : {"1ms", "60", "604800s"}) {
    EXPECT_TRUE(from({std::string("AQUEDUCT_BOOTSTRAP_TIMEOUT=") + good}).problems().empty()) << good;
  }
  for (const char* bad : {"0", "0s", "1ns", "999us", "604801s"}) {
    const Config config = from({std::string("AQUEDUCT_BOOTSTRAP_TIMEOUT=") + bad});
    ASSERT_EQ(config.problems().size(), 1u) << bad;
    EXPECT_NE(config.problems()[0].text.find("from 1ms to 604800s"), std::string::npos)
        << config.problems()[0].text;
  }
}

TEST(Config, ReadsTheEnvironmentOfThisProcess) {
  ASSERT_EQ(setenv("AQUEDUCT_PREPARED", "31", 1), 0);
  const Config config = Config::from_environment();
  ASSERT_EQ(unsetenv("AQUEDUCT_PREPARED"), 0);
  EXPECT_EQ(config.number("prepared"), 31);
  EXPECT_EQ(Config().number("prepared"), 16) << "plain construction ignores the environment";
}

}  // namespace
}  // namespace aqueduct
