// The tools under limits of the system (`ulimit`): they say which one, and leave nothing behind.

#include "tests/integration/aqrun_job.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <string>

#include <signal.h>

namespace aqueduct::integration {
namespace {

using ::testing::HasSubstr;

// The system would end them by a signal, without a word.
TEST(Tools, SayThatTheirOutputExceedsTheLimitOfFiles) {
  const support::ScratchFolder folder;
  const std::string file = (folder / "output").string();
  for (const char* const command : {"aqinfo", "aqsim barrier --ranks 8", "aqrun -n 1 echo words"}) {
    AqrunJob job(
        shell({"-n", "1"}, "ulimit -f 0; exec " AQUEDUCT_BIN_DIR "/" + std::string(command) + " > " + file));
    EXPECT_EQ(job.status(), 1) << command << ": " << job.err();
    EXPECT_THAT(job.err(), HasSubstr("standard output: ")) << command;
  }
  AqrunJob plot(
      shell({"-n", "1"}, "ulimit -f 0; exec " AQUEDUCT_BIN_DIR "/aqsim broadcast --plot " + file + ".svg"));
  EXPECT_EQ(plot.status(), 2) << plot.err();
  EXPECT_THAT(plot.err(), HasSubstr("output.svg cannot be written: File too large"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1)
      << "only the empty output";
  // A rank is as aqrun found it.
  AqrunJob rank(shell({"-n", "1"}, "ulimit -f 0; echo words > " + file));
  EXPECT_EQ(rank.status(), 128 + SIGXFSZ) << rank.err();
}

// Each process of the launcher would measure its own job.
TEST(Tools, AqperfRefusesThreadsUnderALauncher) {
  AqrunJob job(shell({"-n", "2"}, "exec " AQUEDUCT_BIN_DIR "/aqperf barrier --seconds 0.05 --threads 2"));
  EXPECT_EQ(job.status(), 2) << job.err();
  EXPECT_EQ(job.out(), "");
  EXPECT_THAT(job.err(), HasSubstr("leave --threads out"));
}

TEST(Tools, SayHowManyDescriptorsAllRanksNeed) {
  const std::string aqrun = "; exec " AQUEDUCT_BIN_DIR "/aqrun -n 20 true";
  AqrunJob job(shell({"-n", "1"}, "ulimit -n 40" + aqrun));
  EXPECT_EQ(job.status(), 126) << job.err();
  const auto at = job.err().find("`ulimit -n ");
  ASSERT_NE(at, std::string::npos) << job.err();
  const std::string advice = job.err().substr(at + 1, job.err().find('`', at + 1) - at - 1);
  AqrunJob again(shell({"-n", "1"}, advice + aqrun));
  EXPECT_EQ(again.status(), 0) << advice << ": " << again.err();
}

// The reader of JSON repeats what it has read.
TEST(Tools, CutWhatIsTooLongToReadInTheirErrors) {
  const support::ScratchFolder folder;
  const std::string file = (folder / "network").string();
  AqrunJob job(shell({"-n", "1"}, "(printf '\"'; head -c 1000000 /dev/zero | tr '\\0' x) > " + file +
                                      "; exec " AQUEDUCT_BIN_DIR "/aqsim barrier --network " + file));
  EXPECT_EQ(job.status(), 2);
  EXPECT_THAT(job.err(), HasSubstr("it is no JSON"));
  EXPECT_LT(job.err().size(), 10'000u);
}

}  // namespace
}  // namespace aqueduct::integration
