// A process ends the whole job with a code: what the launcher and the other processes learn.

#include "bootstrap/client.hpp"
#include "bootstrap/exit_limit.hpp"
#include "tests/support/forked.hpp"
#include "tools/launch/server.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace aqueduct::bootstrap {
namespace {

using namespace std::chrono_literals;
using ExitClock = std::chrono::steady_clock;

constexpr auto kExitBound = 20s;  // reached only by a failure: everything it bounds should take milliseconds

/// A job whose processes are threads of the test; the test itself is the launcher.
class ExitingJob {
 public:
  explicit ExitingJob(std::uint32_t processes)
      : server_(processes, [this](std::string_view why) { reported_ += why; }) {
    for (std::uint32_t i = 0; i < processes; ++i) {
      const auto child = server_.child_environment(i);
      EXPECT_TRUE(child);
      values_.push_back(child->value);
      server_.handed_over(i);
    }
  }
  /// Runs `body(i, client)` for each process on a thread, and the launcher until all have ended.
  template <class Body>
  void run(const Body& body) {
    std::atomic<std::size_t> ended = 0;
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < values_.size(); ++i) {
      threads.emplace_back([&, i] {
        const auto client = from_launcher(values_[i], kExitBound, [&](std::string_view) { ++complaints_; });
        EXPECT_TRUE(client);
        body(i, **client);
        ++ended;
      });
    }
    while (ended < threads.size()) server_.serve(5ms);
    for (std::thread& thread : threads) thread.join();
    while (server_.serve(0ms) > 0) {
    }
  }
  launch::Server& server() { return server_; }
  const std::string& reported() const { return reported_; }
  int complaints() const { return complaints_; }

 private:
  std::string reported_;
  std::atomic<int> complaints_ = 0;
  launch::Server server_;
  std::vector<std::string> values_;
};

/// Polls until the launcher has told of an exit. Returns its code, or -1 at the limit.
int wait_for_exit(Bootstrap& me, int& losses) {
  const auto until = ExitClock::now() + kExitBound;
  while (!me.exit_asked()) {
    if (ExitClock::now() > until) return -1;
    me.poll_losses([&](std::uint32_t) { ++losses; });
    ::poll(nullptr, 0, 1);
  }
  return *me.exit_asked();
}

TEST(Exit, ReachesTheLauncherAndAllOthersAndIsNoLoss) {
  ExitingJob job(3);
  std::atomic<int> losses = 0;
  job.run([&](std::uint32_t i, Bootstrap& me) {
    if (i == 1) {
      EXPECT_TRUE(me.lives_after_exit());
      me.exit(7);
      return;
    }
    int seen = 0;
    EXPECT_EQ(wait_for_exit(me, seen), 7) << "process " << i;
    losses += seen;
  });
  ASSERT_TRUE(job.server().exit_asked());
  EXPECT_EQ(*job.server().exit_asked(), (wire::Exit{1, 7}));
  EXPECT_EQ(losses, 0);
  EXPECT_FALSE(job.server().first_lost()) << "a process that ends after an exit was asked for is not lost";
  EXPECT_TRUE(job.server().left(1));
}

TEST(Exit, HasReachedTheOthersWhenTheCallReturns) {
  ExitingJob job(2);
  std::atomic<bool> returned = false;
  job.run([&](std::uint32_t i, Bootstrap& me) {
    if (i == 1) {
      me.exit(-3);
      returned = true;
      return;
    }
    while (!returned) std::this_thread::yield();
    me.poll_losses([](std::uint32_t) { ADD_FAILURE() << "a loss was reported"; });
    EXPECT_EQ(me.exit_asked(), -3);
  });
}

TEST(Exit, OfTheFirstCounts) {
  ExitingJob job(4);
  std::array<int, 4> told{};
  job.run([&](std::uint32_t i, Bootstrap& me) {
    me.exit(10 + static_cast<int>(i));
    int losses = 0;
    told[i] = wait_for_exit(me, losses);
    EXPECT_EQ(losses, 0);
  });
  ASSERT_TRUE(job.server().exit_asked());
  const int first = job.server().exit_asked()->code;
  EXPECT_EQ(first, 10 + static_cast<int>(job.server().exit_asked()->process));
  for (const int code : told) EXPECT_EQ(code, first);
}

TEST(Exit, EndsAnExchangeWithoutAComplaint) {
  ExitingJob job(3);
  job.run([&](std::uint32_t i, Bootstrap& me) {
    if (i == 2) {
      me.exit(5);
      return;
    }
    EXPECT_EQ(me.exchange({}).status().code(), ErrorCode::peer_lost);
    EXPECT_EQ(me.exit_asked(), 5);
  });
  EXPECT_EQ(job.complaints(), 0);
  EXPECT_EQ(job.reported(), "");
}

