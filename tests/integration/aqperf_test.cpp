#include "tests/integration/aqperf_run.hpp"

#include <cstdlib>

namespace {

using namespace aqperf_tests;

struct Case {
  const char* bench;
  const char* more;
  const char* unit;
  std::size_t rows;
  bool has_raw;
};

class EachBench : public testing::TestWithParam<Case> {};

TEST_P(EachBench, GivesRowsThatCanBeRead) {
  const Case& example = GetParam();
  const auto outcome = aqperf(std::string(example.bench) + " --json --seconds 0.05 --vs raw " + example.more);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto rows = rows_of(outcome);
  ASSERT_EQ(rows.size(), example.rows) << outcome.out;
  for (const auto& row : rows) {
    expect_sane(row);
    EXPECT_EQ(row["bench"], example.bench);
    EXPECT_EQ(row["unit"], example.unit);
    EXPECT_EQ(row.contains("raw"), example.has_raw) << row.dump();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Aqperf, EachBench,
    testing::Values(
        Case{"put-latency", "--bytes 8:64", "ns", 4, true}, Case{"get-latency", "--bytes 8", "ns", 1, true},
        Case{"put-bandwidth", "--bytes 4K:8K", "MB/s", 2, true},
        Case{"get-bandwidth", "--bytes 64K", "MB/s", 1, true}, Case{"put-rate", "", "M/s", 1, true},
        Case{"am-latency", "--bytes 0:1", "ns", 2, true}, Case{"am-rate", "", "M/s", 1, false},
        Case{"atomic-latency", "--op compare_swap", "ns", 1, true}, Case{"barrier", "", "ns", 1, true},
        Case{"word-put", "--conduit udp", "ns", 1, true}, Case{"word-get", "--memory outside", "ns", 1, true},
        Case{"coroutine-gets", "--conduit udp", "ns", 1, true},
        Case{"signal-latency", "--bytes 8", "ns", 1, true}, Case{"coll-barrier", "", "ns", 1, true},
        Case{"coll-broadcast", "--bytes 32:64", "ns", 2, true},
        Case{"coll-all-gather", "--bytes 1000 --single", "ns", 1, true},
        Case{"coll-all-reduce", "--bytes 8:16 --plan", "ns", 2, true},
        Case{"coll-scan", "--bytes 8 --in mine --out none", "ns", 1, true},
        Case{"start", "--repeat 2", "ms", 1, true}),
    [](const auto& info) {
      std::string name = info.param.bench;
      for (char& c : name) c = c == '-' ? '_' : c;
      return name;
    });

TEST(Aqperf, ComparesTransfersOfPieces) {
  const struct {
    const char* bench;
    const char* more;
    std::size_t rows;
  } each[] = {{"vis-nest", "--bytes 8:16", 8},
              {"vis-pieces", "--bytes 256:1K", 6},
              {"vis-gather", "", 1},
              {"vis-near", "--bytes 16", 1}};
  for (const auto& [bench, more, count] : each) {
    const auto outcome = aqperf(std::string(bench) + " --json --seconds 0.05 --vs raw " + more);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto rows = rows_of(outcome);
    ASSERT_EQ(rows.size(), count) << outcome.out;
    for (const auto& row : rows) {
      expect_sane(row);
      EXPECT_TRUE(row["bench"].get<std::string>().starts_with(bench)) << row.dump();
      EXPECT_TRUE(row.contains("ratio")) << row.dump();
    }
  }
}

TEST(Aqperf, MeasuresKernelsInMemory) {
  const auto outcome = aqperf("vis-kernels --json --bytes 512");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto rows = rows_of(outcome);
  EXPECT_GT(rows.size(), 50u);
  for (const auto& row : rows) {
    EXPECT_TRUE(row["bench"].get<std::string>().starts_with("vis-kernels")) << row.dump();
    EXPECT_GT(row["median"].get<double>(), 0) << row.dump();
  }
}

TEST(Aqperf, ComparesIdleWaitsWithOneInABarrier) {
  const auto outcome = aqperf("idle --json --seconds 0.05 --repeat 2");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto rows = rows_of(outcome);
  ASSERT_EQ(rows.size(), 4u) << outcome.out;
  for (const auto& row : rows) {
    expect_sane(row);
    EXPECT_EQ(row.contains("ratio"), row["bench"] != "idle-barrier") << row.dump();
  }
  EXPECT_EQ(aqperf("idle --threads 2").status, 2);
  const auto alone = aqperf("idle --ranks 1 --seconds 0.05");
  EXPECT_EQ(alone.status, 2);
  EXPECT_EQ(alone.out, "");
  EXPECT_NE(alone.err.find("idle needs two ranks"), std::string::npos) << alone.err;
}

TEST(Aqperf, RefusesATimeThatIsNoNumber) {
  const auto outcome = aqperf("idle --seconds nan");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("nan is not a number from 0.001 to 3600"), std::string::npos) << outcome.err;
}

TEST(Aqperf, MeasuresMoreRanksThanCores) {
  for (const char* bench : {"barrier", "am-latency"}) {
    const auto outcome = aqperf(std::string(bench) + " --ranks 5 --json --seconds 0.05 --vs raw");
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto rows = rows_of(outcome);
    ASSERT_EQ(rows.size(), 1u);
    expect_sane(rows.front());
    EXPECT_EQ(rows.front()["ranks"], 5);
  }
}

TEST(Aqperf, MeasuresMemoryThatTheCallerGave) {
  for (const char* bench : {"put-latency", "get-latency"}) {
    const auto outcome =
        aqperf(std::string(bench) + " --memory outside --bytes 64:128 --json --seconds 0.05");
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto rows = rows_of(outcome);
    ASSERT_EQ(rows.size(), 2u);
    for (const auto& row : rows) expect_sane(row);
  }
}

TEST(Aqperf, TellsTheLongestStallUnderLoad) {
  const auto outcome = aqperf("barrier --load --json --seconds 0.1");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto rows = rows_of(outcome);
  ASSERT_EQ(rows.size(), 1u);
  // The stall is in milliseconds and for a whole sample; the median is for one barrier, in nanoseconds.
  EXPECT_GE(rows.front()["longest_stall_ms"].get<double>() * 1e6, rows.front()["median"].get<double>());
}

TEST(Aqperf, PrintsATableForPeople) {
  const auto outcome = aqperf("barrier --seconds 0.05");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("# barrier over "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("median"), std::string::npos) << outcome.out;
}

TEST(Aqperf, SaysWhetherRatesAreSmoothOverSizes) {
  const std::string bench =
      "am-rate --bytes 8K:64K --seconds 0.05 --conduit udp";  // long messages for the larger sizes
  const auto table = aqperf(bench);
  ASSERT_EQ(table.status, 0) << table.err;
  EXPECT_NE(table.out.find("smooth: "), std::string::npos) << table.out;
  const auto json = aqperf(bench + " --json");
  ASSERT_EQ(json.status, 0) << json.err;
  EXPECT_EQ(rows_of(json).size(), 4u) << json.out;
  EXPECT_NE(json.err.find("smooth: "), std::string::npos) << json.err;
}

TEST(Aqperf, MeasuresTheConduitThatItIsAskedFor) {
  for (const char* start : {"", " --ranks 3", " --threads 2"}) {
    const auto outcome =
        aqperf("put-latency --bytes 8 --json --seconds 0.05 --conduit udp" + std::string(start));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto rows = rows_of(outcome);
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows.front()["conduit"], "udp") << start;
    const std::string said = "AQUEDUCT_NEAR=off is set, so that they use udp\n";
    const auto first = outcome.err.find(said);
    EXPECT_NE(first, std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find(said, first + 1), std::string::npos) << outcome.err;
  }
}

