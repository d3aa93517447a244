// aqperf's benchmarks of collective operations, its sweeps over jobs, and its small applications.

#include "tests/integration/aqperf_run.hpp"

namespace {

using namespace aqperf_tests;

TEST(Aqperf, ComparesCollectiveCallsWithPutsOverTheSameEdges) {
  for (const char* bench : {"coll-broadcast --bytes 8", "coll-broadcast --bytes 64K --conduit udp --ranks 3",
                            "coll-all-gather --bytes 4K --ranks 3", "coll-barrier --conduit udp --ranks 3",
                            "coll-all-reduce --bytes 1M --single"}) {
    const auto outcome = aqperf(std::string(bench) + " --json --seconds 0.05 --vs puts");
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto rows = rows_of(outcome);
    ASSERT_EQ(rows.size(), 1u) << outcome.out;
    expect_sane(rows.front());
    EXPECT_TRUE(rows.front().contains("ratio")) << rows.front().dump();
    EXPECT_TRUE(rows.front().contains("algorithm")) << rows.front().dump();
    EXPECT_GT(rows.front()["depth"], 0) << rows.front().dump();
  }
}

// Requirement HB-01: buffers that their owners have just written.
TEST(Aqperf, MeasuresCollectiveCallsOnBuffersInTheModifiedState) {
  for (const char* bench : {"coll-broadcast --bytes 64:128", "coll-all-reduce --bytes 8:16 --single --plan",
                            "coll-scatter --bytes 64K:128K --ranks 3", "coll-gather --bytes 8:16 --threads 2",
                            "coll-all-to-all --bytes 1K:2K --conduit udp"}) {
    const auto outcome = aqperf(std::string(bench) + " --modified --json --seconds 0.05");
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto rows = rows_of(outcome);
    ASSERT_EQ(rows.size(), 2u) << outcome.out;
    for (const auto& row : rows) expect_sane(row);
  }
}

// Issue 19: lines moved, and how often a rank runs for a call.
TEST(Aqperf, SaysHowManyLinesACollectiveCallMovesAndHowOftenARankRuns) {
  const auto outcome = aqperf("coll-all-reduce --ranks 4 --bytes 8 --json --seconds 0.05");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto rows = rows_of(outcome);
  ASSERT_EQ(rows.size(), 1u) << outcome.out;
  EXPECT_GE(rows.front()["runs"], 0) << rows.front().dump();
  ASSERT_TRUE(rows.front().contains("lines")) << rows.front().dump();
  // Four members of one host, whatever the algorithm: each has at least to hear of the others once.
  EXPECT_GE(rows.front()["lines"], 3) << rows.front().dump();
}

TEST(Aqperf, ComparesCollectiveCallsInFlightWithOneAfterTheOther) {
  for (const char* more : {"", " --plan"}) {
    const auto outcome =
        aqperf("coll-all-reduce --bytes 8 --in-flight 4 --json --seconds 0.05" + std::string(more));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto rows = rows_of(outcome);
    ASSERT_EQ(rows.size(), 1u) << outcome.out;
    expect_sane(rows.front());
    EXPECT_EQ(rows.front()["unit"], "M/s");
    EXPECT_GT(rows.front()["ratio_single"], 0) << rows.front().dump();
  }
}

TEST(Aqperf, MeasuresACollectiveCallBesideComputing) {
  const auto outcome = aqperf("coll-all-reduce --bytes 64K --overlap --conduit udp --json --seconds 0.2");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto rows = rows_of(outcome);
  ASSERT_EQ(rows.size(), 1u) << outcome.out;
  expect_sane(rows.front());
  for (const char* figure : {"processor_ms", "beside_work", "raw_communication", "raw_computing"})
    EXPECT_GT(rows.front()[figure], 0) << figure << ": " << rows.front().dump();
  EXPECT_TRUE(rows.front().contains("hidden")) << rows.front().dump();
}

TEST(Aqperf, EndsATableOfCollectivesWithBothMeans) {
  const auto table = aqperf("coll-barrier --seconds 0.05 --vs raw");
  ASSERT_EQ(table.status, 0) << table.err;
  EXPECT_EQ(table.out.find("geometric mean"), std::string::npos) << "of one size: " << table.out;
  const auto json = aqperf("coll-broadcast --seconds 0.05 --vs raw --json --bytes 8:32");
  ASSERT_EQ(json.status, 0) << json.err;
  EXPECT_EQ(rows_of(json).size(), 3u) << json.out;
  EXPECT_NE(json.err.find("median / raw over 3 sizes: arithmetic mean "), std::string::npos) << json.err;
}

TEST(Aqperf, ComparesEveryDivisionIntoHosts) {
  const auto outcome =
      aqperf("coll-all-reduce --divide --ranks 4 --conduit udp --bytes 8:16 --seconds 0.1 --repeat 1 --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto rows = rows_of(outcome);
  ASSERT_EQ(rows.size(), 6u) << outcome.out;  // two sizes, three divisions
  const char* const divisions[] = {"1x4", "2x2", "4x1"};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    SCOPED_TRACE(rows[i].dump());
    EXPECT_EQ(rows[i]["variant"], divisions[i % 3]);
    EXPECT_EQ(rows[i]["ranks"], 4);
    EXPECT_EQ(rows[i]["conduit"], i % 3 == 2 ? "udp" : "smp") << "between ranks 0 and 1";
    EXPECT_GT(rows[i]["median"], 0);
    EXPECT_NEAR(rows[i]["ratio"], rows[i]["median"].get<double>() / rows[i - i % 3]["median"].get<double>(),
                1e-6);
  }
  EXPECT_NE(outcome.err.find("best of 2 sizes: "), std::string::npos) << outcome.err;
}

TEST(Aqperf, ComparesHostsOfAsManyRanksEach) {
  const auto outcome =
      aqperf("coll-barrier --hosts 1:2 --ranks 2 --conduit udp --seconds 0.05 --repeat 1 --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto rows = rows_of(outcome);
  ASSERT_EQ(rows.size(), 2u) << outcome.out;
  EXPECT_EQ(rows[0]["ranks"], 2);
  EXPECT_EQ(rows[1]["ranks"], 4);
  EXPECT_EQ(rows[1]["hosts"], 2);
}

TEST(Aqperf, ComparesTreesOfEveryRadix) {
  const auto outcome = aqperf("coll-broadcast --trees --ranks 3 --bytes 32K --seconds 0.1 --repeat 1 --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto rows = rows_of(outcome);
  ASSERT_EQ(rows.size(), 7u) << outcome.out;
  for (const auto& row : rows) EXPECT_EQ(row["algorithm"], row["variant"]) << "it is what was forced";
}

TEST(Aqperf, NamesTheJobOfASweepThatFails) {
  const auto outcome =
      aqperf("coll-reduce --algorithm auto --algorithm no-such --bytes 8 --seconds 0.05 --repeat 1");
  EXPECT_NE(outcome.status, 0);
  EXPECT_NE(outcome.err.find("aqperf: no-such: "), std::string::npos) << outcome.err;
}

TEST(Aqperf, TimesCollectivesInsideApplications) {
  for (const auto& [arguments, extra] :
       {std::pair{"matrix-vector --size 100", "rows"}, std::pair{"tree-building --size 4K", "rounds"}}) {
    const auto outcome = aqperf(std::string(arguments) + " --ranks 3 --seconds 0.05 --json");
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto rows = rows_of(outcome);
    ASSERT_EQ(rows.size(), 1u) << outcome.out;
    expect_sane(rows[0]);
    EXPECT_GT(rows[0]["share"], 0);
    EXPECT_LE(rows[0]["share"], 1);
    EXPECT_GE(rows[0]["total"], rows[0]["p01"]);
    EXPECT_GT(rows[0][extra], 1);
  }
  for (const char* const wrong :
       {"matrix-vector --size 0", "tree-building --size many", "barrier --size 8"}) {
    const auto outcome = aqperf(wrong);
    EXPECT_EQ(outcome.status, 2) << wrong;
    EXPECT_NE(outcome.err.find("--size"), std::string::npos) << outcome.err;
  }
}

}  // namespace
