#include "core/log.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace aqueduct::core {
namespace {

Config with_level(std::string_view level) {
  Config config;
  EXPECT_TRUE(config.set("log", level));
  return config;
}

/// What `body` writes to standard error.
template <class F>
std::string written(F&& body) {
  testing::internal::CaptureStderr();
  body();
  return testing::internal::GetCapturedStderr();
}

TEST(Log, WritesTheRankTheLevelAndTheText) {
  const std::string text = written([] {
    Log log(with_level("warn"), 3);
    log.warn("{} of {} slots are left", 1, 64);
    log.error("rank {} is lost", 7);
  });
  EXPECT_EQ(text,
            "aqueduct: [rank 3] warn: 1 of 64 slots are left\n"
            "aqueduct: [rank 3] error: rank 7 is lost\n");
}

TEST(Log, OfNoRankNamesNone) {
  const std::string text = written([] { Log(with_level("info"), kNoRank).info("a job of 2"); });
  EXPECT_EQ(text, "aqueduct: info: a job of 2\n");
}

TEST(Log, WritesFromItsLevelUpwards) {
  const auto all = [](std::string_view level) {
    return written([&] {
      Log log(with_level(level), kNoRank);
      log.debug("d");
      log.info("i");
      log.warn("w");
      log.error("e");
    });
  };
  EXPECT_EQ(all("debug"), "aqueduct: debug: d\naqueduct: info: i\naqueduct: warn: w\naqueduct: error: e\n");
  EXPECT_EQ(all("warn"), "aqueduct: warn: w\naqueduct: error: e\n");
  EXPECT_EQ(all("error"), "aqueduct: error: e\n");
  EXPECT_EQ(all("off"), "");
}

TEST(Log, TellsBeforehandWhetherALevelIsWritten) {
  const Log log(with_level("info"), 0);
  EXPECT_FALSE(log.writes(LogLevel::debug));
  EXPECT_TRUE(log.writes(LogLevel::info));
  EXPECT_TRUE(log.writes(LogLevel::error));
}

TEST(Log, GivesEveryLineToTheSinkInstead) {
  std::vector<std::pair<LogLevel, std::string>> lines;
  const std::string text = written([&] {
    Log log(LogLevel::info, [&](LogLevel level, std::string_view line) { lines.emplace_back(level, line); });
    log.debug("below");
    log.info("a {}", "b");
    log.error("c");
  });
  EXPECT_EQ(text, "");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], std::pair(LogLevel::info, std::string("a b")));
  EXPECT_EQ(lines[1], std::pair(LogLevel::error, std::string("c")));
}

TEST(Log, BracesInAnArgumentAreText) {
  const std::string text = written([] { Log(with_level("warn"), 0).warn("{}", "{} %v {1}"); });
  EXPECT_EQ(text, "aqueduct: [rank 0] warn: {} %v {1}\n");
}

TEST(Log, CutsWhatNobodyReads) {
  const std::string text = written([] {
    Log log(with_level("warn"), 0);
    log.warn("{}: it cannot be read", "/" + std::string(130'000, 'x'));
    log.warn("'/{}'", std::string(4094, 'y'));  // the longest path
    log.warn("that is {}", std::string(4095, 'z') + "\u00fc" + std::string(200, 'z'));
  });
  EXPECT_EQ(text, "aqueduct: [rank 0] warn: /" + std::string(4095, 'x') +
                      "… (130002 bytes): it cannot be read\naqueduct: [rank 0] warn: '/" +
                      std::string(4094, 'y') + "'\naqueduct: [rank 0] warn: that is " +
                      std::string(4095, 'z') + "… (4297 bytes)\n");
  std::string words;
  for (int i = 0; i < 50'000; ++i) words += "ab ";
  const std::string page = written([&] { Log(with_level("warn"), 0).warn("{}", words); });
  EXPECT_LT(page.size(), 8300u);
  EXPECT_NE(page.find("… (150000 bytes)"), std::string::npos);
}

TEST(Log, KeepsTheBeginningOfAWordThatIsNotUtf8) {
  const std::string text = written([] { Log(with_level("warn"), 0).warn("{}", std::string(5000, '\x80')); });
  EXPECT_EQ(text, "aqueduct: [rank 0] warn: " + std::string(4096, '\x80') + "… (5000 bytes)\n");
}

TEST(Log, ThatWasMovedGoesOn) {
  const std::string text = written([] {
    Log first(with_level("warn"), 1);
    first.warn("one");
    Log second(std::move(first));
    second.warn("two");
  });
  EXPECT_EQ(text, "aqueduct: [rank 1] warn: one\naqueduct: [rank 1] warn: two\n");
}

TEST(Log, LinesOfSeveralThreadsStayWhole) {
  constexpr int kThreads = 4;
  constexpr int kLines = 50;
  const std::string text = written([] {
    Log log(with_level("warn"), 0);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&log] {
        for (int i = 0; i < kLines; ++i) log.warn("{}", std::string(100, 'x'));
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  const std::string line = "aqueduct: [rank 0] warn: " + std::string(100, 'x') + "\n";
  std::string expected;
  for (int i = 0; i < kThreads * kLines; ++i) expected += line;
  EXPECT_EQ(text, expected);
}

}  // namespace
}  // namespace aqueduct::core
