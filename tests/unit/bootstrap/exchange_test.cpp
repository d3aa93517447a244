#include "bootstrap/client.hpp"
#include "tools/launch/server.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace aqueduct::bootstrap {
namespace {

using namespace std::chrono_literals;
using launch::Server;
using Clock = std::chrono::steady_clock;
using Blobs = std::vector<std::vector<std::byte>>;

constexpr auto kBound = 20s;  // reached only by a failure: everything it bounds should take milliseconds

std::vector<std::byte> part_of(std::uint32_t process, std::uint32_t round) {
  static constexpr std::size_t kSizes[] = {0, 1, 1000, std::size_t{1} << 20};
  std::vector<std::byte> made(kSizes[(process + round) % 4]);
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<std::byte>(i * 31 + process + round);
  return made;
}

bool holds_all_parts(const Blobs& found, std::uint32_t processes, std::uint32_t round) {
  if (found.size() != processes) return false;
  for (std::uint32_t p = 0; p < processes; ++p) {
    if (found[p] != part_of(p, round)) return false;
  }
  return true;
}

/// A job whose processes are threads of the test; the test itself is the launcher.
class Threads {
 public:
  explicit Threads(std::uint32_t processes)
      : server_(processes, [this](std::string_view why) { why_ = why; }) {
    for (std::uint32_t i = 0; i < processes; ++i) {
      const auto child = server_.child_environment(i);
      EXPECT_TRUE(child);
      values_.push_back(child->value);
      server_.handed_over(i);
    }
  }
  Server& server() { return server_; }
  const std::string& why() const { return why_; }

  std::unique_ptr<Bootstrap> join(std::uint32_t i, std::uint32_t library = library_version(),
                                  std::chrono::milliseconds timeout = kBound, Report report = {}) {
    auto client = from_launcher(values_[i], timeout, std::move(report), library);
    return client ? std::move(*client) : nullptr;
  }
  void run(const std::function<void(std::uint32_t)>& process) {
    std::atomic<std::size_t> ended = 0;
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < values_.size(); ++i) {
      threads.emplace_back([&, i] {
        process(i);
        ++ended;
      });
    }
    while (ended < threads.size()) server_.serve(5ms);
    for (std::thread& thread : threads) thread.join();
    while (server_.serve(0ms) > 0) {
    }
  }

 private:
  std::string why_;
  Server server_;
  std::vector<std::string> values_;
};

class Exchange : public testing::TestWithParam<std::uint32_t> {};

TEST_P(Exchange, GivesEveryPartToEveryone) {
  const std::uint32_t processes = GetParam();
  Threads job(processes);
  job.run([&](std::uint32_t i) {
    const auto me = job.join(i);
    ASSERT_TRUE(me);
    EXPECT_EQ(me->process(), i);
    EXPECT_EQ(me->processes(), processes);
    EXPECT_EQ(me->job(), job.server().job());
    EXPECT_EQ(me->launcher(), "aqrun");
    for (std::uint32_t round = 0; round < 3; ++round) {
      const auto found = me->exchange(part_of(i, round));
      ASSERT_TRUE(found) << static_cast<int>(found.status().code());
      EXPECT_TRUE(holds_all_parts(*found, processes, round)) << "round " << round;
    }
    me->poll_losses([](std::uint32_t process) { ADD_FAILURE() << process << " was said to be lost"; });
    me->leave();
  });
  for (std::uint32_t i = 0; i < processes; ++i) EXPECT_TRUE(job.server().left(i)) << i;
  EXPECT_FALSE(job.server().first_lost());
}
INSTANTIATE_TEST_SUITE_P(Sizes, Exchange, testing::Values(1, 2, 17));

TEST(Exchange, FailsForEveryoneWhenAProcessWithAnotherVersionTakesPart) {
  Threads job(3);
  job.run([&](std::uint32_t i) {
    const auto me = job.join(i, i == 1 ? 90807 : library_version());
    EXPECT_EQ(me->exchange(part_of(i, 0)).status().code(), ErrorCode::version_mismatch) << i;
    EXPECT_EQ(me->exchange(part_of(i, 1)).status().code(), ErrorCode::version_mismatch) << i;
  });
  EXPECT_NE(job.why().find("process 1"), std::string::npos) << job.why();
  EXPECT_NE(job.why().find("9.8.7"), std::string::npos) << job.why();
  EXPECT_NE(job.why().find(library_version_text()), std::string::npos) << job.why();
}

TEST(Exchange, EndsAtItsDeadline) {
  Threads job(2);
  std::string why;
  job.run([&](std::uint32_t i) {
    if (i == 1) return;
    const auto me = job.join(0, library_version(), 50ms, [&why](std::string_view text) { why = text; });
    const auto begin = Clock::now();
    EXPECT_EQ(me->exchange({}).status().code(), ErrorCode::timed_out);
    EXPECT_GE(Clock::now() - begin, 50ms);
  });
  EXPECT_NE(why.find("AQUEDUCT_BOOTSTRAP_TIMEOUT"), std::string::npos) << why;
  job.server().process_ended(0);
  EXPECT_NE(
      job.why().find(
          "process 0 has given up or ended while it waited for 1 of 2 processes in exchange 0: 1 (has not "
          "joined the job)"),
      std::string::npos)
      << job.why();
}

