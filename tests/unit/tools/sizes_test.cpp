#include "tools/sizes.hpp"

#include <gtest/gtest.h>

namespace aqueduct::tools {
namespace {

TEST(Sizes, AreNumbersWithOrWithoutAUnit) {
  EXPECT_EQ(read_size("0"), 0u);
  EXPECT_EQ(read_size("8"), 8u);
  EXPECT_EQ(read_size("4K"), 4096u);
  EXPECT_EQ(read_size("4k"), 4096u);
  EXPECT_EQ(read_size("3M"), std::uint64_t{3} << 20);
  EXPECT_EQ(read_size("1g"), std::uint64_t{1} << 30);
  EXPECT_EQ(read_size("2T"), std::uint64_t{2} << 40);
}

TEST(Sizes, OtherTextsAreNone) {
  for (const char* text : {"", "K", "-1", "+1", " 1", "1 ", "1KB", "1KK", "1P", "1.5K", "0x10"}) {
    EXPECT_EQ(read_size(text), std::nullopt) << text;
  }
}

TEST(Sizes, EndWhere64BitsEnd) {
  EXPECT_EQ(read_size("18446744073709551615"), ~std::uint64_t{0});
  EXPECT_EQ(read_size("18446744073709551616"), std::nullopt);
  EXPECT_EQ(read_size("16777215T"), std::uint64_t{16777215} << 40);
  EXPECT_EQ(read_size("16777216T"), std::nullopt);
}

}  // namespace
}  // namespace aqueduct::tools
