#include <aqueduct/status.hpp>

#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>

namespace aqueduct {
namespace {

TEST(Errors, AreListedInTheOrderOfTheirNumbersUpToTheLast) {
  std::size_t number = 0;
  for (const ErrorInfo& info : errors()) {
    EXPECT_EQ(static_cast<std::size_t>(info.code), number++) << info.name;
  }
  EXPECT_EQ(number, static_cast<std::size_t>(ErrorCode::internal) + 1);
}

TEST(Errors, HaveEachANameOfTheirOwnAMeaningAndAnAdvice) {
  std::set<std::string_view> names;
  for (const ErrorInfo& info : errors()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.meaning.empty()) << info.name;
    EXPECT_FALSE(info.advice.empty()) << info.name;
    EXPECT_NE(info.meaning.back(), '.') << info.name << ": text() joins it with the advice";
    for (const char c : info.name) EXPECT_TRUE(std::islower(c) || c == '_') << info.name;
  }
}

TEST(Errors, DescribeFindsTheEntryOfACode) {
  EXPECT_EQ(describe(ErrorCode::ok).name, "ok");
  EXPECT_EQ(describe(ErrorCode::peer_lost).name, "peer_lost");
  EXPECT_EQ(describe(ErrorCode::internal).name, "internal");
}

TEST(Errors, ANumberThatIsNoCodeIsAnInternalError) {
  const auto past = static_cast<ErrorCode>(static_cast<int>(ErrorCode::internal) + 1);
  EXPECT_EQ(describe(past).code, ErrorCode::internal);
  EXPECT_EQ(describe(static_cast<ErrorCode>(65535)).code, ErrorCode::internal);
}

TEST(Status, OfSuccessIsTrueAndEndsAProgramWithZero) {
  const Status status;
  EXPECT_TRUE(status);
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.text(), "ok");
  EXPECT_EQ(status.exit_code(), 0);
  EXPECT_EQ(status.peer(), kNoRank);
}

TEST(Status, TextNamesTheCodeThePeerTheMeaningAndTheAdvice) {
  const std::string text = Status(ErrorCode::peer_lost, 3).text();
  const ErrorInfo& info = describe(ErrorCode::peer_lost);
  EXPECT_EQ(text.find("peer_lost (rank 3): "), 0u) << text;
  EXPECT_NE(text.find(info.meaning), std::string::npos) << text;
  EXPECT_NE(text.find(info.advice), std::string::npos) << text;
}

TEST(Status, TextWithoutAPeerNamesNoRank) {
  const std::string text = Status(ErrorCode::no_space).text();
  EXPECT_EQ(text.find("no_space: "), 0u) << text;
  EXPECT_EQ(text.find("rank 4294967295"), std::string::npos) << text;
}

TEST(Status, ExitCodesOfFailuresAreDistinctAndFitAByte) {
  std::set<int> seen;
  for (const ErrorInfo& info : errors()) {
    const int code = Status(info.code).exit_code();
    EXPECT_TRUE(seen.insert(code).second) << info.name;
    EXPECT_LE(code, 125) << info.name << ": shells use 126 and above themselves";
    EXPECT_EQ(code == 0, info.code == ErrorCode::ok) << info.name;
  }
}

TEST(Status, IsEqualByCodeAndPeer) {
  EXPECT_EQ(Status(ErrorCode::peer_lost, 3), Status(ErrorCode::peer_lost, 3));
  EXPECT_NE(Status(ErrorCode::peer_lost, 3), Status(ErrorCode::peer_lost, 4));
  EXPECT_NE(Status(ErrorCode::peer_lost, 3), Status(ErrorCode::timed_out, 3));
}

}  // namespace
}  // namespace aqueduct