TEST(Exchange, FailsWhenTheLauncherEnds) {
  auto job = std::make_unique<Threads>(2);
  std::string why;
  const auto me = job->join(0, library_version(), kBound, [&why](std::string_view text) { why = text; });
  std::thread waiting([&] { EXPECT_EQ(me->exchange({}).status().code(), ErrorCode::bootstrap_failed); });
  while (!job->server().joined(0)) job->server().serve(5ms);
  job.reset();
  waiting.join();
  EXPECT_NE(why.find("launcher"), std::string::npos) << why;
}

TEST(Exchange, RefusesAPartThatNoFrameHolds) {
  Threads job(1);
  const auto me = job.join(0);
  const std::vector<std::byte> much(wire::kMostFrame / 2 + 1);
  EXPECT_EQ(me->exchange(much).status().code(), ErrorCode::too_large);
}

TEST(Exchange, SucceedsWhenTheDeadHadGivenTheirPart) {
  Server server(2);
  const auto living = server.child_environment(0);
  const auto dying = server.child_environment(1);
  ASSERT_TRUE(living && dying);
  server.handed_over(0);
  for (const wire::Message& message : {wire::Message{wire::Hello{wire::kProtocol, library_version(), 1}},
                                       wire::Message{wire::Exchange{0, {}}}}) {
    const auto frame = wire::encode(message);
    ASSERT_EQ(::write(dying->descriptor, frame.data(), frame.size()), static_cast<ssize_t>(frame.size()));
  }
  server.process_ended(1);

  std::atomic<bool> ended = false;
  std::thread other([&] {
    const auto me = from_launcher(living->value, kBound, {});
    EXPECT_TRUE((*me)->exchange(part_of(0, 0)));
    std::vector<std::uint32_t> lost;
    const auto note = [&lost](std::uint32_t process) { lost.push_back(process); };
    for (int call = 0; call < 3; ++call) (*me)->poll_losses(note);
    EXPECT_EQ(lost, std::vector<std::uint32_t>{1}) << "each loss is told once";
    EXPECT_EQ((*me)->exchange(part_of(0, 1)).status().code(), ErrorCode::peer_lost);
    ended = true;
  });
  while (!ended) server.serve(5ms);
  other.join();
  server.process_ended(0);
  EXPECT_EQ(server.first_lost(), 1u) << "whoever goes later may do so because of it";
}

TEST(Leaving, IsNoLossButNoLongerTakesPart) {
  Threads job(2);
  job.run([&](std::uint32_t i) {
    const auto me = job.join(i);
    if (i == 1) return me->leave();
    EXPECT_EQ(me->exchange({}).status().code(), ErrorCode::peer_lost);
    me->poll_losses([](std::uint32_t) { ADD_FAILURE() << "who left was said to be lost"; });
  });
  EXPECT_TRUE(job.server().left(1));
}

TEST(CutOff, IsALossToTheOthersAlsoIfItLeavesInGoodOrder) {
  Threads job(3);
  job.run([&](std::uint32_t i) {
    const auto me = job.join(i);
    if (i == 1) {
      me->tell_cut_off();
      me->tell_cut_off();
      return me->leave();
    }
    std::vector<std::uint32_t> lost;
    const auto until = Clock::now() + kBound;
    while (lost.empty() && Clock::now() < until)
      me->poll_losses([&lost](std::uint32_t process) { lost.push_back(process); });
    EXPECT_EQ(lost, std::vector<std::uint32_t>{1});
    me->leave();
  });
  EXPECT_TRUE(job.server().left(1));
  EXPECT_FALSE(job.server().first_lost()) << "no process has ended by itself";
}

TEST(Aborting, ReachesTheLauncherWithItsReason) {
  Threads job(2);
  job.run([&](std::uint32_t i) {
    const auto me = job.join(i);
    if (i == 1) me->abort(-7, "no more fuel");
  });
  ASSERT_TRUE(job.server().abort_asked());
  EXPECT_EQ(job.server().abort_asked()->process, 1u);
  EXPECT_EQ(job.server().abort_asked()->code, -7);
  EXPECT_EQ(job.server().abort_asked()->why, "no more fuel");
}

TEST(Server, SurvivesGarbageAndTellsTheOthers) {
  Server server(2);
  const auto bad = server.child_environment(0);
  const auto good = server.child_environment(1);
  ASSERT_TRUE(bad && good);
  server.handed_over(1);
  std::atomic<bool> ended = false;
  std::thread other([&] {
    const auto me = from_launcher(good->value, kBound, {});
    EXPECT_EQ((*me)->exchange({}).status().code(), ErrorCode::bootstrap_failed);
    ended = true;
  });
  ASSERT_EQ(::write(bad->descriptor, "\x02\0\0\0\x63\x63", 6), 6);
  while (!ended) server.serve(5ms);
  other.join();
}

