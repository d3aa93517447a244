// Drives the real aqrun with small shell programs as ranks.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kBound = 30s;  // for what should take a fraction: only ever reached by a failure

/// aqrun as a child of the test, with its streams in pipes.
class Job {
 public:
  explicit Job(std::vector<std::string> arguments, std::string input = {}) {
    int in[2], out[2], err[2];
    for (int* ends : {in, out, err}) EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    arguments.insert(arguments.begin(), AQUEDUCT_BIN_DIR "/aqrun");
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
      ::dup2(err[1], 2);
      ::execv(pointers[0], pointers.data());
      ::_exit(99);
    }
    for (const int end : {in[0], out[1], err[1]}) ::close(end);
    EXPECT_EQ(::write(in[1], input.data(), input.size()), static_cast<ssize_t>(input.size()));
    ::close(in[1]);
    streams_ = {{out[0], {}}, {err[0], {}}};
  }
  ~Job() {
    if (status_ < 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    for (const auto& stream : streams_) ::close(stream.descriptor);
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Reads until the condition holds; false at the end of both streams or of the bound.
  bool read_until(const std::function<bool()>& condition) {
    const auto until = Clock::now() + kBound;
    while (!condition()) {
      std::array<pollfd, 2> events{};
      for (std::size_t i = 0; i < 2; ++i)
        events[i] = {streams_[i].open ? streams_[i].descriptor : -1, POLLIN, 0};
      if ((!streams_[0].open && !streams_[1].open) || Clock::now() > until) return false;
      ::poll(events.data(), events.size(), 100);
      for (std::size_t i = 0; i < 2; ++i) {
        if (events[i].revents == 0) continue;
        std::array<char, 65536> piece;
        const auto got = ::read(streams_[i].descriptor, piece.data(), piece.size());
        if (got > 0) streams_[i].text.append(piece.data(), static_cast<std::size_t>(got));
        streams_[i].open = got > 0;
      }
    }
    return true;
  }
  /// Waits for the end of aqrun and of its streams; its status, 128 + signal, or -1 at the bound.
  int status() {
    read_until([] { return false; });
    if (status_ >= 0 || streams_[0].open || streams_[1].open) return status_;
    int found = 0;
    if (::waitpid(pid_, &found, 0) == pid_) {
      status_ = WIFSIGNALED(found) ? 128 + WTERMSIG(found) : WEXITSTATUS(found);
    }
    return status_;
  }
  const std::string& out() const { return streams_[0].text; }
  const std::string& err() const { return streams_[1].text; }
  std::vector<std::string> lines() const {
    std::vector<std::string> found;
    std::istringstream in(out());
    for (std::string line; std::getline(in, line);) found.push_back(line);
    return found;
  }
  std::size_t count_lines(const std::string& wanted) const {
    const auto all = lines();
    return static_cast<std::size_t>(std::count(all.begin(), all.end(), wanted));
  }
  void signal(int number) const { ::kill(pid_, number); }
  void close_output() {
    ::close(streams_[0].descriptor);
    streams_[0] = {-1, {}, false};
  }

 private:
  struct Stream {
    int descriptor = -1;
    std::string text;
    bool open = true;
  };
  pid_t pid_ = -1;
  int status_ = -1;
  std::vector<Stream> streams_;
};

/// A shell program that knows its process number as $p.
std::string numbered(const std::string& script) {
  return "p=${AQUEDUCT_BOOTSTRAP#*process:}; p=${p%%,*}; " + script;
}
std::vector<std::string> shell(std::vector<std::string> options, const std::string& script) {
  for (const std::string& word : {std::string("/bin/sh"), std::string("-c"), numbered(script)}) {
    options.push_back(word);
  }
  return options;
}
bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool is_alive(pid_t pid) {
  std::string state;
  if (FILE* file = std::fopen(("/proc/" + std::to_string(pid) + "/stat").c_str(), "r"); file != nullptr) {
    std::array<char, 512> text{};
    state.assign(text.data(), std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
  }
  const auto name_end = state.rfind(')');
  return name_end != std::string::npos && state[name_end + 2] != 'Z' && state[name_end + 2] != 'X';
}
/// Whether all the processes whose numbers were printed are gone, at the latest after a few seconds.
bool all_end(const std::vector<std::string>& pids) {
  const auto until = Clock::now() + 5s;
  const auto alive = [](const std::string& pid) { return is_alive(std::stoi(pid)); };
  while (std::any_of(pids.begin(), pids.end(), alive)) {
    if (Clock::now() > until) return false;
    ::poll(nullptr, 0, 2);
  }
  return true;
}

// These programs know nothing of Aqueduct: who has never joined the job need not leave it.
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

TEST(Aqrun, StaysWithinItsTimeout) {
  const auto begin = Clock::now();
  Job job({"-n", "2", "--timeout", "0.2", "sleep", "60"});
  EXPECT_EQ(job.status(), 124);
  EXPECT_GE(Clock::now() - begin, 200ms);
  EXPECT_TRUE(has(job.err(), "--timeout 0.2 s; ending 2 ranks")) << job.err();
}

struct Wrong {
  std::vector<std::string> arguments;
  int status;
  const char* says;
};
void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.says; }
class BadCommandLine : public testing::TestWithParam<Wrong> {};

TEST_P(BadCommandLine, SaysWhatIsWrong) {
  Job job(GetParam().arguments);
  EXPECT_EQ(job.status(), GetParam().status);
  EXPECT_TRUE(has(job.err(), GetParam().says)) << job.err();
  EXPECT_EQ(std::count(job.err().begin(), job.err().end(), '\n'), 1) << job.err();
}
INSTANTIATE_TEST_SUITE_P(
    Aqrun, BadCommandLine,
    testing::Values(Wrong{{"-n", "0", "true"}, 2, "-n 0"}, Wrong{{"-n", "257", "true"}, 2, "1 to 256"},
                    Wrong{{"-n", "x", "true"}, 2, "-n"}, Wrong{{"true"}, 2, "-n is required"},
                    Wrong{{"-n", "2"}, 2, "no PROGRAM"}, Wrong{{"-n", "2", "--tga", "true"}, 2, "--tga"},
                    Wrong{{"-n", "2", "-e", "A", "true"}, 2, "NAME=value"},
                    Wrong{{"-n", "2", "-e", "AQUEDUCT_BOOTSTRAP=x", "true"}, 2, "aqrun itself sets"},
                    Wrong{{"-n", "2", "--endpoints", "3", "true"}, 2, "--endpoints 3"},
                    Wrong{{"-n", "2", "--bind", "moon", "true"}, 2, "--bind"},
                    Wrong{{"-n", "2", "--hosts", "f", "true"}, 2, "this build has none"},
                    Wrong{{"-n", "2", "--pmix", "true"}, 2, "this build has none"},
                    Wrong{{"-n", "2", "no-such-program"}, 127, "no program no-such-program"},
                    Wrong{{"-n", "2", "/no/such/program"}, 127, "no program /no/such/program"},
                    Wrong{{"-n", "2", "/etc/passwd"}, 126, "/etc/passwd is not an executable file"}));

class Ending : public testing::TestWithParam<int> {};

TEST_P(Ending, BySignalIsForwarded) {
  Job job(shell({"-n", "2", "--grace", "20"},
                "trap 'echo heard; exit 0' INT TERM HUP; echo ready; "
                "while :; do sleep 0.05; done"));
  ASSERT_TRUE(job.read_until([&] { return job.count_lines("ready") == 2; })) << job.err();
  job.signal(GetParam());
  EXPECT_EQ(job.status(), 128 + GetParam());
  EXPECT_EQ(job.count_lines("heard"), 2u) << job.out();
  EXPECT_TRUE(has(job.err(), "; ending 2 ranks\n")) << job.err();
}
INSTANTIATE_TEST_SUITE_P(Aqrun, Ending, testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST(Aqrun, KillsAtOnceAtTheSecondInterrupt) {
  Job job(shell({"-n", "2", "--grace", "1000"},
                "trap 'echo heard' INT; echo ready; while :; do sleep 0.05; done"));
  ASSERT_TRUE(job.read_until([&] { return job.count_lines("ready") == 2; })) << job.err();
  job.signal(SIGINT);
  ASSERT_TRUE(job.read_until([&] { return job.count_lines("heard") == 2; })) << job.err();
  job.signal(SIGINT);
  EXPECT_EQ(job.status(), 128 + SIGINT);
}

// Each rank prints its own number and that of a child.
constexpr const char* kFamily = "echo $$; sleep 300 & echo $!; ";

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

TEST(Aqrun, LeavesNothingBehindAfterAGoodEndEvenOutsideTheGroup) {
  Job job(shell({"-n", "2"},
                "echo $(setsid sh -c 'echo $$; exec sleep 300 >/dev/null' &); " + std::string(kFamily)));
  EXPECT_EQ(job.status(), 0);
  EXPECT_EQ(job.lines().size(), 6u) << job.out();
  EXPECT_TRUE(all_end(job.lines())) << job.out();
}

}  // namespace
