#include <aqueduct/status.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace aqueduct {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return ErrorCode::invalid_argument;
  return number / 2;
}

TEST(Result, WithAValueIsTrueAndItsStatusIsOk) {
  const Result<int> result = half(8);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(*result, 4);
  EXPECT_TRUE(result.status());
}

TEST(Result, WithoutAValueSaysWhy) {
  const Result<int> result = half(7);
  EXPECT_FALSE(result);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(result.status().peer(), kNoRank);
}

TEST(Result, CarriesThePeerOfAFailure) {
  const Result<int> by_code(ErrorCode::peer_lost, 5);
  const Result<int> by_status(Status(ErrorCode::peer_lost, 5));
  EXPECT_EQ(by_code.status(), Status(ErrorCode::peer_lost, 5));
  EXPECT_EQ(by_status.status(), by_code.status());
}

TEST(Result, ValueOrTakesTheOtherOnlyWhenThereIsNone) {
  EXPECT_EQ(half(8).value_or(-1), 4);
  EXPECT_EQ(half(7).value_or(-1), -1);
}

TEST(Result, AValueLikeZeroOrFalseIsStillAValue) {
  EXPECT_TRUE(half(0));
  EXPECT_TRUE(Result<bool>(false));
  EXPECT_TRUE(Result<std::string>(std::string()));
}

TEST(Result, HoldsWhatCanOnlyBeMoved) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(9));
  ASSERT_TRUE(result);
  const std::unique_ptr<int> taken = *std::move(result);
  ASSERT_NE(taken, nullptr);
  EXPECT_EQ(*taken, 9);
}

TEST(Result, ReachesMembersAndChangesInPlace) {
  Result<std::string> result(std::string("aque"));
  result->append("duct");
  *result += "!";
  EXPECT_EQ(*result, "aqueduct!");
  EXPECT_EQ(std::as_const(result)->size(), 9u);
}

}  // namespace
}  // namespace aqueduct
