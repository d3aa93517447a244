#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

// Calls aqperf as a user does. The tests do not judge figures, only that there
// are figures and that they are consistent.

namespace {

struct PerfRun {
  int status = -1;  // exit status; 128 + signal if it was killed
  std::string out;
  std::string err;
};

std::string contents(std::FILE* file) {
  std::string text;
  std::rewind(file);
  std::array<char, 4096> block{};
  for (std::size_t got; (got = std::fread(block.data(), 1, block.size(), file)) > 0;)
    text.append(block.data(), got);
  std::fclose(file);
  return text;
}

/// Runs aqperf with these arguments. After a minute it is killed, and the test fails.
PerfRun aqperf(const std::string& arguments) {
  std::vector<std::string> words{AQUEDUCT_BIN_DIR "/aqperf"};
  std::istringstream in(arguments);
  for (std::string word; in >> word;) words.push_back(word);
  std::FILE* out = std::tmpfile();
  std::FILE* err = std::tmpfile();
  const pid_t process = fork();
  if (process == 0) {
    dup2(fileno(out), STDOUT_FILENO);
    dup2(fileno(err), STDERR_FILENO);
    alarm(60);  // survives exec: SIGALRM ends a program that hangs
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    execv(argv.front(), argv.data());
    _exit(127);
  }
  int status = 0;
  waitpid(process, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), contents(out), contents(err)};
}

std::vector<nlohmann::json> rows_of(const PerfRun& outcome) {
  std::vector<nlohmann::json> rows;
  std::istringstream in(outcome.out);
  for (std::string line; std::getline(in, line);) {
    auto row = nlohmann::json::parse(line, nullptr, false);
    EXPECT_TRUE(row.is_object()) << "not an object: " << line;
    if (row.is_object()) rows.push_back(std::move(row));
  }
  return rows;
}

void expect_sane(const nlohmann::json& row) {
  SCOPED_TRACE(row.dump());
  for (const char* text : {"bench", "conduit", "unit"})
    ASSERT_TRUE(row.contains(text) && row[text].is_string());
  for (const char* number : {"ranks", "bytes", "median", "p01", "p99", "samples", "mean"}) {
    ASSERT_TRUE(row.contains(number) && row[number].is_number()) << number;
  }
  EXPECT_GT(row["median"], 0);
  EXPECT_LE(row["p01"], row["median"]);
  EXPECT_GE(row["p99"], row["median"]);
  EXPECT_GT(row["samples"], 0);
  EXPECT_FALSE(row["conduit"].get<std::string>().empty());
  if (row.contains("raw")) {
    EXPECT_GT(row["raw"], 0);
    EXPECT_NEAR(row["ratio"], row["median"].get<double>() / row["raw"].get<double>(), 1e-6);
  }
}

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
