// A test of the conformance kit: each of these conduits breaks one rule of
// core/conduit.hpp, and the named case has to notice.

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <ostream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using Clock = std::chrono::steady_clock;

struct Broken {
  const char* what;
  const char* fabric;  ///< hidden: runs only if named
  const char* noticed_by;
};

void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.fabric; }

struct KitRun {
  bool in_time = false;
  int status = 0;
  std::string output;
};

/// Runs aqconform for at most `bound` and reads its output.
KitRun run_aqconform(std::vector<std::string> arguments, std::chrono::seconds bound) {
  KitRun outcome;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return outcome;
  arguments.insert(arguments.begin(), AQUEDUCT_BIN_DIR "/aqconform");
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(ends[1], 1);
    ::dup2(ends[1], 2);
    ::execv(pointers[0], pointers.data());
    ::_exit(99);
  }
  ::close(ends[1]);
  const auto end = Clock::now() + bound;
  std::array<char, 4096> buffer;
  while (Clock::now() < end) {
    pollfd readable{ends[0], POLLIN, 0};
    if (::poll(&readable, 1, 100) <= 0) continue;
    const ssize_t bytes = ::read(ends[0], buffer.data(), buffer.size());
    if (bytes <= 0) {
      outcome.in_time = true;
      break;
    }
    outcome.output.append(buffer.data(), static_cast<std::size_t>(bytes));
  }
  ::close(ends[0]);
  if (!outcome.in_time) ::kill(pid, SIGKILL);
  ::waitpid(pid, &outcome.status, 0);
  return outcome;
}

class BrokenConduit : public testing::TestWithParam<Broken> {};

TEST_P(BrokenConduit, IsNoticed) {
  const Broken& broken = GetParam();
  const KitRun outcome = run_aqconform({std::string("--fabric=") + broken.fabric, "--limit=5",
                                        std::string("--gtest_filter=*") + broken.noticed_by + "/*"},
                                       std::chrono::seconds(60));
  ASSERT_TRUE(outcome.in_time) << outcome.output;
  ASSERT_TRUE(WIFEXITED(outcome.status)) << outcome.output;
  EXPECT_EQ(WEXITSTATUS(outcome.status), 1) << "a conduit that " << broken.what << " passes\n"
                                            << outcome.output;
  EXPECT_NE(outcome.output.find(std::string("[  FAILED  ] On/") + broken.noticed_by), std::string::npos)
      << outcome.output;
}

INSTANTIATE_TEST_SUITE_P(
    All, BrokenConduit,
    testing::Values(Broken{"delivers packets twice", "loop-broken-duplicate", "AmShort.ArrivesExactlyOnce"},
                    Broken{"loses packets", "loop-broken-lose", "AmShort.ArrivesExactlyOnce"},
                    Broken{"changes bytes", "loop-broken-corrupt",
                           "Put.EverySizeInEveryFormReachesEveryRankAndNothingElse"},
                    Broken{"says done too early", "loop-broken-early",
                           "Property.NativePutsAndGetsUpToTheLargestAreInPlaceWhenComplete"},
                    Broken{"forgets completions", "loop-broken-silent",
                           "Property.NativePutsAndGetsUpToTheLargestAreInPlaceWhenComplete"},
                    Broken{"delivers to the wrong rank", "loop-broken-misdeliver",
                           "Property.EveryPacketUpToTheLargestArrivesOnceAndWhole"},
                    Broken{"promises larger packets than it takes", "loop-broken-overstate",
                           "Property.EveryPacketUpToTheLargestArrivesOnceAndWhole"}),
    [](const auto& info) {
      std::string name = info.param.fabric;
      for (char& c : name) c = c == '-' ? '_' : c;
      return name;
    });

TEST(Aqconform, SaysWhichConduitsThereAreToANameThatNoneHas) {
  for (const char* what : {"--list", "--gtest_filter=*Short*"}) {
    const KitRun outcome = run_aqconform({"--conduit=upd", what}, std::chrono::seconds(20));
    ASSERT_TRUE(outcome.in_time) << outcome.output;
    ASSERT_TRUE(WIFEXITED(outcome.status)) << outcome.output;
    EXPECT_EQ(WEXITSTATUS(outcome.status), 2) << outcome.output;
    EXPECT_EQ(outcome.output.find(
                  "aqconform: --conduit upd: there is no such conduit; this build has smp, loop, udp"),
              0u)
        << outcome.output;
    EXPECT_NE(outcome.output.find("did you mean udp?"), std::string::npos) << outcome.output;
  }
}

}  // namespace
