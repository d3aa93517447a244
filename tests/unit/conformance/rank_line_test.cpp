// What ranks tell the kit through a launcher's output.

#include "tests/conformance/rank_line.hpp"

#include <gtest/gtest.h>

#include <climits>

namespace aqueduct::conformance {
namespace {

using Kind = RankLine::Kind;

TEST(RankLine, ArrivesAsItWasWrittenAlsoBehindALabel) {
  const RankLine sent{Kind::failed, {"/a folder/put_test.cpp", 42, "two  lines\r\nand a \\n, ä"}, 3};
  const std::string line = format_line(sent);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  for (const std::string& label : {std::string(), std::string("[3] "), std::string("1: ")}) {
    const auto got = parse_line(label + line);
    ASSERT_TRUE(got) << label + line;
    EXPECT_EQ(got->kind, sent.kind);
    EXPECT_EQ(got->rank, 3u);
    EXPECT_EQ(got->report.file, sent.report.file);
    EXPECT_EQ(got->report.line, 42);
    EXPECT_EQ(got->report.text, sent.report.text);
  }
}

TEST(RankLine, WithoutPlaceOrTextArrivesToo) {
  const auto got = parse_line(format_line({Kind::ended, {}, 7}));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->kind, Kind::ended);
  EXPECT_EQ(got->rank, 7u);
  EXPECT_EQ(got->report.file + got->report.text, "");
}

TEST(RankLine, FitsIntoAPipeAndIsCutBetweenCharactersOfItsEscapes) {
  for (std::size_t bytes = PIPE_BUF / 2 - 100; bytes < PIPE_BUF / 2 + 100; ++bytes) {
    const std::string line =
        format_line({Kind::failed, {std::string(9000, ' '), 1, std::string(bytes, '\n')}, 0});
    EXPECT_LE(line.size(), std::size_t{PIPE_BUF});
    const auto got = parse_line(line);
    ASSERT_TRUE(got) << bytes;
    EXPECT_EQ(got->report.text, std::string(got->report.text.size(), '\n'));
    EXPECT_GT(got->report.text.size(), 1000u);
  }
}

TEST(RankLine, IsNotMadeOfOtherOutput) {
  for (const char* other : {"", "hello", "@aqconform", "@aqconform ", "@aqconform late 1 2 f t",
                            "@aqconform failed x 2 f t", "@aqconform failed 1 2x f t", "@aqconform failed 1",
                            "@aqconform failed 1 2 f \\", "@aqconform failed 1 2 \\x t"}) {
    EXPECT_FALSE(parse_line(other)) << other;
  }
}

}  // namespace
}  // namespace aqueduct::conformance
