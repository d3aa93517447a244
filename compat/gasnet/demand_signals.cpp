// GASNET_FREEZE_SIGNAL and GASNET_BACKTRACE_SIGNAL: what a program does when somebody sends it a signal.

#include "compat/gasnet/signal_line.hpp"
#include "compat/gasnet/state.hpp"
#include "compat/gasnet/tools.hpp"

#include <cerrno>
#include <string>

#include <signal.h>

namespace aqueduct::gasnet {
namespace {

void say(const char* variable, int number) noexcept {
  const char* const name = gasnett_signame_fromval(number);
  SignalLine line;
  line << "*** Caught " << variable << " (proc " << aqg_job_rank
       << "): " << (name != nullptr ? name : "signal") << "(" << static_cast<unsigned>(number) << ")\n";
  line.print();
}
void freeze_on(int number) {
  say("GASNET_FREEZE_SIGNAL", number);
  freeze();
}
void show_on(int number) {
  const int error = errno;
  say("GASNET_BACKTRACE_SIGNAL", number);
  static_cast<void>(print_prepared_backtrace(STDERR_FILENO));
  errno = error;
}

/// The signal that the variable names; 0: it is not set.
int signal_of(const char* variable) {
  const char* const value = gasnett_getenv_withdefault(variable, nullptr);
  if (value == nullptr || *value == 0) return 0;
  for (int number = 1; number < NSIG && std::string(value) != "*"; ++number) {
    if (is_listed(number, value)) return number;
  }
  gasnett_fatalerror_nopos("%s='%s' is not the name or the number of a signal", variable, value);
}
void on(const char* variable, void (*handler)(int)) {
  const int number = signal_of(variable);
  if (number == 0) return;
  if (handler == show_on) prepare_backtraces();
  struct sigaction ours = {};
  ours.sa_handler = handler;
  ours.sa_flags = SA_RESTART;
  if (sigaction(number, &ours, nullptr) != 0)
    gasnett_fatalerror_nopos("%s: signal %d cannot be caught", variable, number);
}

}  // namespace

void catch_demand_signals() {
  on("GASNET_FREEZE_SIGNAL", freeze_on);
  on("GASNET_BACKTRACE_SIGNAL", show_on);
}

}  // namespace aqueduct::gasnet
