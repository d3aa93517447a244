#include "tests/support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <sys/wait.h>

namespace aqueduct {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

struct ExampleAnswer {
  int status = -1;   // 124: killed after a minute
  std::string text;  // standard output and standard error
};

ExampleAnswer shell(const std::string& command) {
  ExampleAnswer answer;
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return answer;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) answer.text.push_back(static_cast<char>(c));
  const int status = pclose(pipe);
  if (WIFEXITED(status)) answer.status = WEXITSTATUS(status);
  return answer;
}

std::string program(const std::string& name) { return std::string(AQUEDUCT_BIN_DIR "/") + name; }

/// `how` are options of aqrun, `what` is an example with its options.
ExampleAnswer run(const std::string& how, const std::string& what) {
  return shell("timeout -k 5 60 " + program("aqrun") + " " + how + " " + program(what));
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string checksum_in(const std::string& text) {
  const auto at = text.find("checksum ");
  return at == std::string::npos ? "" : text.substr(at, std::string("checksum 0123456789abcdef").size());
}

using Folder = aqueduct::support::ScratchFolder;

/// A way to start an example.
struct Start {
  const char* name;
  int ranks;
  const char* options;  // of aqrun
};

class Examples : public ::testing::TestWithParam<Start> {
 protected:
  static ExampleAnswer start(const std::string& what) { return run(GetParam().options, what); }
  static std::string ranks() { return std::to_string(GetParam().ranks); }
};

TEST_P(Examples, HelloGreetsEveryRank) {
  const ExampleAnswer answer = start("hello --word ahoy");
  ASSERT_EQ(answer.status, 0) << answer.text;
  for (int rank = 0; rank < GetParam().ranks; ++rank) {
    const std::string from = std::to_string((rank + GetParam().ranks - 1) % GetParam().ranks);
    const std::string to = std::to_string(rank);
    EXPECT_THAT(answer.text,
                HasSubstr("rank " + to + " of " + ranks() + " (" + ranks() +
                          " on this host): \"ahoy from rank " + from + " to rank " + to + "\"\n"));
  }
}

TEST_P(Examples, Heat2dEqualsTheSerialResult) {
  // With 7 rows, each of seven ranks has a single one.
  for (const std::string size : {"64 40", "7 33"}) {
    const ExampleAnswer answer = start("heat2d --steps 30 --size " + size);
    ASSERT_EQ(answer.status, 0) << answer.text;
    EXPECT_THAT(answer.text, AllOf(HasSubstr("30 steps, " + ranks() + " ranks"), HasSubstr("cell updates/s"),
                                   HasSubstr("heat2d: equal to the serial result\n")));
  }
}

TEST_P(Examples, Halo3dEqualsTheSerialResult) {
  for (const std::string size : {"--cells 9 --steps 5", "--cells 1 --steps 3"}) {
    const ExampleAnswer answer = start("halo3d " + size);
    ASSERT_EQ(answer.status, 0) << answer.text;
    EXPECT_THAT(answer.text, HasSubstr("halo3d: equal to the serial result\n"));
  }
}

TEST_P(Examples, GupsLosesNoUpdateByAtomicsAndMessages) {
  for (const std::string mode : {"atomics", "am"}) {
    const ExampleAnswer answer = start("gups --log2-words 12 --mode " + mode);
    ASSERT_EQ(answer.status, 0) << answer.text;
    EXPECT_THAT(answer.text,
                AllOf(HasSubstr("gups: " + mode + ", 2^12 words, 16384 updates, " + ranks() + " ranks"),
                      HasSubstr(" GUPS\n"), HasSubstr("gups: 0 wrong words, 0 allowed\n")));
  }
}

TEST_P(Examples, RingPassesTheTokenByEveryKindOfMessage) {
  const ExampleAnswer answer = start("ring_am --laps 20 --bytes 8192");
  ASSERT_EQ(answer.status, 0) << answer.text;
  const std::string hops = ranks() + " ranks, " + std::to_string(20 * GetParam().ranks) + " hops";
  for (const std::string kind : {"short ", "medium", "long  "}) {
    EXPECT_THAT(answer.text, HasSubstr("ring_am: " + kind + " " + hops));
  }
  EXPECT_THAT(answer.text, HasSubstr("ring_am: all sums are right\n"));
}

TEST_P(Examples, PointerChaseVisitsEveryNode) {
  const ExampleAnswer answer = start("pointer_chase --nodes 300 --chains 3");
  ASSERT_EQ(answer.status, 0) << answer.text;
  EXPECT_THAT(answer.text, HasSubstr("pointer_chase: " + std::to_string(300 * GetParam().ranks) + " nodes, " +
                                     ranks() + " ranks"));
  EXPECT_THAT(answer.text, ContainsRegex("get_value [0-9.]+, get [0-9.]+, get_nb [0-9.]+ ns a hop"));
}

TEST_P(Examples, CoroutineGetsReadsTheRightWords) {
  const ExampleAnswer answer = start("coroutine_gets --tasks 500 --gets 5");
  ASSERT_EQ(answer.status, 0) << answer.text;
  EXPECT_THAT(answer.text,
              AllOf(HasSubstr("coroutine_gets: 500 tasks, " + ranks() + " ranks, 2500 gets, up to "),
                    HasSubstr("coroutine_gets: all words are right\n")));
}

TEST_P(Examples, KmeansEqualsTheSerialResult) {
  // With 3 points, some of seven ranks have none, and some centres have no points of their own.
  for (const std::string size :
       {"--points 3000 --centres 5", "--points 3 --centres 4", "--points 500 --centres 40 --steps 2"}) {
    const ExampleAnswer answer = start("kmeans " + size);
    ASSERT_EQ(answer.status, 0) << answer.text;
    EXPECT_THAT(answer.text,
                AllOf(HasSubstr(" centres, " + ranks() + " ranks: "), HasSubstr(" million distances/s\n"),
                      HasSubstr("kmeans: equal to the serial result\n")));
  }
}

TEST_P(Examples, OwnBroadcastIsRightByTheRulesByASettingAndAfterTuning) {
  for (const std::string setting : {"", " -e AQUEDUCT_COLL_BROADCAST=greedy-tree:delay=3"}) {
    const ExampleAnswer answer = run(GetParam().options + setting, "own_broadcast --milliseconds 20");
    ASSERT_EQ(answer.status, 0) << answer.text;
    EXPECT_THAT(answer.text, HasSubstr("own_broadcast: all words are right\n"));
  }
}

/// Not multiples of the ranks; fewer lines than ranks; lengths that are prime, or have all kinds of factors.
const std::string kFftSizes[] = {"24 20", "5 9", "1 60", "31 1", "1", "30 49", "150 200"};

TEST_P(Examples, TransposeFftAgreesWithTheSerialTransform) {
  for (const std::string& size : kFftSizes) {
    const ExampleAnswer answer = start("transpose_fft --steps 2 --size " + size);
    ASSERT_EQ(answer.status, 0) << size << "\n" << answer.text;
    EXPECT_THAT(answer.text,
                AllOf(HasSubstr(" array, " + ranks() + " ranks, 2 steps: "), HasSubstr(" GFLOP/s\n"),
                      HasSubstr("transpose_fft: agrees with the serial transform\n")));
  }
}

/// Some ranks without keys; equal keys only; parts of very different sizes.
const std::string kSorts[] = {"--keys 60001", "--keys 3", "--keys 1000 --distinct 1",
                              "--keys 500 --distinct 7 --samples 1"};

TEST_P(Examples, SampleSortPutsAllKeysInOrder) {
  for (const std::string& sort : kSorts) {
    const ExampleAnswer answer = start("sample_sort " + sort);
    ASSERT_EQ(answer.status, 0) << sort << "\n" << answer.text;
    EXPECT_THAT(answer.text, AllOf(HasSubstr(" keys, " + ranks() + " ranks: "), HasSubstr(" million keys/s"),
                                   HasSubstr("sample_sort: all keys are there, in order\n")));
  }
}

INSTANTIATE_TEST_SUITE_P(Jobs, Examples,
                         ::testing::Values(Start{"1", 1, "-n 1"}, Start{"2", 2, "-n 2"},
                                           Start{"4", 4, "-n 4"}, Start{"7", 7, "-n 7"},
                                           Start{"4_two_a_process", 4, "-n 4 --endpoints 2"}),
                         [](const auto& info) { return std::string("ranks_") + info.param.name; });

// Its lost updates are intended data races, so it runs with one endpoint per process, where TSan sees none.
// As libpng does it by itself, who writes a picture to a device as root is without the device.
TEST(Heat2d, KeepsAFileThatItCannotWrite) {
  const Folder folder;
  std::filesystem::create_symlink("/dev/full", folder / "full.png");
  const ExampleAnswer answer =
      shell(program("heat2d") + " --steps 1 --size 16 --out " + (folder / "full.png").string());
  EXPECT_EQ(answer.status, 1) << answer.text;
  EXPECT_THAT(answer.text, HasSubstr("full.png: No space left on device"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "full.png"));
}

TEST(ExampleGups, CountsAndBoundsWhatGetModifyPutLoses) {
  for (const std::string ranks : {"1", "2", "4", "7"}) {
    const ExampleAnswer answer = run("-n " + ranks, "gups --log2-words 14 --mode gets");
    ASSERT_EQ(answer.status, 0) << answer.text;
    EXPECT_THAT(answer.text, ContainsRegex("gups: [0-9]+ wrong words, [0-9]+ allowed"));
    if (ranks == "1") {
      EXPECT_THAT(answer.text, HasSubstr("gups: 0 wrong words, 0 allowed\n"));
    }
  }
}

// Where nothing is mapped, every task waits for its get before the first one goes on.
TEST(ExampleCoroutineGets, KeepsAThousandGetsInFlight) {
  const ExampleAnswer answer = shell("AQUEDUCT_NEAR=off timeout -k 5 60 " + program("aqrun") +
                                     " -n 2 --conduit udp " + program("coroutine_gets"));
  ASSERT_EQ(answer.status, 0) << answer.text;
  EXPECT_THAT(answer.text, HasSubstr("1000 tasks, 2 ranks, 20000 gets, up to 1000 in flight"));
  EXPECT_THAT(answer.text, HasSubstr("coroutine_gets: all words are right\n"));
}

// Where nothing is mapped, blocks and pieces travel as packets. Three ranks get unequal shares of most sizes.
TEST(ExampleExchanges, AreRightOverUdp) {
  const auto over_udp = [](const std::string& what) {
    return shell("AQUEDUCT_NEAR=off timeout -k 5 60 " + program("aqrun") + " -n 3 --conduit udp " +
                 program(what));
  };
  for (const std::string& size : kFftSizes) {
    const ExampleAnswer answer = over_udp("transpose_fft --steps 2 --size " + size);
    ASSERT_EQ(answer.status, 0) << size << "\n" << answer.text;
    EXPECT_THAT(answer.text, HasSubstr("transpose_fft: agrees with the serial transform\n"));
  }
  for (const std::string& sort : kSorts) {
    const ExampleAnswer answer = over_udp("sample_sort " + sort);
    ASSERT_EQ(answer.status, 0) << sort << "\n" << answer.text;
    EXPECT_THAT(answer.text, HasSubstr("sample_sort: all keys are there, in order\n"));
  }
}

// At most (1 + ranks / samples) times the fair share, which is 1.11 here, but for rounding.
TEST(ExampleSampleSort, GivesRanksEqualSharesOfEqualKeys) {
  for (const std::string distinct : {"0", "1", "2"}) {
    const ExampleAnswer answer = run("-n 7", "sample_sort --keys 20000 --samples 64 --distinct " + distinct);
    ASSERT_EQ(answer.status, 0) << answer.text;
    EXPECT_THAT(answer.text, ContainsRegex("fullest rank 1\\.[01][0-9] of its fair share"));
  }
}

TEST(ExamplesAlone, RunWithoutALauncher) {
  for (const std::string name :
       {"hello", "heat2d --size 32", "gups --log2-words 12", "ring_am --laps 3", "pointer_chase --nodes 20",
        "halo3d --cells 8", "coroutine_gets --tasks 50", "kmeans --points 300", "transpose_fft --size 20",
        "sample_sort --keys 300", "own_broadcast --milliseconds 5"}) {
    for (const std::string endpoints : {"1", "3"}) {
      const ExampleAnswer answer =
          shell("AQUEDUCT_ENDPOINTS=" + endpoints + " timeout -k 5 60 " + program(name));
      EXPECT_EQ(answer.status, 0) << name << "\n" << answer.text;
    }
  }
}

TEST(ExampleHeat2d, GivesTheSameFieldAndPictureWithOneAndWithFourRanks) {
  const Folder folder(::testing::TempDir());
  std::ofstream pgm(folder / "in.pgm", std::ios::binary);
  pgm << "P5\n# a slope with a white corner\n37 23\n255\n";
  for (int y = 0; y < 23; ++y) {
    for (int x = 0; x < 37; ++x) pgm.put(static_cast<char>(x < 9 && y < 9 ? 255 : 3 * x + 4 * y));
  }
  pgm.close();

  const std::string options = "heat2d --steps 25 --check --image " + (folder / "in.pgm").string() + " --out ";
  const ExampleAnswer one = run("-n 1", options + (folder / "one.png").string());
  const ExampleAnswer four = run("-n 4", options + (folder / "four.png").string());
  ASSERT_EQ(one.status, 0) << one.text;
  ASSERT_EQ(four.status, 0) << four.text;
  EXPECT_THAT(four.text, AllOf(HasSubstr("23 x 37 cells"), HasSubstr("equal to the serial result")));
  ASSERT_NE(checksum_in(one.text), "");
  EXPECT_EQ(checksum_in(one.text), checksum_in(four.text));
  const std::string picture = contents(folder / "one.png");
  EXPECT_EQ(picture.substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_TRUE(picture == contents(folder / "four.png")) << "the two pictures differ";

  // Reads the picture that it wrote.
  const ExampleAnswer again = run("-n 4", "heat2d --steps 5 --image " + (folder / "four.png").string());
  EXPECT_EQ(again.status, 0) << again.text;
  EXPECT_THAT(again.text, AllOf(HasSubstr("23 x 37 cells"), HasSubstr("equal to the serial result")));
}

TEST(ExampleHeat2d, RefusesImagesThatItCannotRead) {
  const Folder folder(::testing::TempDir());
  const auto refused = [&](const char* name, const std::string& bytes, const std::string& why) {
    if (!bytes.empty()) std::ofstream(folder / name, std::ios::binary) << bytes;
    const ExampleAnswer answer = run("-n 2", "heat2d --image " + (folder / name).string());
    EXPECT_NE(answer.status, 0) << name;
    EXPECT_NE(answer.status, 124) << name << " took too long";
    EXPECT_THAT(answer.text, AllOf(HasSubstr("failed: "), HasSubstr(name), HasSubstr(why)));
  };
  refused("missing.pgm", "", "cannot open it");
  refused("short.pgm", "P5 4 4 255\nabc", "it ends before its last pixel");
  refused("word.pgm", "P2 4 four 255\n", "expected a number");
  refused("empty.pgm", "P5 0 4 255\n", "at least one");
  refused("huge.pgm", "P5 100000 100000 255\n", "at most 2^28");
  refused("text.png", "this is no picture", "text.png");
}

TEST(ExampleHeat2d, RefusesMoreRanksThanRows) {
  const ExampleAnswer answer = run("-n 4", "heat2d --size 3 --steps 1");
  EXPECT_NE(answer.status, 0);
  EXPECT_NE(answer.status, 124) << "took too long";
  EXPECT_THAT(answer.text, AllOf(HasSubstr("3 rows"), HasSubstr("larger --size"), Not(HasSubstr("equal"))));
}

TEST(ExampleExchanges, NameTheArgumentThatTheyRefuse) {
  const auto refused = [](const std::string& what, const std::string& says) {
    const ExampleAnswer answer = run("-n 2", what);
    EXPECT_NE(answer.status, 0) << what;
    EXPECT_NE(answer.status, 124) << what << " took too long";
    EXPECT_THAT(answer.text, AllOf(HasSubstr(says), Not(HasSubstr("agrees")), Not(HasSubstr("in order"))));
  };
  refused("transpose_fft --size 0", "--size");
  refused("transpose_fft --size 65537 2", "--size");
  refused("transpose_fft --size four", "--size");
  refused("transpose_fft --steps 0", "--steps");
  refused("transpose_fft --size 8192 8193",
          "--size 8192 8193: 67117056 elements, and the limit is 67108864 (2^26); try --size 8192");
  refused("sample_sort --keys 0", "--keys");
  refused("sample_sort --keys -1", "--keys");
  refused("sample_sort --keys=-1", "--keys: '-1' is no such number");
  refused("sample_sort --keys 010", "--keys: '010' is no such number");
  refused("sample_sort --samples 0", "--samples");
  refused("sample_sort --samples 4097", "--samples");
  refused("sample_sort --distinct few", "--distinct");
}

TEST(ExampleGups, RefusesAnUnknownMode) {
  const ExampleAnswer answer = run("-n 1", "gups --mode wishes");
  EXPECT_NE(answer.status, 0);
  EXPECT_THAT(answer.text, HasSubstr("wishes"));
}

}  // namespace
}  // namespace aqueduct
