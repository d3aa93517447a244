#include "tools/aqperf/calibrate/levels.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include <sched.h>

namespace aqueduct::perf {
namespace {

/// The processor to which this thread is bound; -1 if it may run on several.
int bound_processor() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) != 1) return -1;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) return cpu;
  }
  return -1;
}

/// What the system says of a processor; empty if it says nothing.
std::string fact(int cpu, const char* what) {
  std::ifstream in(fmt::format("/sys/devices/system/cpu/cpu{}/{}", cpu, what));
  std::string line;
  std::getline(in, line);
  return line;
}

bool same_domain(int a, int b) {
  std::error_code ignored;
  for (int node = 0;; ++node) {
    const auto folder = [&](int cpu) {
      return fmt::format("/sys/devices/system/cpu/cpu{}/node{}", cpu, node);
    };
    const bool has_a = std::filesystem::exists(folder(a), ignored);
    const bool has_b = std::filesystem::exists(folder(b), ignored);
    if (has_a || has_b) return has_a && has_b;
    if (node > 1024) return false;
  }
}

}  // namespace

bool share_processor(Session& session, Rank a, Rank b) {
  const std::vector<int> bound = session.exchange(bound_processor());
  return session.ep().host_of(a) == session.ep().host_of(b) && bound[a] >= 0 && bound[a] == bound[b];
}

std::string level_between(Session& session, Rank a, Rank b) {
  const std::vector<int> bound = session.exchange(bound_processor());
  Endpoint& ep = session.ep();
  if (ep.host_of(a) != ep.host_of(b)) return "network";
  const int one = bound[a];
  const int other = bound[b];
  if (one < 0 || other < 0) return "host";
  const auto share = [&](const char* what) {
    const std::string mine = fact(one, what);
    return !mine.empty() && mine == fact(other, what);
  };
  std::string level = "host";
  if (one == other || share("topology/thread_siblings_list")) {
    level = "core";
  } else if (share("cache/index3/shared_cpu_list")) {
    level = "cache";
  } else if (same_domain(one, other)) {
    level = "domain";
  }
  return level;
}

}  // namespace aqueduct::perf
