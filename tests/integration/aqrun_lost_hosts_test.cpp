// Hosts whose connection stalls or ends when their ranks have ended. The agents are pretended: scripts that send the frames of one.

#include <aqueduct/version.hpp>

#include "tests/integration/aqrun_job.hpp"
#include "tests/support/scratch_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>

namespace aqueduct::integration {
namespace {

using testing::HasSubstr;

/// The kinds of frames that are needed here (tools/aqrun/frame.hpp).
enum class Sent { hello = 1, started = 8, output = 14, errors = 15, ended = 19, cleared = 21 };

/// A command of a shell that sends a frame of process 0.
std::string sends(Sent kind, std::uint32_t number = 0, const std::string& bytes = {}) {
  std::string text = "printf '";
  const auto add = [&](std::uint32_t value, int count) {
    for (int i = 0; i < count; ++i) text += fmt::format("\\{:03o}", value >> (8 * i) & 255);
  };
  add(static_cast<std::uint32_t>(9 + bytes.size()), 4);
  add(static_cast<std::uint32_t>(kind), 1);
  add(0, 4);
  add(number, 4);
  return text + bytes + "'; ";
}

/// Says hello, and that process 0 has run and ended with 0.
std::string ran() {
  return sends(Sent::hello, 1, "aqrun-agent " + std::string(library_version_text())) +
         sends(Sent::started, 77) + sends(Sent::ended, 0);
}
std::string output_ends() { return sends(Sent::output) + sends(Sent::errors); }

class AqrunLostHosts : public testing::Test {
 protected:
  /// Options for ranks on hosts a and, if there are two, b. The script of host a plays an agent, and host b has a real one.
  std::vector<std::string> pretending(const std::string& script, int ranks = 1) const {
    std::ofstream(scratch_ / "hosts") << (ranks == 1 ? "a\n" : "a\nb\n");
    std::ofstream(scratch_ / "script") << "if [ $1 = b ]; then shift; exec \"$@\"; fi\n" << script << '\n';
    return {"-n",       std::to_string(ranks),
            "--hosts",  scratch_ / "hosts",
            "--remote", "/bin/sh " + std::string(scratch_ / "script") + " {host} {command}"};
  }

  const support::ScratchFolder scratch_{"/tmp"};
};

// The network is silent for longer than an agent needs to end.
TEST_F(AqrunLostHosts, LateOutputIsWaitedFor) {
  AqrunJob job(shell(
      pretending(ran() + sends(Sent::cleared) + "sleep 6; " + sends(Sent::output, 0, "late") + output_ends()),
      ""));
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_EQ(job.out(), "late");
  EXPECT_EQ(job.err(), "");
}

TEST_F(AqrunLostHosts, OutputThatDoesNotArriveFailsTheJob) {
  for (const std::string& before : {ran(), ran() + sends(Sent::output), ran() + sends(Sent::cleared)}) {
    AqrunJob job(shell(pretending(before + "exit 255"), ""));
    EXPECT_EQ(job.status(), 1) << job.err();
    EXPECT_THAT(job.err(),
                HasSubstr("aqrun: host a: /bin/sh ended with status 255: the end of what the ranks "
                          "there have written is lost\n"));
  }
}

// Its streams have ended, or the agent says by its status that it has sent everything.
TEST_F(AqrunLostHosts, NothingIsLostWithAHostThatHasSentEverything) {
  for (const std::string& script :
       {ran() + output_ends() + "exit 255", ran() + sends(Sent::cleared) + "exit 0"}) {
    AqrunJob job(shell(pretending(script), ""));
    EXPECT_EQ(job.status(), 0) << job.err();
    EXPECT_EQ(job.err(), "");
  }
}

TEST_F(AqrunLostHosts, WhoseRanksHaveEndedDoNotEndTheOthers) {
  AqrunJob job(shell(pretending(ran() + output_ends() + "exit 255", 2), "sleep 1; echo done"));
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_EQ(job.count_lines("done"), 1u) << job.out();
  EXPECT_EQ(job.err(), "");
}

TEST_F(AqrunLostHosts, WhoseOutputIsLostDoNotEndTheOthersEither) {
  AqrunJob job(shell(pretending(ran() + "exit 255", 2), "sleep 1; echo done"));
  EXPECT_EQ(job.status(), 1) << job.err();
  EXPECT_EQ(job.count_lines("done"), 1u) << job.out();
  EXPECT_THAT(job.err(), HasSubstr("there have written is lost"));
}

}  // namespace
}  // namespace aqueduct::integration
