#include "core/nearest_name.hpp"
#include "core/settings.hpp"
#include "runtime/layers.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>

namespace aqueduct::core {
namespace {

constexpr SettingInfo kNumber{"slots", "AQUEDUCT_SLOTS", SettingType::number, "", "16", "Slots.", 4, 64};
constexpr SettingInfo kBytes{"ring", "AQUEDUCT_RING", SettingType::bytes, "bytes", "64K", "Ring.",
                             4096,   1 << 20};
constexpr SettingInfo kTime{"pause", "AQUEDUCT_PAUSE", SettingType::duration, "ms", "20ms", "Pause."};
constexpr SettingInfo kTruth{"pin", "AQUEDUCT_PIN", SettingType::boolean, "", "on", "Pin."};
constexpr SettingInfo kChoice{"log", "AQUEDUCT_LOG",   SettingType::choice, "", "warn", "Log.", 0,
                              0,     "debug|info|warn"};
constexpr SettingInfo kText{"name", "AQUEDUCT_NAME", SettingType::text, "", "", "Name."};

SettingInfo unlimited(SettingInfo info) {
  info.least = INT64_MIN;
  info.most = INT64_MAX;
  return info;
}

/// Expects a problem that names the variable, the value, and `why`.
void expect_problem(const SettingInfo& info, std::string_view value, std::string_view why) {
  const SettingValue read = read_setting(info, value);
  const std::string start = std::string(info.environment) + "=" + std::string(value) + ": ";
  EXPECT_EQ(read.problem.find(start), 0u) << read.problem;
  EXPECT_NE(read.problem.find(why), std::string::npos) << value << ": " << read.problem;
}

void expect_number(const SettingInfo& info, std::string_view value, std::int64_t number) {
  const SettingValue read = read_setting(info, value);
  EXPECT_EQ(read.problem, "") << value;
  EXPECT_EQ(read.number, number) << value;
}

TEST(ReadSetting, TakesNumbersOnBothLimits) {
  expect_number(kNumber, "4", 4);
  expect_number(kNumber, "64", 64);
  expect_problem(kNumber, "3", "too small; it may be a whole number from 4 to 64 (default 16)");
  expect_problem(kNumber, "65", "too large; it may be a whole number from 4 to 64");
}

TEST(ReadSetting, RefusesWhatIsNotAWholeNumber) {
  for (const char* value : {"many", "16 ", " 16", "16.5", "0x10", "+16", "16K", "-", "1e2"}) {
    expect_problem(kNumber, value, "cannot be read");
  }
  expect_problem(kNumber, "", "this is empty");
  expect_problem(kNumber, "-1", "too small");
}

TEST(ReadSetting, NumbersBeyondSixtyFourBitsAreTooLargeOrTooSmall) {
  const SettingInfo any = unlimited(kNumber);
  expect_number(any, "9223372036854775807", INT64_MAX);
  expect_number(any, "-9223372036854775808", INT64_MIN);
  expect_problem(any, "9223372036854775808", "too large");
  expect_problem(any, "-9223372036854775809", "too small");
}

TEST(ReadSetting, TakesBytesWithPowersOf1024) {
  const SettingInfo any = unlimited(kBytes);
  expect_number(any, "0", 0);
  expect_number(any, "12", 12);
  expect_number(any, "3K", 3 << 10);
  expect_number(any, "3m", 3 << 20);
  expect_number(any, "3G", 3LL << 30);
  expect_number(any, "3T", 3LL << 40);
  expect_number(any, "8388607T", 8388607LL << 40);
  expect_problem(any, "8388608T", "too large");
  for (const char* value : {"K", "3 K", "3KB", "3KiB", "3P", "1.5G"}) {
    expect_problem(any, value, "cannot be read");
  }
}

TEST(ReadSetting, SaysTheLimitsOfBytesAsAUserWritesThem) {
  expect_number(kBytes, "4K", 4096);
  expect_number(kBytes, "1M", 1 << 20);
  expect_problem(kBytes, "4095", "from 4K to 1M (default 64K)");
  expect_problem(kBytes, "1048577", "too large");
}

TEST(ReadSetting, TakesDurationsInNanosecondsWhateverTheirUnit) {
  expect_number(kTime, "7ns", 7);
  expect_number(kTime, "7us", 7'000);
  expect_number(kTime, "7ms", 7'000'000);
  expect_number(kTime, "7s", 7'000'000'000);
  expect_number(kTime, "7", 7'000'000);  // the setting's own unit
  expect_number(kTime, "0", 0);
  expect_problem(kTime, "-1s", "too small");
  expect_problem(kTime, "9223372037s", "too large");
  for (const char* value : {"7m", "7 s", "s", "1.5s", "soon"}) {
    expect_problem(
        kTime, value,
        "cannot be read; it may be a whole number of ns, us, ms or s (ms if it has none), such as 20ms");
  }
}

TEST(ReadSetting, KeepsDurationsWithinTheirLimits) {
  SettingInfo limited = kTime;
  limited.least = 10'000'000;
  limited.most = 2'000'000'000;
  expect_number(limited, "10ms", 10'000'000);
  expect_number(limited, "2s", 2'000'000'000);
  expect_problem(limited, "9ms", "too small");
  expect_problem(limited, "2001ms", "from 10ms to 2s");
}

TEST(ReadSetting, TakesTruthInFourPairsOfWords) {
  for (const char* value : {"on", "yes", "true", "1"}) {
    expect_number(kTruth, value, 1);
    EXPECT_EQ(read_setting(kTruth, value).text, "on");
  }
  for (const char* value : {"off", "no", "false", "0"}) {
    expect_number(kTruth, value, 0);
    EXPECT_EQ(read_setting(kTruth, value).text, "off");
  }
  expect_problem(kTruth, "maybe", "it may be on or off");
  expect_problem(kTruth, "", "this is empty");
}

TEST(ReadSetting, TakesAChoiceByItsWord) {
  expect_number(kChoice, "debug", 0);
  expect_number(kChoice, "warn", 2);
  EXPECT_EQ(read_setting(kChoice, "info").text, "info");
  expect_problem(kChoice, "wran", "it may be one of debug, info, warn (default warn); did you mean warn?");
  expect_problem(kChoice, "debug|info", "no such choice");
  expect_problem(kChoice, "inf", "did you mean info?");
  EXPECT_EQ(read_setting(kChoice, "everything").problem.find("did you mean"), std::string::npos);
}

TEST(ReadSetting, TakesAnyText) {
  EXPECT_EQ(read_setting(kText, "").problem, "");
  EXPECT_EQ(read_setting(kText, "a = b").text, "a = b");
}

TEST(ReadSetting, ShowsAStrangeValueOnOneShortLine) {
  const std::string problem = read_setting(kNumber, "1\n\x1b[31m" + std::string(5000, '9')).problem;
  EXPECT_EQ(problem.find_first_of("\n\x1b"), std::string::npos);
  EXPECT_LT(problem.size(), 200u);
}

std::string_view nearest(std::string_view word) {
  NearestName best(word);
  for (const std::string_view name : {"segments", "segment_bytes", "signals", "spin"}) best.offer(name);
  return best.name();
}

TEST(NearestName, FindsASlipOfTheHand) {
  EXPECT_EQ(nearest("segmnt_bytes"), "segment_bytes");    // a letter forgotten
  EXPECT_EQ(nearest("segment_bytess"), "segment_bytes");  // one too many
  EXPECT_EQ(nearest("sgement_bytes"), "segment_bytes");   // two swapped
  EXPECT_EQ(nearest("zignals"), "signals");               // one replaced
  EXPECT_EQ(nearest("SEGMENT_BYTES"), "segment_bytes");
  EXPECT_EQ(nearest("segment"), "segments");
  EXPECT_EQ(nearest("spni"), "spin");
}

TEST(NearestName, FindsNothingForAnotherWord) {
  EXPECT_EQ(nearest("colour"), "");
  EXPECT_EQ(nearest(""), "");
  EXPECT_EQ(nearest("x"), "");
  EXPECT_EQ(nearest(std::string(100'000, 'x')), "");
}

TEST(CoreSettings, HaveGoodDefaultsAndAHelpThatIsASentence) {
  for (const SettingInfo& info : runtime::layer_settings()) {
    EXPECT_EQ(read_setting(info, info.default_value).problem, "") << info.name;
    ASSERT_FALSE(info.help.empty()) << info.name;
    EXPECT_EQ(info.help.back(), '.') << info.name;
    EXPECT_TRUE(std::isupper(info.help.front())) << info.name;
  }
}

TEST(CoreSettings, AreTheOnesThatThePublicHeadersSpeakOf) {
  std::set<std::string_view> names;
  for (const SettingInfo& info : runtime::layer_settings()) names.insert(info.name);
  for (const char* name : {"conduit", "segment_bytes", "segments", "signals", "endpoints", "stall_warn"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

}  // namespace
}  // namespace aqueduct::core