TEST(Aqperf, SaysSoIfWhoStartedTheJobWantsSharedMemory) {
  ::setenv("AQUEDUCT_NEAR", "on", 1);
  const auto outcome = aqperf("put-latency --bytes 8 --json --seconds 0.05 --conduit udp");
  ::unsetenv("AQUEDUCT_NEAR");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("measures smp, not udp"), std::string::npos) << outcome.err;
}

struct WrongBench {
  const char* arguments;
  const char* said;  // part of the message
};

class WrongUse : public testing::TestWithParam<WrongBench> {};

TEST_P(WrongUse, IsExplainedWithStatus2) {
  const auto outcome = aqperf(GetParam().arguments);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find(GetParam().said), std::string::npos) << outcome.err;
}

INSTANTIATE_TEST_SUITE_P(
    Aqperf, WrongUse,
    testing::Values(
        WrongBench{"", "BENCH"}, WrongBench{"put-latencies", "there is no benchmark 'put-latencies'"},
        WrongBench{"put-latency --bytes 1Q", "--bytes '1Q'"},
        WrongBench{"put-latency --bytes 8:4", "rising range"},
        WrongBench{"put-latency --bytes 0:8", "needs at least 1"},
        WrongBench{"barrier --bytes 8", "has no size"}, WrongBench{"put-latency --seconds 0", "--seconds"},
        WrongBench{"put-latency --vs mpi", "--vs"}, WrongBench{"put-latency --ranks 0", "--ranks"},
        WrongBench{"put-latency --no-such", "--no-such"},
        WrongBench{"am-latency --memory outside", "--memory outside"},
        WrongBench{"put-latency --peers 2", "--peers and --bidirectional are for"},
        WrongBench{"put-latency --window 5", "--window is for"},
        WrongBench{"put-latency --conduit zzz", "--conduit zzz: there is no such conduit; this build has"},
        WrongBench{"atomic-latency --op nand", "--op"},
        WrongBench{"barrier --op xor", "--op is for atomic-latency, not for barrier"},
        WrongBench{"start --threads 8", "--threads, --load, --guard and --statistics are not for start"},
        WrongBench{"start --load", "are not for start"}, WrongBench{"put-latency --plan", "are for coll-"},
        WrongBench{"barrier --vs puts", "try --vs raw"}, WrongBench{"coll-scan --bytes 12", "multiples of 8"},
        WrongBench{"coll-all-reduce --overlap --in-flight 2", "cannot be combined"},
        WrongBench{"coll-all-reduce --overlap --threads 2", "--ranks"},
        WrongBench{"coll-all-reduce --modified --in-flight 2", "cannot be combined"},
        WrongBench{"coll-all-reduce --modified --vs raw", "cannot be combined"},
        WrongBench{"coll-barrier --modified", "coll-barrier has none"},
        WrongBench{"barrier --modified", "are for coll-"},
        WrongBench{"put-bandwidth --threads 2 --ranks 2", "cannot be combined"}));

TEST(Aqperf, ListsItsBenchmarks) {
  const auto outcome = aqperf("--help");
  EXPECT_EQ(outcome.status, 0);
  for (const char* bench : {"put-latency", "am-rate", "signal-latency", "coll-all-reduce", "start"}) {
    EXPECT_NE(outcome.out.find(bench), std::string::npos) << bench;
  }
}

}  // namespace
