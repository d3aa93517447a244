// Runs the real aqrun with small shell scripts as ranks.

#include "tests/integration/aqrun_job.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include <signal.h>

namespace aqueduct::integration {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Job = AqrunJob;

// These programs do not use Aqueduct. They never join the job, so they need not leave it.
TEST(Aqrun, EndsWithZeroWhenAllDo) {
  Job job({"-n", "3", "/bin/true"});
  EXPECT_EQ(job.status(), 0);
  EXPECT_EQ(job.out() + job.err(), "");
}

TEST(Aqrun, EndsWithTheStatusOfTheFirstFailure) {
  Job job(shell({"-n", "8", "--grace", "0"}, "[ $p = 3 ] && exit 11; sleep 60"));
  EXPECT_EQ(job.status(), 11);
  EXPECT_TRUE(has(job.err(), "aqrun: rank 3 (pid ")) << job.err();
  EXPECT_TRUE(has(job.err(), ") exited with status 11; ending the other 7 ranks\n")) << job.err();
  EXPECT_EQ(std::count(job.err().begin(), job.err().end(), '\n'), 1) << job.err();
}

TEST(Aqrun, NamesTheSignalThatKilledARank) {
  Job job(shell({"-n", "2", "--grace", "0"}, "[ $p = 1 ] && kill -9 $$; sleep 60"));
  EXPECT_EQ(job.status(), 128 + SIGKILL);
  EXPECT_TRUE(has(job.err(), ") was killed by signal 9 (Killed); ending the other rank\n")) << job.err();
}

// aqrun finds both at once, a rank that was killed and one that exited because of it: rank 1, started last, holds it meanwhile.
TEST(Aqrun, PrefersTheStatusOfTheKilledRankAmongThoseThatEndedTogether) {
  Job job(shell({"-n", "2", "--grace", "0"},
                "state() { sed 's/.*) //' /proc/$1/stat | cut -c1; }; "
                "ended() { n=0; for c in $(cat /proc/$1/task/$1/children); do "
                "[ $(state $c) != Z ] || n=$((n + 1)); done; [ $n = 2 ]; }; "
                "if [ $p = 0 ]; then until [ $(state $PPID) = T ]; do sleep 0.01; done; kill -9 $$; fi; "
                "kill -STOP $PPID; (until ended $PPID; do sleep 0.01; done; kill -CONT $PPID) & exit 7"));
  EXPECT_EQ(job.status(), 128 + SIGKILL) << job.err();
}

// The system closes the channel of a process that ends before it tells of the end. Meanwhile others hear of it and end too.
TEST(Aqrun, WaitsForTheProcessWhoseChannelClosedFirst) {
  // bash, as channels may have numbers of two digits.
  Job job({"-n", "2", "--grace", "20", "/bin/bash", "-c",
           "f=${AQUEDUCT_BOOTSTRAP#fd:}; f=${f%%,*}; "
           "case $AQUEDUCT_BOOTSTRAP in *process:1,*) eval \"exec $f>&-\"; sleep 0.05; exit 5;; esac; "
           // Reads what aqrun sends: the news that process 1 is gone.
           "dd bs=1 count=1 <&$f >/dev/null 2>&1; exit 18"});
  EXPECT_EQ(job.status(), 5) << job.err();
  EXPECT_TRUE(has(job.err(), "aqrun: rank 1 (pid ")) << job.err();
  EXPECT_LT(job.err().find("exited with status 5"), job.err().find("exited with status 18")) << job.err();
}

TEST(Aqrun, LetsTheOthersEndByThemselvesWithinTheGrace) {
  Job job(shell({"-n", "2", "--grace", "20"}, "[ $p = 1 ] && exit 5; sleep 0.3; echo in good order"));
  EXPECT_EQ(job.status(), 5);
  EXPECT_EQ(job.count_lines("in good order"), 1u) << job.out();
}

TEST(Aqrun, KillsWhoDoesNotHeedSigterm) {
  Job job(
      shell({"-n", "2", "--grace", "0"}, "[ $p = 1 ] && exit 5; trap '' TERM; while :; do sleep 60; done"));
  EXPECT_EQ(job.status(), 5);
}

TEST(Aqrun, TagsWholeLines) {
  Job job(shell({"-n", "3", "--tag"},
                "for i in 1 2 3 4 5; do printf 'line '; printf '%s of %s\\n' $i $p; done; "
                "printf 'no end' ; echo err >&2"));
  EXPECT_EQ(job.status(), 0);
  EXPECT_EQ(job.lines().size(), 18u) << job.out();
  for (const char* rank : {"0", "1", "2"}) {
    const std::string tag = "[" + std::string(rank) + "] ";
    EXPECT_EQ(job.count_lines(tag + "line 4 of " + rank), 1u) << job.out();
    EXPECT_EQ(job.count_lines(tag + "no end"), 1u) << job.out();
    EXPECT_TRUE(has(job.err(), tag + "err\n")) << job.err();
    EXPECT_LT(job.out().find(tag + "line 1 of"), job.out().find(tag + "line 2 of"));
  }
}

TEST(Aqrun, GivesItsInputToRankZeroOnly) {
  Job job({"-n", "3", "--tag", "cat"}, "one\ntwo\n");
  EXPECT_EQ(job.status(), 0);
  EXPECT_EQ(job.out(), "[0] one\n[0] two\n");
  Job none({"-n", "2", "--stdin", "none", "cat"}, "one\n");
  EXPECT_EQ(none.status(), 0);
  EXPECT_EQ(none.out(), "");
}

TEST(Aqrun, PassesTheEnvironmentAndAddsToIt) {
  ::setenv("AQUEDUCT_PASSED_THROUGH", "yes", 1);
  Job job(shell({"-n", "2", "-e", "A=1", "-e", "B=x=y z", "--conduit", "smp"},
                "echo \"$A,$B,$AQUEDUCT_CONDUIT,$AQUEDUCT_PASSED_THROUGH,${AQUEDUCT_ENDPOINTS-unset}\""));
  ::unsetenv("AQUEDUCT_PASSED_THROUGH");
  EXPECT_EQ(job.status(), 0);
  EXPECT_EQ(job.count_lines("1,x=y z,smp,yes,unset"), 2u) << job.out();
}

TEST(Aqrun, PutsSeveralRanksIntoAProcess) {
  Job job(shell({"-n", "5", "--endpoints", "2", "--tag"}, "echo $p $AQUEDUCT_ENDPOINTS"));
  EXPECT_EQ(job.status(), 0);
  auto lines = job.lines();
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines, (std::vector<std::string>{"[0-1] 0 2", "[2-3] 1 2", "[4] 2 1"}));
}

