#include "tools/aqperf/measure/machine.hpp"

#include <fstream>
#include <string>

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

namespace aqueduct::perf {

namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

double busy_core_seconds() {
  std::ifstream in("/proc/stat");
  std::string label;
  double user = 0, nice = 0, system = 0, idle = 0, wait = 0, interrupt = 0, soft = 0;
  in >> label >> user >> nice >> system >> idle >> wait >> interrupt >> soft;
  return (user + nice + system + interrupt + soft) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double own_core_seconds() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double process_ns() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e9 + static_cast<double>(used.tv_nsec);
}

// From /proc: getrusage also counts the launcher's memory from when this process was a fork of it.
std::size_t peak_rss_kib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  std::size_t kib = 0;
  while (status >> word) {
    if (word == "VmHWM:" && status >> kib) return kib;
  }
  return 0;
}

KernelName running_kernel() {
  KernelName out{};
  std::ifstream("/proc/sys/kernel/random/boot_id").getline(out.data(), out.size());
  return out;
}

cpu_set_t allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  return set;
}

bool are_apart(std::span<const cpu_set_t> sets) {
  cpu_set_t seen;
  CPU_ZERO(&seen);
  for (const cpu_set_t& set : sets) {
    cpu_set_t both;
    CPU_AND(&both, &seen, &set);
    if (CPU_COUNT(&both) > 0) return false;
    CPU_OR(&seen, &seen, &set);
  }
  return true;
}

void bind_to_all(const cpu_set_t& cores) { sched_setaffinity(0, sizeof(cores), &cores); }

void bind_to(const cpu_set_t& cores, std::size_t index) {
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &cores) || index-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof(one), &one);
    return;
  }
}

}  // namespace aqueduct::perf
