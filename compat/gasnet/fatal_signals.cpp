// With GASNET_BACKTRACE signals that mean a defect print a backtrace before they end the process; with GASNET_FREEZE_ON_ERROR
// they wait for a debugger first.

#include "compat/gasnet/signal_line.hpp"
#include "compat/gasnet/state.hpp"
#include "compat/gasnet/tools.hpp"

#include <cstddef>
#include <cstring>

#include <signal.h>
#include <unistd.h>

namespace aqueduct::gasnet {
namespace {

bool backtraces = false, freezes = false;

/// Prints, and raises the signal again. Its action is the default one by now, and it is blocked until the handler returns.
void on_fatal_signal(int number) {
  const char* const name = gasnett_signame_fromval(number);
  SignalLine line;
  line << "*** Caught a fatal signal (proc " << aqg_job_rank << "): " << (name != nullptr ? name : "signal")
       << "(" << static_cast<unsigned>(number) << ")\n";
  line.print();
  if (!fatal_error_shown) {
    if (freezes) freeze();
    if (backtraces) static_cast<void>(print_prepared_backtrace(STDERR_FILENO));
  }
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
void prepare_fatal_signals(bool with_backtraces, bool with_freezes) {
  backtraces = with_backtraces;
  freezes = with_freezes;
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