// Otherwise -n 2 would start a job of six ranks.
TEST(Aqrun, CountsRanksAlsoIfTheirNumberInAProcessIsInTheEnvironment) {
  ::setenv("AQUEDUCT_ENDPOINTS", "3", 1);
  Job job({"-n", "2", "true"});
  Job given(shell({"-n", "6", "--endpoints", "3"}, "echo $AQUEDUCT_ENDPOINTS"));
  ::setenv("AQUEDUCT_ENDPOINTS", "1", 1);
  Job one({"-n", "2", "true"});
  ::unsetenv("AQUEDUCT_ENDPOINTS");
  EXPECT_EQ(job.status(), 2);
  EXPECT_TRUE(has(job.err(), "AQUEDUCT_ENDPOINTS=3: -n counts ranks")) << job.err();
  EXPECT_EQ(given.status(), 0) << given.err();
  EXPECT_EQ(given.count_lines("3"), 2u) << given.out();
  EXPECT_EQ(one.status(), 0) << one.err();
}

TEST(Aqrun, LeavesTheOptionsOfTheProgramToTheProgram) {
  Job job({"-n", "1", "echo", "-n", "7", "--tag", "-e"});
  EXPECT_EQ(job.status(), 0);
  EXPECT_EQ(job.out(), "7 --tag -e");
}

TEST(Aqrun, StartsManyRanks) {
  Job job({"-n", "256", "/bin/true"});
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_EQ(job.err(), "");
}

TEST(Aqrun, ForwardsMuchOutputWhole) {
  Job job({"-n", "2", "/bin/sh", "-c", "head -c 10000000 /dev/zero; head -c 10000000 /dev/zero >&2"});
  EXPECT_EQ(job.status(), 0);
  EXPECT_EQ(job.out().size(), 20000000u);
  EXPECT_EQ(job.err().size(), 20000000u);
}

TEST(Aqrun, EndsWhenNobodyReadsItsOutput) {
  Job job({"-n", "2", "yes"});
  ASSERT_TRUE(job.read_until([&] { return !job.out().empty(); }));
  job.close_output();
  EXPECT_EQ(job.status(), 128 + SIGPIPE) << job.err();
}

// The system reaps the children of a process that ignores their end, and aqrun waited for ever.
TEST(Aqrun, LearnsOfTheEndOfRanksThoughItsParentIgnoresSuchNews) {
  Job job(shell({"-n", "1"},
                "exec env --ignore-signal=CHLD " AQUEDUCT_BIN_DIR "/aqrun -n 2 --timeout 20 sh -c 'exit 5'"));
  EXPECT_EQ(job.status(), 5) << job.err();
}

