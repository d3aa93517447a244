#include "bootstrap/exit_limit.hpp"

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <thread>

#include <pthread.h>
#include <signal.h>

namespace aqueduct::bootstrap {
namespace {

using ExitClock = std::chrono::steady_clock;

[[noreturn]] void end_at(ExitClock::time_point when, int code) noexcept {
  std::this_thread::sleep_until(when);
  std::_Exit(code);
}

/// A program's signal handlers must not run on a thread of the library's.
void start_without_signals(ExitClock::time_point when, int code) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  try {
    std::thread(end_at, when, code).detach();
  } catch (const std::system_error&) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

ExitLimit::ExitLimit(std::chrono::nanoseconds limit) noexcept : limit_(limit) {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGKILL;
  has_timer_ = ::timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
}

ExitLimit::~ExitLimit() {
  if (has_timer_) ::timer_delete(timer_);
}

void ExitLimit::end_later(int code) const noexcept try {
  start_without_signals(ExitClock::now() + limit_, code);
} catch (...) {  // no memory or too many threads
  kill_later();
}

void ExitLimit::kill_later() const noexcept {
  if (!has_timer_) return;
  const int kept = errno;
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t after = 2 * limit_.count() + 1;  // 0 would disarm the timer
  itimerspec when{};
  when.it_value.tv_sec = static_cast<time_t>(after / kSecond);
  when.it_value.tv_nsec = static_cast<long>(after % kSecond);
  ::timer_settime(timer_, 0, &when, nullptr);
  errno = kept;
}

void ExitLimit::wait_and_end(int code) const noexcept { end_at(ExitClock::now() + limit_, code); }

}  // namespace aqueduct::bootstrap
