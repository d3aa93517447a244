#include "tools/aqperf/load.hpp"

#include "tools/aqperf/failure.hpp"
#include "tools/aqperf/measure/machine.hpp"

#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace aqueduct::perf {

BusyProcess::BusyProcess() : pid_(0) {
  cpu_set_t core;
  CPU_ZERO(&core);
  CPU_SET(sched_getcpu(), &core);
  // A program of its own rather than a fork: a fork would hold the job's memory and descriptors.
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) {
    throw Failure(std::string("--load: no process: ") + std::strerror(errno) + "; see ulimit -u", 1);
  }
  if (pid_ > 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  sched_setaffinity(0, sizeof(core), &core);
  close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  execl("/proc/self/exe", "aqperf", kKeepBusy, static_cast<char*>(nullptr));
  _exit(127);
}

BusyProcess::~BusyProcess() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

double BusyProcess::core_seconds() const {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void keep_busy() {
  for (volatile unsigned long turns = 0;;) turns = turns + 1;
}

}  // namespace aqueduct::perf