TEST(Exit, ReachesAProcessThatJoinsLater) {
  launch::Server server(2);
  const auto first = server.child_environment(0);
  ASSERT_TRUE(first);
  server.handed_over(0);
  const auto leaver = from_launcher(first->value, kExitBound, {});
  ASSERT_TRUE(leaver);
  (*leaver)->exit_from_signal(9);
  while (!server.exit_asked()) ASSERT_GE(server.serve(10ms), 0);
  const auto second = server.child_environment(1);
  ASSERT_TRUE(second);
  server.handed_over(1);
  const auto late = from_launcher(second->value, kExitBound, {});
  ASSERT_TRUE(late);
  int losses = 0;
  EXPECT_EQ(wait_for_exit(**late, losses), 9);
}

TEST(Exit, IsBoundedIfTheLauncherDoesNotAnswer) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const auto me =
      from_launcher("fd:" + std::to_string(ends[1]) + ",process:0,processes:2,job:1", kExitBound, {});
  ASSERT_TRUE(me);
  const auto began = ExitClock::now();
  (*me)->exit(1);
  EXPECT_LT(ExitClock::now() - began, 10s);
  EXPECT_FALSE((*me)->exit_asked());
  ::close(ends[0]);
  (*me)->exit(2);  // nor does a launcher that is gone matter
}

// A signal handler finds another thread, or the one that it has interrupted, in the middle of a frame.
TEST(Exit, OfASignalHandlerIsSentByTheThreadThatIsSending) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const auto me =
      from_launcher("fd:" + std::to_string(ends[1]) + ",process:1,processes:2,job:1", kExitBound, {});
  ASSERT_TRUE(me);
  // More than the socket holds: the thread is in the middle of the frame until the test reads.
  std::thread exchanging([&] {
    const std::vector<std::byte> large(std::size_t{8} << 20);
    EXPECT_FALSE((*me)->exchange(large));
  });
  int waiting = 0;
  const auto until = ExitClock::now() + kExitBound;
  while (waiting < 50'000 && ExitClock::now() < until) {
    ASSERT_EQ(::ioctl(ends[0], FIONREAD, &waiting), 0);
    std::this_thread::yield();
  }
  const auto began = ExitClock::now();
  (*me)->exit_from_signal(6);
  EXPECT_LT(ExitClock::now() - began, 5s) << "the handler has waited for the other thread";

  wire::Frames frames;
  std::vector<wire::Message> messages;
  std::vector<std::byte> piece(1 << 16);
  while (messages.size() < 3) {
    pollfd readable{ends[0], POLLIN, 0};
    ASSERT_EQ(::poll(&readable, 1, 20'000), 1) << "only " << messages.size() << " of 3 frames have come";
    const auto got = ::read(ends[0], piece.data(), piece.size());
    ASSERT_GT(got, 0);
    frames.append(std::span(piece).first(static_cast<std::size_t>(got)));
    for (;;) {
      auto next = frames.next();
      ASSERT_TRUE(next) << "a frame was interrupted";
      if (!*next) break;
      messages.push_back(std::move(**next));
    }
  }
  EXPECT_TRUE(std::holds_alternative<wire::Hello>(messages[0]));
  EXPECT_TRUE(std::holds_alternative<wire::Exchange>(messages[1]));
  ASSERT_TRUE(std::holds_alternative<wire::Exit>(messages[2]));
  EXPECT_EQ(std::get<wire::Exit>(messages[2]), (wire::Exit{1, 6}));
  ::close(ends[0]);  // ends the exchange
  exchanging.join();
}

// TSan allows no new threads in a child of a process with threads.
#if !defined(__SANITIZE_THREAD__)
TEST(ExitLimit, EndsAProcessThatDoesNotEndItself) {
  EXPECT_EQ(support::in_a_child([] {
              const ExitLimit limit(10ms);
              limit.end_later(37);
              for (;;) ::poll(nullptr, 0, 1000);
              return 1;
            }),
            37);
  EXPECT_EQ(support::in_a_child([] {
              const ExitLimit limit(10ms);
              limit.wait_and_end(38);
              return 1;
            }),
            38);
}
#endif

TEST(ExitLimit, HasTheSystemKillAProcessThatCanDoNothing) {
  EXPECT_EQ(support::in_a_child([] {
              const ExitLimit limit(10ms);
              limit.kill_later();
              for (;;) ::poll(nullptr, 0, 1000);
              return 1;
            }),
            128 + 9);
}

TEST(ExitLimit, IsForgottenWithTheObject) {
  EXPECT_EQ(support::in_a_child([] {
              {
                const ExitLimit limit(10ms);
                limit.kill_later();
              }
              ::poll(nullptr, 0, 100);  // five times as long as the system would have waited
              return 3;
            }),
            3);
}

}  // namespace
}  // namespace aqueduct::bootstrap
