// With GASNET_BACKTRACE: signals that mean a defect print a backtrace before they end the process.

#include "compat/gasnet/state.hpp"
#include "compat/gasnet/tools.hpp"

#include <cstddef>
#include <cstring>

#include <signal.h>
#include <unistd.h>

namespace aqueduct::gasnet {
namespace {

/// A line that is put together without calls that a handler of signals must not make.
class Line {
 public:
  Line& operator<<(const char* text) noexcept {
    for (; *text != 0 && size_ < sizeof text_; ++text) text_[size_++] = *text;
    return *this;
  }
  Line& operator<<(unsigned number) noexcept {
    char digits[12] = {};
    std::size_t at = sizeof digits - 1;
    do digits[--at] = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    return *this << digits + at;
  }
  void print() const noexcept { static_cast<void>(!write(STDERR_FILENO, text_, size_)); }

 private:
  char text_[128];
  std::size_t size_ = 0;
};

/// Prints, and raises the signal again. Its action is the default one by now, and it is blocked until the handler returns.
void on_fatal_signal(int number) {
  const char* const name = gasnett_signame_fromval(number);
  Line line;
  line << "*** Caught a fatal signal (proc " << aqg_job_rank << "): " << (name != nullptr ? name : "signal")
       << "(" << static_cast<unsigned>(number) << ")\n";
  line.print();
  if (!fatal_error_shown) static_cast<void>(print_prepared_backtrace(STDERR_FILENO));
  raise(number);
}

}  // namespace

void catch_fatal_signal(int number) {
  struct sigaction old = {};
  // A handler of the client's, or of a sanitizer, says more.
  if (sigaction(number, nullptr, &old) != 0 || old.sa_handler != SIG_DFL) return;
  struct sigaction ours = {};
  ours.sa_handler = on_fatal_signal;
  ours.sa_flags = static_cast<int>(SA_RESETHAND) | SA_ONSTACK;
  sigaction(number, &ours, nullptr);
}
void prepare_fatal_signals() {
  prepare_backtraces();
  // For a stack that has overflowed: this thread's, which is the main one as a rule.
  static std::byte spare[65536];
  stack_t old = {};
  if (sigaltstack(nullptr, &old) != 0 || (old.ss_flags & SS_DISABLE) == 0) return;
  stack_t ours = {};
  ours.ss_sp = spare;
  ours.ss_size = sizeof spare;
  sigaltstack(&ours, nullptr);
}

}  // namespace aqueduct::gasnet
