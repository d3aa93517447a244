// The kit's random programs, longer and with more ranks than a conformance run has time for. A failure prints the
// command that plays the same program again.

#include <gtest/gtest.h>

#include <cstdlib>
#include <ostream>
#include <random>
#include <string>

#include <sys/wait.h>

namespace {

struct Size {
  const char* fabric;
  int ranks;
  int thorough;
};

void PrintTo(const Size& size, std::ostream* out) {
  *out << size.fabric << " with " << size.ranks << " ranks";
}

class RandomProgramStress : public testing::TestWithParam<Size> {};

TEST_P(RandomProgramStress, FollowsItsModel) {
  const auto& [fabric, ranks, thorough] = GetParam();
  // A different program each time; a failure prints the command, which contains the seed.
  const unsigned seed = std::random_device()();
  const std::string command = AQUEDUCT_BIN_DIR "/aqconform --fabric " + std::string(fabric) + " --ranks " +
                              std::to_string(ranks) + " --thorough " + std::to_string(thorough) +
                              " --limit 100 --seed " + std::to_string(seed) +
                              " --gtest_filter='*RandomProgram.*' --gtest_brief=1";
  RecordProperty("command", command);
  const int status = std::system(command.c_str());
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "again with: " << command;
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, RandomProgramStress,
    testing::Values(Size{"loop-bare", 8, 60}, Size{"loop-native", 8, 60}, Size{"loop-late", 8, 20},
                    Size{"loop-posted", 8, 30}, Size{"loop-bare", 32, 10}, Size{"loop-mapped", 32, 10},
                    Size{"smp-threads", 8, 60}, Size{"smp-processes", 8, 60}, Size{"smp-without-cma", 8, 30},
                    Size{"smp-processes", 32, 10}, Size{"udp-processes", 8, 20}, Size{"udp-loss-tenth", 4, 5},
                    Size{"udp-processes", 32, 2}),
    [](const auto& info) {
      std::string name = info.param.fabric + std::string("_") + std::to_string(info.param.ranks);
      for (char& c : name) c = c == '-' ? '_' : c;
      return name;
    });

}  // namespace
