// Runs the real aqrun over several hosts: simulated ones, for which the remote
// command is `env`, and network namespaces.

#include "tests/integration/aqrun_job.hpp"
#include "tests/support/network_namespaces.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

#include <signal.h>
#include <stdlib.h>

namespace aqueduct::integration {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A folder with a hosts file, removed when the test ends.
class AqrunHosts : public testing::Test {
 protected:
  AqrunHosts() { write("hosts", "a\nb\n"); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(scratch_ / name) << text;
    return scratch_ / name;
  }
  /// A --remote template that runs this shell script, with the command as its arguments.
  std::string script(const std::string& text) const {
    return "/bin/sh " + write("script", text + "\n") + " {command}";
  }
  /// Options for that many ranks on the hosts of the file.
  std::vector<std::string> on_hosts(int ranks, const std::string& remote = "env {command}") const {
    return {"-n", std::to_string(ranks), "--hosts", folder_ + "/hosts", "--remote", remote};
  }
  static std::vector<std::string> with(std::vector<std::string> options,
                                       const std::vector<std::string>& more) {
    options.insert(options.end(), more.begin(), more.end());
    return options;
  }

  const support::ScratchFolder scratch_{"/tmp"};
  const std::string folder_ = scratch_.path();
};

std::vector<std::string> sorted(std::vector<std::string> lines) {
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST_F(AqrunHosts, RunsEachRankWhereItBelongs) {
  AqrunJob job(shell(with(on_hosts(5), {"--tag"}), "echo $p on $AQUEDUCT_HOST_ID; echo err >&2"));
  EXPECT_EQ(job.status(), 0);
  EXPECT_THAT(sorted(job.lines()),
              testing::ElementsAre("[0] 0 on a", "[1] 1 on a", "[2] 2 on a", "[3] 3 on b", "[4] 4 on b"));
  for (const char* rank : {"0", "1", "2", "3", "4"})
    EXPECT_THAT(job.err(), HasSubstr("[" + std::string(rank) + "] err\n"));
}

TEST_F(AqrunHosts, FillsSlotsAndLeavesOutWhoGetsNothing) {
  write("hosts", "a slots=1 # small\nb slots=4\nc slots=4\n");
  AqrunJob job(shell(with(on_hosts(6), {"--endpoints", "2"}), "echo"));
  EXPECT_EQ(job.status(), 0) << job.err();
  AqrunJob placed(shell(with(on_hosts(4), {}), "echo $AQUEDUCT_HOST_ID"));
  EXPECT_EQ(placed.status(), 0) << placed.err();
  EXPECT_THAT(sorted(placed.lines()), testing::ElementsAre("a", "b", "b", "b"));
}

TEST_F(AqrunHosts, PassesArgumentsVariablesAndTheFolder) {
  ::setenv("AQUEDUCT_PASSED_THROUGH", "yes", 1);
  AqrunJob job(
      with(on_hosts(2, "sh -c {shell-command}"),
           {"-e", "B=x=y 'z", "--conduit", "smp", "/bin/sh", "-c",
            "echo \"$1,$B,$AQUEDUCT_CONDUIT,$AQUEDUCT_PASSED_THROUGH,${AQUEDUCT_ENDPOINTS-none},$PWD\"", "sh",
            "two  words"}));
  ::unsetenv("AQUEDUCT_PASSED_THROUGH");
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_EQ(job.count_lines("two  words,x=y 'z,smp,yes,none," + std::filesystem::current_path().string()), 2u)
      << job.out();
}

// aqrun refuses the variable in its own environment for the same reason: -n counts ranks.
TEST_F(AqrunHosts, CountRanksWhateverTheirOwnEnvironmentSays) {
  AqrunJob job(
      shell(on_hosts(2, script("AQUEDUCT_ENDPOINTS=3 exec \"$@\"")), "echo ${AQUEDUCT_ENDPOINTS-none}"));
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_EQ(job.count_lines("none"), 2u) << job.out();
}

TEST_F(AqrunHosts, LeavesAHostIdentityOfTheUserAlone) {
  AqrunJob job(shell(with(on_hosts(2), {"-e", "AQUEDUCT_HOST_ID=mine"}), "echo $AQUEDUCT_HOST_ID"));
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_EQ(job.count_lines("mine"), 2u) << job.out();
}

TEST_F(AqrunHosts, GivesItsInputToRankZeroOnly) {
  const std::string much(60000, 'm');
  AqrunJob job(with(on_hosts(3), {"--tag", "cat"}), much + "\ntwo\n");
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_EQ(job.out(), "[0] " + much + "\n[0] two\n");
  AqrunJob none(with(on_hosts(2), {"--stdin", "none", "cat"}), "one\n");
  EXPECT_EQ(none.status(), 0) << none.err();
  EXPECT_EQ(none.out(), "");
}

TEST_F(AqrunHosts, ForwardsMuchOutputWhole) {
  AqrunJob job(
      with(on_hosts(2), {"/bin/sh", "-c", "head -c 5000000 /dev/zero; head -c 5000000 /dev/zero >&2"}));
  EXPECT_EQ(job.status(), 0);
  EXPECT_EQ(job.out().size(), 10000000u);
  EXPECT_EQ(job.err().size(), 10000000u);
}

TEST_F(AqrunHosts, EndWhenNobodyReadsTheOutput) {
  AqrunJob job(with(on_hosts(2), {"yes"}));
  ASSERT_TRUE(job.read_until([&] { return !job.out().empty(); }));
  job.close_output();
  EXPECT_EQ(job.status(), 128 + SIGPIPE) << job.err();
}

TEST_F(AqrunHosts, RunManyRanks) {
  AqrunJob job(with(on_hosts(64), {"/bin/true"}));
  EXPECT_EQ(job.status(), 0);
  EXPECT_EQ(job.err(), "");
}

// The bootstrap goes through the agents; the data goes through shared memory, because this is one machine.
TEST_F(AqrunHosts, LetRanksFindOneAnother) {
  if (!std::filesystem::exists(AQUEDUCT_BIN_DIR "/hello")) GTEST_SKIP() << "the examples are not built";
  AqrunJob job(with(on_hosts(4), {"-e", "AQUEDUCT_HOST_ID=one", AQUEDUCT_BIN_DIR "/hello"}));
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_THAT(job.out(), HasSubstr("of 4"));
}

TEST_F(AqrunHosts, EndWithTheStatusOfTheFirstFailure) {
  AqrunJob job(shell(with(on_hosts(4), {"--grace", "0"}), "[ $p = 3 ] && exit 11; sleep 60"));
  EXPECT_EQ(job.status(), 11);
  EXPECT_THAT(job.err(), HasSubstr("aqrun: rank 3 (pid "));
  EXPECT_THAT(job.err(), HasSubstr(" on b) exited with status 11; ending the other 3 ranks\n"));
}

TEST_F(AqrunHosts, KillWhoDoesNotHeedSigterm) {
  AqrunJob job(shell(with(on_hosts(2), {"--grace", "0"}),
                     "[ $p = 1 ] && exit 5; trap '' TERM; while :; do sleep 60; done"));
  EXPECT_EQ(job.status(), 5);
}

TEST_F(AqrunHosts, ForwardAnInterrupt) {
  AqrunJob job(shell(with(on_hosts(4), {"--grace", "20"}),
                     "trap 'echo heard; exit 0' INT; echo ready; while :; do sleep 0.05; done"));
  ASSERT_TRUE(job.read_until([&] { return job.count_lines("ready") == 4; })) << job.err();
  job.signal(SIGINT);
  EXPECT_EQ(job.status(), 128 + SIGINT);
  EXPECT_EQ(job.count_lines("heard"), 4u) << job.out();
}

TEST_F(AqrunHosts, GetUserSignalsAndGoOn) {
  AqrunJob job(
      shell(with(on_hosts(4), {"--grace", "0"}),
            "trap 'n=1; echo heard' USR1; n=0; echo ready; while [ $n = 0 ]; do sleep 0.05; done; exit 0"));
  ASSERT_TRUE(job.read_until([&] { return job.count_lines("ready") == 4; })) << job.err();
  job.signal(SIGUSR1);
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_EQ(job.count_lines("heard"), 4u) << job.out();
}

TEST_F(AqrunHosts, GetUserSignalsBehindAShell) {
  AqrunJob job(shell(with(on_hosts(2), {"--grace", "0", "--conduit", "udp"}),
                     AQUEDUCT_BIN_DIR "/heed_signal; echo over"));
  ASSERT_TRUE(job.read_until([&] { return job.count_lines("ready") == 2; })) << job.err();
  job.signal(SIGUSR1);
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_EQ(job.count_lines("heard"), 2u) << job.out();
  EXPECT_EQ(job.count_lines("over"), 2u) << job.out();
}

TEST_F(AqrunHosts, LeaveNothingBehindAfterAFailure) {
  AqrunJob job(
      shell(with(on_hosts(4), {"--grace", "0"}), std::string(kFamily) + "[ $p = 2 ] && exit 3; wait"));
  EXPECT_EQ(job.status(), 3);
  EXPECT_TRUE(all_end(job.lines())) << job.out();
}

TEST_F(AqrunHosts, LeaveNothingBehindAfterAGoodEnd) {
  AqrunJob job(shell(on_hosts(2),
                     "echo $(setsid sh -c 'echo $$; exec sleep 300 >/dev/null' &); " + std::string(kFamily)));
  EXPECT_EQ(job.status(), 0);
  EXPECT_EQ(job.lines().size(), 6u) << job.out();
  EXPECT_TRUE(all_end(job.lines())) << job.out();
}

TEST_F(AqrunHosts, LeaveNothingBehindWhenAqrunIsKilled) {
  AqrunJob job(shell(on_hosts(4), std::string(kFamily) + "echo $PPID; wait"));
  ASSERT_TRUE(job.read_until([&] { return job.lines().size() == 12 && job.out().back() == '\n'; }))
      << job.err();
  job.signal(SIGKILL);
  EXPECT_TRUE(all_end(job.lines())) << job.out();
}

// As with ssh, the agent is not a child of aqrun, so it cannot see aqrun's death; it sees its input end.
TEST_F(AqrunHosts, LeaveNothingBehindWhenTheConnectionBreaks) {
  AqrunJob job(
      shell(on_hosts(4, script("cat | setsid \"$@\" | cat")), std::string(kFamily) + "echo $PPID; wait"));
  ASSERT_TRUE(job.read_until([&] { return job.lines().size() == 12 && job.out().back() == '\n'; }))
      << job.err();
  job.signal(SIGKILL);
  EXPECT_TRUE(all_end(job.lines())) << job.out();
}

TEST_F(AqrunHosts, EndTheJobWhenAnAgentIsKilled) {
  AqrunJob job(shell(with(on_hosts(4), {"--grace", "0"}),
                     "[ $p = 3 ] && echo agent $PPID; " + std::string(kFamily) + "wait"));
  ASSERT_TRUE(job.read_until([&] { return job.lines().size() == 9 && job.out().back() == '\n'; }))
      << job.err();
  std::vector<std::string> pids = job.lines();
  const auto agent =
      std::find_if(pids.begin(), pids.end(), [](const auto& line) { return has(line, "agent "); });
  ASSERT_NE(agent, pids.end());
  ::kill(std::stoi(agent->substr(6)), SIGKILL);
  pids.erase(agent);
  EXPECT_EQ(job.status(), 128 + SIGKILL);
  EXPECT_THAT(job.err(),
              HasSubstr("aqrun: host b: env was killed by signal 9 (Killed); lost with it: 2 ranks; "
                        "ending the other 2 ranks\n"));
  EXPECT_TRUE(all_end(pids)) << job.out();
}

TEST_F(AqrunHosts, WhoseConnectionStaysOpenHoldUpNobody) {
  // ssh behaves like this while a background process there holds its output open.
  AqrunJob job(shell(on_hosts(2, script("\"$@\"; exec sleep 1000")), "echo all"));
  const auto since = std::chrono::steady_clock::now();
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_LT(std::chrono::steady_clock::now() - since, std::chrono::seconds(20));
  EXPECT_EQ(job.count_lines("all"), 2u) << job.out();
  EXPECT_THAT(job.err(),
              HasSubstr("cut the connection to a, b: it did not end, although all processes there have"));
}

TEST_F(AqrunHosts, ThatDoNotAnswerAreGivenUp) {
  AqrunJob job(with(on_hosts(2, script("exec sleep 1000")), {"--connect-timeout", "0.2", "true"}));
  EXPECT_EQ(job.status(), 1);
  EXPECT_THAT(job.err(), HasSubstr(": no answer within 0.2 s"));
}

TEST_F(AqrunHosts, ThatDoNotAnswerCanBeInterrupted) {
  AqrunJob job(with(on_hosts(2, script("echo waiting >&2; exec sleep 1000")), {"true"}));
  ASSERT_TRUE(job.read_until([&] { return has(job.err(), "host b: waiting"); })) << job.err();
  job.signal(SIGINT);
  EXPECT_EQ(job.status(), 128 + SIGINT);
}

// As with `echo` in a start-up file there. The time limit has to be far away.
TEST_F(AqrunHosts, WhoseShellPrintsAnEmptyLineAreRefusedAtOnce) {
  AqrunJob job(with(on_hosts(2, script("echo; exec \"$@\"")), {"--connect-timeout", "1000", "true"}));
  EXPECT_EQ(job.status(), 1);
  EXPECT_THAT(job.err(), HasSubstr("but begins with an empty line; does the shell there"));
}

TEST_F(AqrunHosts, WithAnotherVersionAreRefused) {
  AqrunJob job(with(
      on_hosts(2, script("printf '\\032\\0\\0\\0\\001\\0\\0\\0\\0\\143\\0\\0\\0aqrun-agent 9.9.9'; cat >&2")),
      {"true"}));
  EXPECT_EQ(job.status(), 1);
  EXPECT_THAT(job.err(), HasSubstr(": aqrun there is version 9.9.9 (agent protocol 99)"));
}

TEST_F(AqrunHosts, WithoutTheFolderAreRefused) {
  const auto before = std::filesystem::current_path();
  std::filesystem::create_directory(folder_ + "/here");
  std::filesystem::current_path(folder_ + "/here");
  AqrunJob job(
      with(on_hosts(2, script("mv " + folder_ + "/here " + folder_ + "/there$$ 2>/dev/null; exec \"$@\"")),
           {"true"}));
  std::filesystem::current_path(before);
  EXPECT_EQ(job.status(), 1);
  EXPECT_THAT(job.err(), HasSubstr("/here cannot be entered: No such file or directory"));
}

TEST_F(AqrunHosts, AreNotAskedToRunInAFolderThatIsGone) {
  AqrunJob job(shell({"-n", "1"}, "mkdir " + folder_ + "/gone; cd " + folder_ + "/gone; rmdir " + folder_ +
                                      "/gone; exec " AQUEDUCT_BIN_DIR "/aqrun -n 2 --hosts " + folder_ +
                                      "/hosts --remote 'env {command}' true"));
  EXPECT_EQ(job.status(), 126);
  EXPECT_THAT(job.err(), HasSubstr("the folder in which aqrun was started cannot be told"));
}

struct Unreachable {
  const char* remote;
  std::vector<std::string> options;
  int status;
  const char* says;
};
void PrintTo(const Unreachable& one, std::ostream* out) { *out << one.says; }
class AqrunHostsUnreachable : public AqrunHosts, public testing::WithParamInterface<Unreachable> {};

TEST_P(AqrunHostsUnreachable, SaysWhichHostAndWhy) {
  AqrunJob job(with(on_hosts(2, GetParam().remote), GetParam().options));
  EXPECT_EQ(job.status(), GetParam().status);
  EXPECT_THAT(job.err(), HasSubstr(GetParam().says));
  EXPECT_THAT(job.out(), testing::IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(
    Aqrun, AqrunHostsUnreachable,
    testing::Values(
        Unreachable{"no-such-ssh {command}", {"true"}, 126, "host a: there is no program no-such-ssh"},
        Unreachable{"false {command}", {"true"}, 1, ": false ended with status 1 before any rank"},
        Unreachable{"true {command}", {"true"}, 1, ": true ended with status 0 before any rank"},
        Unreachable{"echo Welcome to {host}! {command}", {"true"}, 1, "but says \"Welcome to "},
        Unreachable{"ls --no-such-option {command}", {"true"}, 2, ": ls: unrecognized option"},
        Unreachable{"env {command}",
                    {"--remote-aqrun", "/no/aqrun", "true"},
                    127,
                    "ended with status 127 before any rank"},
        Unreachable{"env {command}", {"no-such-program"}, 127, ": there is no program no-such-program"},
        Unreachable{"env {command}", {"/etc/passwd"}, 126, "/etc/passwd is not an executable file"},
        Unreachable{"{host}", {"true"}, 2, "--remote: it must have {command} once"},
        Unreachable{"env {command}", {"--hosts", "/no/file", "true"}, 2, "--hosts /no/file: No such file"},
        Unreachable{"env {command}", {"--hosts", "/dev/null", "true"}, 2, "there is no host in it"},
        Unreachable{"env {command}", {"--connect-timeout", "0", "true"}, 2, "--connect-timeout"}));

TEST_F(AqrunHosts, AreNotOverfilled) {
  write("hosts", "a slots=1\nb slots=2\n");
  AqrunJob job(with(on_hosts(4), {"true"}));
  EXPECT_EQ(job.status(), 2);
  EXPECT_THAT(job.err(), HasSubstr("the 3 slots of all hosts"));
}

TEST_F(AqrunHosts, MayBeNetworkNamespaces) {
  using support::NetworkNamespaces;
  if (std::string why; !NetworkNamespaces::usable(why)) GTEST_SKIP() << why;
  const NetworkNamespaces net(3);
  write("hosts", net.hosts_file(2));
  AqrunJob job(
      with(on_hosts(6, std::string(NetworkNamespaces::kRemote)),
           {"--tag", "ip", "-o", "-4", "addr", "show", "dev", std::string(NetworkNamespaces::kDevice)}));
  EXPECT_EQ(job.status(), 0) << job.err();
  ASSERT_EQ(job.lines().size(), 6u) << job.out() << job.err();
  const auto lines = sorted(job.lines());
  for (unsigned rank = 0; rank < 6; ++rank)
    EXPECT_THAT(lines[rank], HasSubstr("inet " + NetworkNamespaces::ipv4(rank / 2) + "/"));
}

TEST_F(AqrunHosts, ThatAreNoNetworkNamespacesAreNamed) {
  if (std::string why; !support::NetworkNamespaces::usable(why)) GTEST_SKIP() << why;
  AqrunJob job(with(on_hosts(2, std::string(support::NetworkNamespaces::kRemote)), {"true"}));
  EXPECT_EQ(job.status(), 255);
  EXPECT_THAT(job.err(), HasSubstr(": Cannot open network namespace"));
  EXPECT_THAT(job.err(), Not(HasSubstr("signal")));
}

}  // namespace
}  // namespace aqueduct::integration