// All ranks succeed, but output of one of them is lost.
TEST(Aqrun, FailsWhenItsOutputIsLost) {
  Job job(shell({"-n", "1"}, "exec " AQUEDUCT_BIN_DIR "/aqrun -n 2 echo lost > /dev/full"));
  EXPECT_EQ(job.status(), 1) << job.err();
  EXPECT_TRUE(
      has(job.err(), "aqrun: standard output: No space left on device: what the ranks write there is lost\n"))
      << job.err();
  Job help(shell({"-n", "1"}, "exec " AQUEDUCT_BIN_DIR "/aqrun --help > /dev/full"));
  EXPECT_EQ(help.status(), 1);
  EXPECT_TRUE(has(help.err(), "aqrun: standard output: No space left")) << help.err();
}

// Such as a list of files in place of an option's value, or of the program.
TEST(Aqrun, CutsWhatIsTooLongToReadInItsErrors) {
  const std::string word = "$(head -c 100000 /dev/zero | tr '\\0' x)";
  for (const std::string& call :
       {"-n 1 --bind " + word + " true", "-n 1 --hosts " + word + " true", "-n 1 /" + word}) {
    Job job(shell({"-n", "1"}, "exec " AQUEDUCT_BIN_DIR "/aqrun " + call));
    EXPECT_NE(job.status(), 0) << call;
    EXPECT_TRUE(has(job.err(), "xxx… (10000")) << call << ": " << job.err().substr(0, 200);
    EXPECT_LT(job.err().size(), 6000u) << call;
  }
}

TEST(Aqrun, FailsWhenItsReaderIsGoneThoughTheRanksDoNotMind) {
  Job job(shell(
      {"-n", "1"},
      "trap '' PIPE; trap 'echo late 2>/dev/null; exit 0' USR1; echo $$; while :; do sleep 0.01; done"));
  ASSERT_TRUE(job.read_until([&] { return !job.out().empty() && job.out().back() == '\n'; })) << job.err();
  const pid_t rank = std::stoi(job.out());
  job.close_output();
  ::kill(rank, SIGUSR1);
  EXPECT_EQ(job.status(), 128 + SIGPIPE) << job.err();
  EXPECT_TRUE(has(job.err(),
                  "aqrun: standard output: nobody reads it any more: what the ranks write there is lost\n"))
      << job.err();
}

TEST(Aqrun, StaysWithinItsTimeout) {
  const auto begin = Clock::now();
  Job job({"-n", "2", "--timeout", "0.2", "sleep", "60"});
  EXPECT_EQ(job.status(), 124);
  EXPECT_GE(Clock::now() - begin, 200ms);
  EXPECT_TRUE(has(job.err(), "--timeout 0.2 s; ending 2 ranks")) << job.err();
}

// Status of the job: that of the rank that failed first.
TEST(Aqrun, StaysWithinItsTimeoutAlsoAfterARankHasFailed) {
  const auto begin = Clock::now();
  Job job(shell({"-n", "2", "--timeout", "1", "--grace", "60"}, "[ $p = 0 ] && exit 7; exec sleep 60"));
  EXPECT_EQ(job.status(), 7);
  EXPECT_LT(Clock::now() - begin, 20s);
  EXPECT_TRUE(has(job.err(), "--timeout 1 s; ending 1 rank")) << job.err();
}

// As a pager that nobody leafs through. Each job has a pipe that is full already; both are open to the end, and nothing reads them.
TEST(Aqrun, EndsWhenItIsToldToThoughItsReaderHasStopped) {
  const std::string aqrun = AQUEDUCT_BIN_DIR "/aqrun -n 2 ";
  const std::string pipes =
      "f=$(mktemp -u); mkfifo $f $f.b; exec 3<>$f 4<>$f.b; rm $f $f.b; for p in 3 4; do "
      "dd if=/dev/zero of=/proc/self/fd/$p oflag=nonblock bs=4096 2>/dev/null; done; echo a >$f; ";
  const auto with = [&](const std::string& hosts) {
    return shell({"-n", "1"}, pipes + aqrun + hosts + "--timeout 1 yes >&3 & a=$!; " + aqrun + hosts +
                                  "yes >&4 & b=$!; sleep 2; kill -TERM $b; "
                                  "wait $a; echo $?; wait $b; echo $?; rm $f");
  };
  // Both at once: each waits for its readers for seconds.
  Job here(with(""));
  Job over_hosts(with("--hosts $f --remote 'env {command}' "));
  for (Job* const job : {&here, &over_hosts}) {
    EXPECT_EQ(job->status(), 0) << job->err();
    EXPECT_EQ(job->out(), "124\n143\n") << (job == &here ? "here" : "over hosts");
    EXPECT_TRUE(
        has(job->err(), "aqrun: standard output: its reader accepts nothing: what the ranks wrote last"))
        << job->err();
  }
}

