// GASNet's tools: a process that waits for a debugger. A handler of signals may make it wait too.

#include "compat/gasnet/signal_line.hpp"
#include "compat/gasnet/tools.hpp"

#include <gasnet_tools.h>

#include <cerrno>

#include <signal.h>
#include <time.h>
#include <unistd.h>

// What a debugger sets to 0.
extern "C" volatile int gasnet_frozen;
volatile int gasnet_frozen = 0;

namespace aqueduct::gasnet {
namespace {

std::atomic<volatile int*> frozen_by{nullptr};

void go_on(int) {
  volatile int* const flag = frozen_by.load();
  if (flag != nullptr) *flag = 0;
}

}  // namespace

void freeze() noexcept { gasnett_freezeForDebuggerNow(&gasnet_frozen, "gasnet_frozen"); }

}  // namespace aqueduct::gasnet

using namespace aqueduct::gasnet;

extern "C" {

void gasnett_freezeForDebuggerNow(volatile int* flag, const char* flagsymname) {
  const int error = errno;
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  *flag = 1;
  frozen_by = flag;
  struct sigaction ours = {}, old = {};
  ours.sa_handler = go_on;
  sigaction(SIGCONT, &ours, &old);
  SignalLine line;
  line << "*** Process frozen for a debugger: host " << host << ", pid " << static_cast<unsigned>(getpid())
       << "; to go on, set " << flagsymname << " to 0 in a debugger, or send SIGCONT\n";
  line.print();
  const struct timespec rest = {0, 50 * 1000 * 1000};
  while (*flag != 0) nanosleep(&rest, nullptr);
  frozen_by = nullptr;
  sigaction(SIGCONT, &old, nullptr);
  errno = error;
}
void gasnett_freezeForDebuggerErr(void) {
  if (gasnett_getenv_yesno_withdefault("GASNET_FREEZE_ON_ERROR", 0)) freeze();
}
}