TEST(Server, RefusesProcessesThatThereAreNot) {
  Server server(2);
  EXPECT_EQ(server.child_environment(2).status().code(), ErrorCode::out_of_range);
  ASSERT_TRUE(server.child_environment(1));
  EXPECT_EQ(server.child_environment(1).status().code(), ErrorCode::invalid_argument);
}

/// Forks that many processes; returns their exit statuses (or 128 + signal), as the launcher's loop saw them.
std::vector<int> fork_each(Server& server, std::uint32_t processes,
                           const std::function<int(std::uint32_t, const std::string&)>& process) {
  std::vector<pid_t> pids;
  for (std::uint32_t i = 0; i < processes; ++i) {
    const auto child = server.child_environment(i);
    EXPECT_TRUE(child);
    const pid_t pid = ::fork();
    if (pid == 0) {
      server.become_child(i);
      ::_exit(process(i, child->value));
    }
    server.started(i);
    pids.push_back(pid);
  }
  std::vector<int> statuses(processes, -1);
  const auto until = Clock::now() + kBound;
  for (std::uint32_t running = processes; running > 0;) {
    server.serve(5ms);
    for (std::uint32_t i = 0; i < processes; ++i) {
      int status = 0;
      if (statuses[i] >= 0 || ::waitpid(pids[i], &status, WNOHANG) != pids[i]) continue;
      statuses[i] = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      server.process_ended(i);
      --running;
    }
    if (Clock::now() > until) {
      for (const pid_t pid : pids) ::kill(pid, SIGKILL);
    }
  }
  return statuses;
}

int status_of(const Result<Blobs>& result) { return result.status().exit_code(); }

TEST(ForkedProcesses, ExchangeAndLeave) {
  Server server(5);
  const auto statuses = fork_each(server, 5, [](std::uint32_t i, const std::string& value) {
    const auto me = from_launcher(value, kBound, {});
    const auto found = (*me)->exchange(part_of(i, 0));
    if (!found || !holds_all_parts(*found, 5, 0)) return 1;
    (*me)->leave();
    return 0;
  });
  EXPECT_EQ(statuses, std::vector<int>(5, 0));
}

TEST(ForkedProcesses, HearOfOneThatDiesBeforeAnExchange) {
  Server server(4);
  const auto statuses = fork_each(server, 4, [](std::uint32_t i, const std::string& value) {
    if (i == 2) ::raise(SIGKILL);
    const auto me = from_launcher(value, kBound, {});
    return status_of((*me)->exchange({}));
  });
  const int lost = Status(ErrorCode::peer_lost).exit_code();
  EXPECT_EQ(statuses, (std::vector<int>{lost, lost, 128 + SIGKILL, lost}));
}

TEST(ForkedProcesses, AreToldIfOneForksAndBothJoin) {
  std::string why;
  Server server(2, [&why](std::string_view text) { why = text; });
  const auto statuses = fork_each(server, 2, [](std::uint32_t i, const std::string& value) {
    const pid_t second = i == 1 ? ::fork() : -1;
    if (second == 0) ::alarm(20);  // the first one waits for it
    const auto me = from_launcher(value, kBound, {});
    if (second == 0) ::_exit(me ? 0 : 1);
    if (second > 0) ::waitpid(second, nullptr, 0);
    if (!me) return me.status().exit_code();
    return status_of((*me)->exchange({}));
  });
  EXPECT_EQ(statuses, std::vector<int>(2, Status(ErrorCode::bootstrap_failed).exit_code()));
  EXPECT_NE(why.find("process 1 joins the job a second time; has it forked"), std::string::npos) << why;
}

TEST(ForkedProcesses, HearOfOneThatDiesDuringTheSecondExchange) {
  Server server(3);
  const auto statuses = fork_each(server, 3, [](std::uint32_t i, const std::string& value) {
    const auto me = from_launcher(value, kBound, {});
    if (!(*me)->exchange(part_of(i, 0))) return 1;
    if (i == 0) ::raise(SIGKILL);
    if (status_of((*me)->exchange(part_of(i, 1))) != Status(ErrorCode::peer_lost).exit_code()) return 2;
    int lost = 0;
    (*me)->poll_losses([&lost](std::uint32_t process) { lost += process == 0 ? 1 : 0; });
    return lost == 1 ? 0 : 3;
  });
  EXPECT_EQ(statuses, (std::vector<int>{128 + SIGKILL, 0, 0}));
}

TEST(Alone, ExchangesWithItself) {
  const auto me = alone();
  EXPECT_EQ(me->launcher(), "alone");
  EXPECT_EQ(me->processes(), 1u);
  EXPECT_NE(me->job(), alone()->job());
  const auto found = me->exchange(part_of(0, 2));
  ASSERT_TRUE(found);
  EXPECT_TRUE(holds_all_parts(*found, 1, 2));
}

}  // namespace
}  // namespace aqueduct::bootstrap