// 0 would mean no limit.
TEST(Aqrun, RoundsItsTimeoutUp) {
  Job job({"-n", "1", "--timeout", "0.0004", "sleep", "60"});
  EXPECT_EQ(job.status(), 124);
}

TEST(Aqrun, ShowsAWholeCallInItsHelp) {
  Job job({"--help"});
  EXPECT_EQ(job.status(), 0);
  EXPECT_TRUE(has(job.out(), "Usage: aqrun -n N [OPTIONS] PROGRAM [ARGS...]\n")) << job.out();
}

struct WrongUse {
  std::vector<std::string> arguments;
  int status;
  const char* says;
};
void PrintTo(const WrongUse& wrong, std::ostream* out) { *out << wrong.says; }
class BadCommandLine : public testing::TestWithParam<WrongUse> {};

TEST_P(BadCommandLine, SaysWhatIsWrong) {
  Job job(GetParam().arguments);
  EXPECT_EQ(job.status(), GetParam().status);
  EXPECT_TRUE(has(job.err(), GetParam().says)) << job.err();
  EXPECT_EQ(std::count(job.err().begin(), job.err().end(), '\n'), 1) << job.err();
}
INSTANTIATE_TEST_SUITE_P(
    Aqrun, BadCommandLine,
    testing::Values(
        WrongUse{{"-n", "0", "true"}, 2, "-n 0"}, WrongUse{{"-n", "257", "true"}, 2, "1 to 256"},
        WrongUse{{"-n", "x", "true"}, 2, "-n"}, WrongUse{{"true"}, 2, "-n is required"},
        WrongUse{{"-n", "2"}, 2, "no PROGRAM"}, WrongUse{{"-n", "2", "", "x"}, 2, "PROGRAM is empty"},
        WrongUse{{"-n", "2", "--tga", "true"}, 2, "--tga"},
        WrongUse{{"-n", "2", "-e", "A", "true"}, 2, "NAME=value"},
        WrongUse{{"-n", "2", "-e", "AQUEDUCT_BOOTSTRAP=x", "true"}, 2, "aqrun itself sets"},
        WrongUse{{"-n", "2", "--endpoints", "3", "true"}, 2, "--endpoints 3"},
        WrongUse{{"-n", "4", "-e", "AQUEDUCT_ENDPOINTS=2", "true"}, 2, "give --endpoints 2, or unset"},
        WrongUse{{"-n", "2", "--bind", "moon", "true"}, 2, "--bind"},
        WrongUse{{"-n", "2", "--remote", "env {command}", "true"}, 2, "--hosts FILE, which is missing"},
        WrongUse{{"-n", "2", "--pmix", "true"}, 2, "aqrun cannot start jobs through PMIx"},
        WrongUse{{"-n", "2", "no-such-program"}, 127, "no program no-such-program"},
        WrongUse{{"-n", "2", "/tmp"}, 126, "/tmp is a folder"},
        WrongUse{{"-n", "2", "/no/such/program"}, 127, "no program /no/such/program"},
        WrongUse{{"-n", "2", "/etc/passwd"}, 126, "/etc/passwd is not an executable file"}));

class Ending : public testing::TestWithParam<int> {};

TEST_P(Ending, BySignalIsForwarded) {
  Job job(shell({"-n", "2", "--grace", "20"},
                "trap 'echo heard; exit 0' INT TERM HUP QUIT; echo ready; "
                "while :; do sleep 0.05; done"));
  ASSERT_TRUE(job.read_until([&] { return job.count_lines("ready") == 2; })) << job.err();
  job.signal(GetParam());
  EXPECT_EQ(job.status(), 128 + GetParam());
  EXPECT_EQ(job.count_lines("heard"), 2u) << job.out();
  EXPECT_TRUE(has(job.err(), "; ending 2 ranks\n")) << job.err();
}
INSTANTIATE_TEST_SUITE_P(Aqrun, Ending, testing::Values(SIGINT, SIGTERM, SIGHUP, SIGQUIT));

