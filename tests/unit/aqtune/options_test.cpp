#include "tools/aqtune/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aqueduct::aqtune {
namespace {

using testing::ElementsAre;

TEST(TuneWords, NameOperations) {
  EXPECT_THAT(read_operations("broadcast,exscan"), ElementsAre(Collective::broadcast, Collective::exscan));
  EXPECT_EQ(read_operations("all").size(), 11u);
  for (const char* const wrong : {"", "barriers", "broadcast,", "permute", "all,scan"})
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
  const std::vector<ElementType> f64{ElementType::f64};
  EXPECT_NO_THROW(check_sizes({Collective::broadcast, Collective::all_to_all}, {7, 8}, f64));
  EXPECT_NO_THROW(check_sizes({Collective::reduce, Collective::exscan}, {8, 1024}, f64));
  EXPECT_THROW(check_sizes({Collective::broadcast, Collective::scan}, {8, 12}, f64), BadInput);
  EXPECT_NO_THROW(check_sizes({Collective::scan}, {8, 12}, {ElementType::u32}));
  EXPECT_THROW(check_sizes({Collective::scan}, {8, 12}, {ElementType::f32, ElementType::f64}), BadInput);
}

TEST(TuneWords, NameModes) {
  using Modes = std::pair<Sync, Sync>;
  EXPECT_THAT(read_syncs("all"), ElementsAre(Modes{Sync::all, Sync::all}));
  EXPECT_THAT(read_syncs("none,mine:all,none:none"),
              ElementsAre(Modes{Sync::none, Sync::none}, Modes{Sync::mine, Sync::all}));
  for (const char* const wrong : {"", "every", "all,", "all:", ":mine", "all:mine:none"})
    EXPECT_THROW(read_syncs(wrong), BadInput) << wrong;
}

TEST(TuneWords, NameTypesOfDifferentSizes) {
  EXPECT_THAT(read_types("f64,i32"), ElementsAre(ElementType::f64, ElementType::i32));
  for (const char* const wrong : {"", "f16", "f64,", "f64,i64", "u32,u32"})
    EXPECT_THROW(read_types(wrong), BadInput) << wrong;
}

TEST(TuneWays, AreAllModesAndForReductionsAllTypes) {
  Options options;
  options.operations = {Collective::broadcast, Collective::scan};
  options.syncs = read_syncs("all,none:mine");
  options.types = read_types("f64,f32");
  const auto ways = ways_of(options);
  ASSERT_EQ(ways.size(), 4u);
  EXPECT_EQ(ways[0].second, options.operations);
  EXPECT_EQ(ways[1].first.type, ElementType::f32);
  EXPECT_THAT(ways[1].second, ElementsAre(Collective::scan));
  EXPECT_EQ(ways[3].first.sync, (std::pair{Sync::none, Sync::mine}));
  options.operations = {Collective::gather};
  EXPECT_EQ(ways_of(options).size(), 2u) << "nothing for the second type";
  options.operations = {Collective::barrier};
  EXPECT_EQ(ways_of(options).size(), 1u) << "a barrier has neither modes nor elements";
}

}  // namespace
}  // namespace aqueduct::aqtune
