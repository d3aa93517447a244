// Which jobs a sweep of aqperf compares (requirements N-14, HB-02, HB-08), and what it makes of their figures. Without a clock.

#include "tools/aqperf/sweep/sweep_table.hpp"
#include "tools/aqperf/sweep/variants.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace aqueduct::perf {
namespace {

using Texts = std::vector<std::string>;

CommandLine swept(std::vector<const char*> words) {
  words.insert(words.begin(), "aqperf");
  return parse_command_line(static_cast<int>(words.size()), words.data());
}

Texts labels(std::vector<const char*> words) {
  const CommandLine line = swept(std::move(words));
  if (!line.options) return {line.message};
  Texts out;
  for (const Variant& variant : variants_of(*line.options)) out.push_back(variant.label);
  return out;
}

TEST(Sweep, DividesRanksInEveryWay) {
  EXPECT_EQ(labels({"coll-barrier", "--divide", "--ranks", "12"}),
            (Texts{"1x12", "2x6", "3x4", "4x3", "6x2", "12x1"}));
  EXPECT_EQ(labels({"coll-barrier", "--divide", "--ranks", "7"}), (Texts{"1x7", "7x1"}));
  const CommandLine line = swept({"coll-barrier", "--divide", "--ranks", "12"});
  for (const Variant& variant : variants_of(*line.options)) {
    EXPECT_EQ(variant.hosts * variant.each, 12u);
    EXPECT_TRUE(variant.threads);
  }
}

TEST(Sweep, DoublesHostsOfAsManyRanksEach) {
  EXPECT_EQ(labels({"coll-all-reduce", "--hosts", "1:4", "--ranks", "3"}), (Texts{"1x3", "2x3", "4x3"}));
  EXPECT_EQ(labels({"coll-all-reduce", "--hosts", "3", "--ranks", "2"}), (Texts{"3x2"}));
}

TEST(Sweep, HasTreesOfEveryRadixAndNone) {
  EXPECT_EQ(labels({"coll-broadcast", "--trees"}),
            (Texts{"mapped", "mapped-two-stage", "mapped-tree:radix=2", "mapped-tree:radix=3",
                   "mapped-tree:radix=4", "mapped-tree:radix=8", "mapped-tree:radix=16"}));
  EXPECT_EQ(labels({"coll-reduce", "--trees"}),
            (Texts{"flags-flat", "flags-tree:radix=2", "flags-tree:radix=3", "flags-tree:radix=4",
                   "flags-tree:radix=8", "flags-tree:radix=16"}));
}

TEST(Sweep, ForcesEachAlgorithmThatIsNamed) {
  const CommandLine line =
      swept({"coll-all-reduce", "--algorithm", "auto", "--algorithm", "flags-tree:radix=2,up=1,down=2"});
  ASSERT_TRUE(line.options) << line.message;
  const auto variants = variants_of(*line.options);
  ASSERT_EQ(variants.size(), 2u);
  EXPECT_EQ(variants[0].algorithm, "") << "the library's own choice";
  EXPECT_EQ(variants[1].algorithm, "flags-tree:radix=2,up=1,down=2");
  EXPECT_EQ(forcing_setting(line.options->bench), "AQUEDUCT_COLL_ALL_REDUCE");
}

TEST(Sweep, SaysWhatIsWrong) {
  const std::pair<std::vector<const char*>, const char*> wrong[] = {
      {{"barrier", "--divide"}, "are for coll-…, not for barrier"},
      {{"coll-scan", "--trees"}, "name algorithms with --algorithm"},
      {{"coll-scan", "--divide", "--hosts", "2"}, "give one of them"},
      {{"coll-scan", "--hosts", "0:4"}, "try --hosts 1:4"},
      {{"coll-scan", "--hosts", "four"}, "rising range like 1:4"},
      {{"coll-scan", "--hosts", "16", "--ranks", "17"}, "more than 256 ranks"},
      {{"coll-scan", "--divide", "--threads", "4"}, "give --ranks"},
      {{"coll-scan", "--divide", "--vs", "raw"}, "not for a sweep"},
      {{"coll-scan", "--divide", "--ranks", "1"}, "give --ranks 2 or more"}};
  for (const auto& [words, said] : wrong) {
    const CommandLine line = swept(words);
    EXPECT_FALSE(line.options) << said;
    EXPECT_EQ(line.exit_status, 2) << said;
    EXPECT_NE(line.message.find(said), std::string::npos) << line.message;
  }
}

// Time is that of a row: it is shared by the turns and variants.
TEST(Sweep, GivesEachJobItsPartOfTheTime) {
  const CommandLine line =
      swept({"coll-barrier", "--divide", "--ranks", "4", "--seconds", "6", "--repeat", "2", kPartOfSweep});
  ASSERT_TRUE(line.options) << line.message;
  EXPECT_DOUBLE_EQ(line.options->seconds.count(), 1.0);  // 1x4, 2x2 and 4x1, twice
  EXPECT_EQ(line.options->repeat, 1);
  EXPECT_TRUE(line.options->json);
}

TEST(SweepTables, HaveTheMedianOfTheTurnsAndTheRatioToTheFirst) {
  const std::vector<SweepSample> samples{{0, 8, 10, "a"},  {1, 8, 30, "b"}, {1, 8, 5, "b"},
                                         {0, 8, 12, "a"},  {0, 8, 90, "a"}, {1, 8, 6, "b"},
                                         {0, 16, 20, "a"}, {1, 16, 40, "c"}};
  const SweepTable table = tabulate(samples, 2, false);
  ASSERT_EQ(table.lines.size(), 2u);
  const SweepLine& first = table.lines[0];
  EXPECT_EQ(first.bytes, 8u);
  EXPECT_EQ(first.cells[0].turns, 3u);
  EXPECT_EQ(first.cells[0].median, 12);
  EXPECT_EQ(first.cells[0].least, 10);
  EXPECT_EQ(first.cells[0].most, 90);
  EXPECT_EQ(first.cells[0].ratio, 1);
  EXPECT_EQ(first.cells[1].median, 6);
  EXPECT_EQ(first.cells[1].ratio, 0.5);
  EXPECT_EQ(first.best, 1u);
  EXPECT_EQ(table.lines[1].best, 0u);
  EXPECT_EQ(table.lines[1].cells[1].algorithm, "c");
  // Ratios 0.5 and 2.
  EXPECT_DOUBLE_EQ(table.means[1].arithmetic, 1.25);
  EXPECT_DOUBLE_EQ(table.means[1].geometric, 1.0);
  EXPECT_EQ(table.best_counts, (std::vector<std::size_t>{1, 1}));
}

TEST(SweepTables, OfRatesTakeTheLargest) {
  const SweepTable table = tabulate({{0, 8, 10}, {1, 8, 30}, {2, 8, 30}}, 3, true);
  EXPECT_EQ(table.lines[0].best, 1u) << "the first of equals";
  EXPECT_EQ(table.lines[0].cells[2].ratio, 3);
}

TEST(SweepTables, KeepAPlaceForWhatWasNotMeasured) {
  const SweepTable table = tabulate({{1, 8, 10}}, 2, false);
  EXPECT_EQ(table.lines[0].cells[0].turns, 0u);
  EXPECT_EQ(table.lines[0].cells[1].ratio, 0);
  EXPECT_EQ(table.lines[0].best, 1u);
  EXPECT_EQ(table.means[1].sizes, 0u);
}

}  // namespace
}  // namespace aqueduct::perf
