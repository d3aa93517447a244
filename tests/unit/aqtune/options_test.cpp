#include "tools/aqtune/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aqueduct::aqtune {
namespace {

using testing::ElementsAre;

TEST(TuneWords, NameOperations) {
  EXPECT_THAT(read_operations("broadcast,exscan"), ElementsAre(Collective::broadcast, Collective::exscan));
  EXPECT_EQ(read_operations("all").size(), 10u);
  for (const char* const wrong : {"", "barrier", "broadcast,", "permute", "all,scan"})
    EXPECT_THROW(read_operations(wrong), BadInput) << wrong;
}

TEST(TuneWords, NameSizes) {
  EXPECT_THAT(read_sizes("8:1K"), ElementsAre(8u, 32u, 128u, 512u, 1024u));
  EXPECT_THAT(read_sizes("8,1K,3M"), ElementsAre(8u, 1024u, 3u << 20));
  EXPECT_THAT(read_sizes("64"), ElementsAre(64u));
  for (const char* const wrong : {"", "0", "1K:8", "8:", "x", "8,,8", "1T"})
    EXPECT_THROW(read_sizes(wrong), BadInput) << wrong;
}

TEST(TuneWords, RefuseSizesThatAReductionCannotHave) {
  EXPECT_NO_THROW(check_sizes({Collective::broadcast, Collective::all_to_all}, {7, 8}));
  EXPECT_NO_THROW(check_sizes({Collective::reduce, Collective::exscan}, {8, 1024}));
  EXPECT_THROW(check_sizes({Collective::broadcast, Collective::scan}, {8, 12}), BadInput);
}

}  // namespace
}  // namespace aqueduct::aqtune