// As batch systems announce the end of the time.
TEST(Aqrun, PassesUserSignalsOnAndGoesOn) {
  for (const int signal : {SIGUSR1, SIGUSR2}) {
    Job job(shell({"-n", "2", "--grace", "0"},
                  "n=0; trap 'n=$((n + 1)); echo heard' USR1 USR2; echo ready; "
                  "while [ $n -lt 2 ]; do sleep 0.05; done; echo done"));
    ASSERT_TRUE(job.read_until([&] { return job.count_lines("ready") == 2; })) << job.err();
    job.signal(signal);
    ASSERT_TRUE(job.read_until([&] { return job.count_lines("heard") == 2; })) << job.out() << job.err();
    job.signal(signal);
    EXPECT_EQ(job.status(), 0) << job.err();
    EXPECT_EQ(job.count_lines("done"), 2u) << job.out();
    EXPECT_FALSE(has(job.err(), "aqrun: ")) << job.err();
  }
}

TEST(Aqrun, PassesUserSignalsToTheRankAlone) {
  Job job(shell({"-n", "2", "--grace", "0"},
                "sh -c 'trap \"echo child heard\" USR1; echo ready; while :; do sleep 0.05; done' & "
                "n=0; trap 'n=1' USR1; echo ready; while [ $n = 0 ]; do sleep 0.05; done; "
                "echo heard; sleep 0.3; kill -9 $!"));
  ASSERT_TRUE(job.read_until([&] { return job.count_lines("ready") == 4; })) << job.err();
  job.signal(SIGUSR1);
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_EQ(job.count_lines("heard"), 2u) << job.out();
  EXPECT_EQ(job.count_lines("child heard"), 0u) << job.out();
}

// The shell has no trap, and would end.
TEST(Aqrun, PassesUserSignalsToRanksBehindAShell) {
  Job job(shell({"-n", "2", "--grace", "0", "--conduit", "smp"}, AQUEDUCT_BIN_DIR "/heed_signal; echo over"));
  ASSERT_TRUE(job.read_until([&] { return job.count_lines("ready") == 2; })) << job.err();
  job.signal(SIGUSR1);
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_EQ(job.count_lines("heard"), 2u) << job.out();
  EXPECT_EQ(job.count_lines("over"), 2u) << job.out();
}

TEST(Aqrun, KillsAtOnceAtTheSecondInterrupt) {
  Job job(shell({"-n", "2", "--grace", "1000"},
                "trap 'echo heard' INT; echo ready; while :; do sleep 0.05; done"));
  ASSERT_TRUE(job.read_until([&] { return job.count_lines("ready") == 2; })) << job.err();
  job.signal(SIGINT);
  ASSERT_TRUE(job.read_until([&] { return job.count_lines("heard") == 2; })) << job.err();
  job.signal(SIGINT);
  EXPECT_EQ(job.status(), 128 + SIGINT);
}

TEST(Aqrun, LeavesNothingBehindWhenItIsKilled) {
  Job job(shell({"-n", "4"}, std::string(kFamily) + "wait"));
  ASSERT_TRUE(job.read_until([&] { return job.lines().size() == 8 && job.out().back() == '\n'; }))
      << job.err();
  job.signal(SIGKILL);
  EXPECT_TRUE(all_end(job.lines())) << job.out();
  EXPECT_EQ(job.status(), 128 + SIGKILL);
}

TEST(Aqrun, LeavesNothingBehindAfterAFailure) {
  Job job(shell({"-n", "4", "--grace", "0"}, std::string(kFamily) + "[ $p = 2 ] && exit 3; wait"));
  EXPECT_EQ(job.status(), 3);
  EXPECT_TRUE(all_end(job.lines())) << job.out();
}

// A shell's background process, or `> >(tee log)`, is a child of aqrun if the shell executes aqrun in its place.
TEST(Aqrun, LeavesTheChildrenOfItsShellAlone) {
  Job job(shell({"-n", "1"}, "f=$(mktemp); sh -c 'sleep 300 >/dev/null 2>&1 & echo $!; exec " AQUEDUCT_BIN_DIR
                             "/aqrun -n 2 sh -c \"setsid sleep 300 >/dev/null 2>&1 &\"' >$f; "
                             "kill -0 $(cat $f) && echo alive; rm $f"));
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_EQ(job.out(), "alive\n") << job.err();
}

TEST(Aqrun, LeavesNothingBehindAfterAGoodEndEvenOutsideTheGroup) {
  Job job(shell({"-n", "2"},
                "echo $(setsid sh -c 'echo $$; exec sleep 300 >/dev/null' &); " + std::string(kFamily)));
  EXPECT_EQ(job.status(), 0);
  EXPECT_EQ(job.lines().size(), 6u) << job.out();
  EXPECT_TRUE(all_end(job.lines())) << job.out();
}

}  // namespace
}  // namespace aqueduct::integration
