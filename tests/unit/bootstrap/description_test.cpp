#include "bootstrap/client.hpp"
#include "bootstrap/description.hpp"

#include <gtest/gtest.h>

namespace aqueduct::bootstrap {
namespace {

using namespace std::chrono_literals;

TEST(Description, ComesBackAsItWas) {
  const Description about{5, 2, 8, 13426435461218041866u};
  EXPECT_EQ(format_description(about), "fd:5,process:2,processes:8,job:13426435461218041866");
  EXPECT_EQ(parse_description(format_description(about)), about);
  EXPECT_EQ(parse_description("job:1,processes:1,process:0,fd:0"), (Description{0, 0, 1, 1}));
}

class Unreadable : public testing::TestWithParam<const char*> {};

TEST_P(Unreadable, IsABadSettingThatNamesTheVariable) {
  EXPECT_FALSE(parse_description(GetParam()));
  std::string why;
  const auto client = from_launcher(GetParam(), 1s, [&why](std::string_view text) { why = text; });
  EXPECT_EQ(client.status().code(), ErrorCode::bad_setting);
  EXPECT_NE(why.find("AQUEDUCT_BOOTSTRAP"), std::string::npos) << why;
}

INSTANTIATE_TEST_SUITE_P(
    Description, Unreadable,
    testing::Values("", "fd:5", "fd:5,process:0,processes:1", "fd:5,process:1,processes:1,job:1",
                    "fd:-1,process:0,processes:1,job:1", "fd:5x,process:0,processes:1,job:1",
                    "fd:5,fd:5,process:0,processes:1,job:1", "fd:5,process:0,processes:1,job:1,more:1",
                    "fd:,process:0,processes:1,job:1", "fd:5,process:0,processes:99999999999,job:1",
                    "fd:5,process:0,processes:4294967295,job:1", "fd=5,process=0,processes=1,job=1"));

TEST(Description, OfADescriptorThatIsNoSocketIsRefused) {
  std::string why;
  const auto client = from_launcher("fd:987654,process:0,processes:1,job:1", 1s,
                                    [&why](std::string_view text) { why = text; });
  EXPECT_EQ(client.status().code(), ErrorCode::bootstrap_failed);
  EXPECT_NE(why.find("987654"), std::string::npos) << why;
}

}  // namespace
}  // namespace aqueduct::bootstrap
