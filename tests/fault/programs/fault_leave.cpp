// fault_leave HOW [FILE]: rank 1 of several ends the job, or several ranks do, in the way that HOW names (see `kWays`). The
// others wait or compute. A rank that returns from its wait says so, which none should. With FILE all go on only once that
// file is there (gate.hpp).

#include <aqueduct/aqueduct.hpp>

#include "tests/fault/programs/gate.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace aqueduct;

namespace {

constexpr Rank kLeaver = 1;
constexpr std::chrono::seconds kLimit{30};  // reached only by a failure

Job* the_job = nullptr;

void on_signal(int) { the_job->request_leave(7); }

/// Waits for a signal that nobody sends.
[[noreturn]] void wait_in_vain(Endpoint& me) {
  const Status status = wait_until(me, 0, 1, kAnyRank, kLimit);
  std::printf("rank %u returned: %s\n", me.rank(), status.text().c_str());
  std::fflush(stdout);
  std::_Exit(60);
}

/// Does nothing that makes progress.
[[noreturn]] void compute() {
  std::this_thread::sleep_for(kLimit);
  std::_Exit(61);
}

void leave_at_once(Job& job) { job.leave(7); }
void leave_with_zero(Job& job) { job.leave(0); }
void leave_in_turn(Job& job) { job.leave(10 + static_cast<int>(job.endpoint().rank())); }

void leave_on_another_thread(Job& job) {
  std::thread other([&] { job.leave(7); });
  wait_in_vain(job.endpoint());
}

void leave_on_two_threads(Job& job) {
  std::thread first([&] { job.leave(7); });
  std::thread second([&] { job.leave(7); });
  wait_in_vain(job.endpoint());
}

/// A second thread wants the lock that this thread holds.
void leave_under_a_lock(Job& job) {
  std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::thread other([&] { const std::lock_guard wanted(mutex); });
  job.leave(7);
}

/// Another thread never gives up standard output, so it cannot be flushed.
void leave_without_flush(Job& job) {
  std::atomic<bool> locked{false};
  std::thread other([&] {
    ::flockfile(stdout);
    locked = true;
    compute();
  });
  while (!locked) std::this_thread::yield();
  job.leave(7);
}

void signal_and_wait(Job& job) {
  std::signal(SIGUSR1, on_signal);
  std::raise(SIGUSR1);
  wait_in_vain(job.endpoint());
}

void signal_and_compute(Job&) {
  std::signal(SIGUSR1, on_signal);
  std::raise(SIGUSR1);
  compute();
}

void signal_and_exit(Job&) {
  std::signal(SIGUSR1, on_signal);
  std::raise(SIGUSR1);
  std::exit(0);
}

void signal_and_finish(Job& job) {
  std::signal(SIGUSR1, on_signal);
  std::raise(SIGUSR1);
  std::_Exit(job.finish() ? 66 : 67);
}

/// The launcher knows already when the flush of the output crashes.
void leave_and_crash(Job& job) {
  cookie_io_functions_t writes{};
  writes.write = [](void*, const char*, std::size_t) -> ssize_t { std::abort(); };
  std::FILE* const crashing = ::fopencookie(nullptr, "w", writes);
  if (crashing == nullptr || std::fputs("never printed", crashing) < 0) std::_Exit(68);
  job.leave(0);
}

/// Makes no check, so the system kills it: that is how this leave ends.
void ask_for_zero_and_compute(Job& job) {
  job.request_leave(0);
  compute();
}

/// Runs after the exit has told the launcher, because it was registered before the Job was made.
void wait_at_exit() {
  std::puts("exit handler");
  if (the_job->endpoint().rank() == kLeaver) wait_in_vain(the_job->endpoint());
}

void call_exit(Job&) {
  std::atexit([] {
    std::puts("exit handler");
    std::fflush(stdout);
  });
  std::exit(7);
}
void call_exit_with_zero(Job&) { std::exit(0); }

/// Exit statuses of two children: one leaves, one exits.
void let_children_leave(Job& job) {
  for (const bool leaves : {true, false}) {
    const pid_t child = ::fork();
    if (child == 0) {
      job.request_leave(8);
      if (leaves) job.leave(9);
      std::exit(9);
    }
    int status = 0;
    if (::waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 9)
      std::_Exit(62);
  }
}

void finish_first(Job& job) {
  if (!job.finish()) std::_Exit(63);
  if (job.ranks() > 1) job.leave(3);
}

enum class Others { wait, compute, the_same, finish };
struct Way {
  std::string_view name;
  void (*leave)(Job&);
  Others others;
};
constexpr std::array kWays{Way{"one", leave_at_once, Others::wait},
                           Way{"zero", leave_with_zero, Others::wait},
                           Way{"all", leave_in_turn, Others::the_same},
                           Way{"computing", leave_at_once, Others::compute},
                           Way{"thread", leave_on_another_thread, Others::wait},
                           Way{"threads", leave_on_two_threads, Others::wait},
                           Way{"lock", leave_under_a_lock, Others::wait},
                           Way{"stuck", leave_without_flush, Others::wait},
                           Way{"signal", signal_and_wait, Others::wait},
                           Way{"signal-computing", signal_and_compute, Others::wait},
                           Way{"signal-exit", signal_and_exit, Others::wait},
                           Way{"signal-finish", signal_and_finish, Others::finish},
                           Way{"zero-crash", leave_and_crash, Others::wait},
                           Way{"zero-computing", ask_for_zero_and_compute, Others::wait},
                           Way{"exit", call_exit, Others::wait},
                           Way{"exit-waiting", [](Job&) { std::exit(7); }, Others::wait},
                           Way{"exit-zero", call_exit_with_zero, Others::wait},
                           Way{"child", let_children_leave, Others::finish},
                           Way{"finished", finish_first, Others::finish}};

/// Rank 0 sends a message to rank 1, whose handler leaves.
void leave_in_a_handler(Job& job) {
  Endpoint& me = job.endpoint();
  const auto handler = on_short_request<NoArguments>(me, [&](auto&, const NoArguments&) { job.leave(7); });
  if (!handler || !me.barrier()) std::_Exit(64);
  if (me.rank() == 0) static_cast<void>(request(me, kLeaver, *handler));
  wait_in_vain(me);
}

/// Each rank of this process on a thread of its own; one of them leaves.
void leave_among_threads(Job& job) {
  job.run_each([&](Endpoint& me) {
    if (!me.barrier()) std::_Exit(64);
    if (me.rank() == kLeaver) job.leave(7);
    wait_in_vain(me);
  });
}

int run(Job& job, std::string_view how, const char* file) {
  Endpoint& me = job.endpoint();
  std::printf("pid %d is rank %u of %u, launcher %s\n", ::getpid(), me.rank(), me.ranks(),
              std::string(job.launcher()).c_str());
  std::fflush(stdout);
  if (!fault::gate_opens(file)) return 69;
  if (how == "handler") leave_in_a_handler(job);
  if (how == "endpoints") leave_among_threads(job);
  if (!me.barrier()) return 65;
  std::printf("rank %u, not flushed\n", me.rank());
  if (!me.barrier()) return 65;  // all have printed it
  for (const Way& way : kWays) {
    if (way.name != how) continue;
    if (way.others == Others::the_same || me.rank() == kLeaver) {
      way.leave(job);
    } else if (way.others == Others::compute) {
      compute();
    } else if (way.others == Others::wait) {
      wait_in_vain(me);
    }
    return job.finish().exit_code();
  }
  if (how != "return" && how != "return-open") return 64;
  if (me.rank() == kLeaver) return 7;
  wait_in_vain(me);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return 64;
  const char* const file = argc == 3 ? argv[2] : nullptr;
  if (std::string_view(argv[1]) == "exit-waiting") std::atexit(wait_at_exit);
  auto job = Job::start();
  if (!job) return job.status().exit_code();
  if (std::string_view(argv[1]) != "return-open") {
    the_job = &*job;
    return run(*job, argv[1], file);
  }
  the_job = new Job(std::move(*job));  // so that returning from main does not destroy it
  return run(*the_job, argv[1], file);
}
