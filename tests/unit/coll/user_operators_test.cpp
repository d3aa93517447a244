#include "coll/engine/user_operators.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace aqueduct::coll {
namespace {

void keep_left(void* /*to*/, const void* /*left*/, const void* /*right*/, std::size_t /*count*/,
               void* /*context*/) {}
void keep_right(void* to, const void* left, const void* right, std::size_t count, void* context) {
  keep_left(to, right, left, count, context);
}

TEST(UserOperatorsTest, AreFoundByNumber) {
  UserOperators operators;
  int context = 0;
  EXPECT_EQ(operators.find(0), nullptr);
  EXPECT_TRUE(operators.add(0, {keep_left, nullptr, 8, false}));
  EXPECT_TRUE(operators.add(UINT32_MAX, {keep_right, &context, 24, true}));
  ASSERT_NE(operators.find(0), nullptr);
  EXPECT_EQ(operators.find(0)->combine, &keep_left);
  ASSERT_NE(operators.find(UINT32_MAX), nullptr);
  EXPECT_EQ(operators.find(UINT32_MAX)->combine, &keep_right);
  EXPECT_EQ(operators.find(UINT32_MAX)->context, &context);
  EXPECT_EQ(operators.find(UINT32_MAX)->element, 24u);
  EXPECT_TRUE(operators.find(UINT32_MAX)->commutative);
  EXPECT_EQ(operators.find(1), nullptr);
}

TEST(UserOperatorsTest, MustBeAbleToCombineSomething) {
  UserOperators operators;
  EXPECT_EQ(operators.add(1, {nullptr, nullptr, 8, false}).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(operators.add(1, {keep_left, nullptr, 0, false}).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(operators.find(1), nullptr);
}

TEST(UserOperatorsTest, CanBeAddedAgainButNotReplaced) {
  UserOperators operators;
  int context = 0;
  ASSERT_TRUE(operators.add(1, {keep_left, nullptr, 8, false}));
  const UserOperator* const first = operators.find(1);
  EXPECT_TRUE(operators.add(1, {keep_left, nullptr, 8, false}));
  const UserOperator others[] = {
      {keep_right, nullptr, 8, false},
      {keep_left, &context, 8, false},
      {keep_left, nullptr, 16, false},
      {keep_left, nullptr, 8, true},
  };
  for (const UserOperator& other : others) {
    EXPECT_EQ(operators.add(1, other).code(), ErrorCode::invalid_argument);
  }
  EXPECT_EQ(operators.find(1), first);
  EXPECT_EQ(first->combine, &keep_left);
}

// A plan keeps the pointer while the program adds more.
TEST(UserOperatorsTest, StayWhereTheyAre) {
  UserOperators operators;
  ASSERT_TRUE(operators.add(500, {keep_left, nullptr, 8, false}));
  const UserOperator* const found = operators.find(500);
  for (std::uint32_t number = 0; number < 1000; ++number) {
    ASSERT_TRUE(operators.add(number, {keep_left, nullptr, 8, false}));
  }
  EXPECT_EQ(operators.find(500), found);
}

}  // namespace
}  // namespace aqueduct::coll
