// GASNet's tools: what needs no job. Part of the three libraries, and a library of its own for clients without a job.

#include "compat/gasnet/tools.hpp"

#include <gasnet_tools.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static_assert(SIZEOF_SHORT == sizeof(short) && SIZEOF_INT == sizeof(int) && SIZEOF_LONG == sizeof(long) &&
              SIZEOF_LONG_LONG == sizeof(long long) && SIZEOF_SIZE_T == sizeof(size_t) &&
              SIZEOF_PTRDIFF_T == sizeof(ptrdiff_t) && SIZEOF_VOID_P == sizeof(void*));

namespace aqueduct::gasnet {

const char* (*job_variable)(const char* name) = nullptr;
std::atomic<std::uint32_t> rank_here{kNoJob};
std::atomic<bool> fatal_error_shown{false};

namespace {

// ------------------------------------------------------------------------------------------- environment

/// What gasnett_setenv and gasnett_unsetenv have done. It hides the job's environment.
struct Overrides {
  std::mutex mutex;
  std::map<std::string, std::optional<std::string>, std::less<>> values;
  std::set<std::string, std::less<>> shown;  ///< variables that were displayed
};
Overrides& overrides() {
  static Overrides* const one = new Overrides;  // also for exit handlers
  return *one;
}

[[noreturn]] void bad_value(const char* key, const char* value, const char* wanted) {
  gasnett_fatalerror_nopos("%s='%s' is not %s", key, value, wanted);
}

void show(const char* key, const char* value, bool is_default) {
  if (!gasnett_verboseenv()) return;
  {
    const std::lock_guard lock(overrides().mutex);
    if (!overrides().shown.emplace(key).second) return;
  }
  std::fprintf(stderr, "ENV parameter: %s = %s%s\n", key, value, is_default ? " (default)" : "");
}

}  // namespace
}  // namespace aqueduct::gasnet

using namespace aqueduct::gasnet;

extern "C" {

// ------------------------------------------------------------------------------------------- timers

gasnett_tick_t gasnett_ticks_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}
double gasnett_tick_granularityus(void) {
  gasnett_tick_t least = 1000000;
  for (int i = 0; i < 1000; ++i) {
    const gasnett_tick_t first = gasnett_ticks_now();
    gasnett_tick_t second = gasnett_ticks_now();
    while (second == first) second = gasnett_ticks_now();
    if (second - first < least) least = second - first;
  }
  return static_cast<double>(least) / 1000;
}
double gasnett_tick_overheadus(void) {
  constexpr int kCalls = 1000;
  const gasnett_tick_t first = gasnett_ticks_now();
  gasnett_tick_t last = first;
  for (int i = 0; i < kCalls; ++i) last = gasnett_ticks_now();
  return static_cast<double>(last - first + 1) / 1000 / kCalls;
}
uint64_t gasnett_gettimeofday_us(void) {
  struct timeval now;
  gettimeofday(&now, nullptr);
  return static_cast<uint64_t>(now.tv_sec) * 1000000u + static_cast<uint64_t>(now.tv_usec);
}
int gasnett_nsleep(uint64_t ns_delay) {
  if (ns_delay == 0) return 0;
  const struct timespec rest = {static_cast<time_t>(ns_delay / 1000000000u),
                                static_cast<long>(ns_delay % 1000000000u)};
  return nanosleep(&rest, nullptr);
}

// ------------------------------------------------------------------------------------------- environment

void gasnett_setenv(const char* key, const char* value) {
  const std::lock_guard lock(overrides().mutex);
  overrides().values[key] = value;
  setenv(key, value, 1);
}
void gasnett_unsetenv(const char* key) {
  const std::lock_guard lock(overrides().mutex);
  overrides().values[key] = std::nullopt;
  unsetenv(key);
}
char* gasnett_getenv(const char* keyname) {
  {
    const std::lock_guard lock(overrides().mutex);
    if (const auto found = overrides().values.find(std::string_view(keyname));
        found != overrides().values.end()) {
      return found->second ? found->second->data() : nullptr;
    }
  }
  if (job_variable != nullptr) {
    if (const char* const value = job_variable(keyname)) return const_cast<char*>(value);
  }
  return std::getenv(keyname);
}
char* gasnett_getenv_withdefault(const char* keyname, const char* defaultval) {
  char* const value = gasnett_getenv(keyname);
  show(keyname,
       value != nullptr        ? value
       : defaultval != nullptr ? defaultval
                               : "*not set*",
       value == nullptr);
  return value != nullptr ? value : const_cast<char*>(defaultval);
}
int gasnett_getenv_yesno_withdefault(const char* keyname, int defaultval) {
  const char* const value = gasnett_getenv(keyname);
  int result = defaultval;
  if (value != nullptr && *value != 0) {
    if (std::strchr("Yy1", *value) != nullptr) {
      result = 1;
    } else if (std::strchr("Nn0", *value) != nullptr) {
      result = 0;
    } else {
      bad_value(keyname, value, "yes or no");
    }
  }
  if (std::strcmp(keyname, "GASNET_VERBOSEENV") != 0)
    show(keyname, result != 0 ? "YES" : "NO", value == nullptr);
  return result;
}
int64_t gasnett_getenv_int_withdefault(const char* keyname, int64_t defaultval,
                                       uint64_t mem_size_multiplier) {
  const char* const value = gasnett_getenv(keyname);
  const int64_t result =
      value != nullptr && *value != 0 ? gasnett_parse_int(value, mem_size_multiplier) : defaultval;
  gasnett_envint_display(keyname, result, value == nullptr, mem_size_multiplier != 0);
  return result;
}
double gasnett_getenv_dbl_withdefault(const char* keyname, double defaultval) {
  const char* const value = gasnett_getenv(keyname);
  double result = defaultval;
  if (value != nullptr && *value != 0) {
    char* end = nullptr;
    result = std::strtod(value, &end);
    if (end != value && *end == '/') {
      const char* const divisor = end + 1;
      const double by = std::strtod(divisor, &end);
      if (end == divisor || by == 0) bad_value(keyname, value, "a number or a fraction");
      result /= by;
    }
    if (end == value || *end != 0) bad_value(keyname, value, "a number or a fraction");
  }
  gasnett_envdbl_display(keyname, result, value == nullptr);
  return result;
}
int gasnett_verboseenv(void) {
  if (rank_here != kNoJob && rank_here != 0) return 0;  // once for the job
  return gasnett_getenv_yesno_withdefault("GASNET_VERBOSEENV", 0);
}
void gasnett_envint_display(const char* key, int64_t val, int is_dflt, int is_mem_size) {
  char text[64];
  show(key, gasnett_format_number(val, text, sizeof text, is_mem_size), is_dflt != 0);
}
void gasnett_envstr_display(const char* key, const char* val, int is_dflt) { show(key, val, is_dflt != 0); }
void gasnett_envdbl_display(const char* key, double val, int is_dflt) {
  char text[64];
  std::snprintf(text, sizeof text, "%g", val);
  show(key, text, is_dflt != 0);
}

// ------------------------------------------------------------------------------------------- errors

void aqg_fatal(const char* file, int line, const char* function, const char* msg, ...) {
  std::va_list rest;
  va_start(rest, msg);
  std::fputs("*** FATAL ERROR: ", stderr);
  if (file != nullptr) std::fprintf(stderr, "%s(%s:%d): ", function, file, line);
  std::vfprintf(stderr, msg, rest);
  std::fputc('\n', stderr);
  va_end(rest);
  std::fflush(nullptr);
  gasnett_freezeForDebuggerErr();
  gasnett_print_backtrace_ifenabled(STDERR_FILENO);
  fatal_error_shown = true;
  std::abort();
}
void gasnett_killmyprocess(int exitcode) { _exit(exitcode); }
gasnett_sighandlerfn_t gasnett_reghandler(int sigtocatch, gasnett_sighandlerfn_t fp) {
  return signal(sigtocatch, fp);
}
char* aqg_location(const char* file, int line, const char* function) {
  const std::string text = std::string(function) + " at " + file + ":" + std::to_string(line);
  return strdup(text.c_str());
}

// ------------------------------------------------------------------------------------------- the system

const char* gasnett_gethostname(void) {
  static const std::string* const name = [] {
    char text[256] = {};
    gethostname(text, sizeof text - 1);
    return new std::string(text);
  }();
  return name->c_str();
}
const char* gasnett_exe_name(void) {
  static const std::string* const path = [] {
    char text[4096];
    const ssize_t length = readlink("/proc/self/exe", text, sizeof text);
    return new std::string(text, length > 0 ? static_cast<std::size_t>(length) : 0);
  }();
  return path->c_str();
}
int gasnett_cpu_count(void) {
  const long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? static_cast<int>(count) : 0;
}
uint64_t gasnett_getPhysMemSz(int failureIsFatal) {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long bytes = sysconf(_SC_PAGESIZE);
  if (pages > 0 && bytes > 0) return static_cast<uint64_t>(pages) * static_cast<uint64_t>(bytes);
  if (failureIsFatal != 0) gasnett_fatalerror_nopos("the system does not tell the size of its memory");
  return 0;
}
const char* gasnett_performance_warning_str(void) { return ""; }
const char* gasnett_release_version_str(void) {
  return AQG_STRINGIFY(GASNET_RELEASE_VERSION_MAJOR) "." AQG_STRINGIFY(
      GASNET_RELEASE_VERSION_MINOR) "." AQG_STRINGIFY(GASNET_RELEASE_VERSION_PATCH);
}
uint64_t gasnett_release_version(void) {
  return GASNET_RELEASE_VERSION_MAJOR * uint64_t{1000000} + GASNET_RELEASE_VERSION_MINOR * uint64_t{10000} +
         GASNET_RELEASE_VERSION_PATCH;
}
int gasnett_set_affinity(int rank) {
  const int count = gasnett_cpu_count();
  if (count == 0) return 1;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(rank % count), &one);
  return sched_setaffinity(0, sizeof one, &one);
}
void gasnett_flush_streams(void) { std::fflush(nullptr); }
void gasnett_close_streams(void) {
  gasnett_flush_streams();
  std::fclose(stdin);
  std::fclose(stdout);
  std::fclose(stderr);
}
int gasnett_maximize_rlimit(int res, const char* lim_desc) {
  const std::string variable = std::string("GASNET_MAXIMIZE_") + lim_desc;
  if (!gasnett_getenv_yesno_withdefault(variable.c_str(), 1)) return 1;
  struct rlimit limit;
  if (getrlimit(static_cast<__rlimit_resource>(res), &limit) != 0) return 0;
  limit.rlim_cur = limit.rlim_max;
  return setrlimit(static_cast<__rlimit_resource>(res), &limit) == 0 ? 1 : 0;
}
int gasnett_maximize_rlimits(void) {
  int all = 1;
  all &= gasnett_maximize_rlimit(RLIMIT_CPU, "RLIMIT_CPU");
  all &= gasnett_maximize_rlimit(RLIMIT_DATA, "RLIMIT_DATA");
  all &= gasnett_maximize_rlimit(RLIMIT_RSS, "RLIMIT_RSS");
  all &= gasnett_maximize_rlimit(RLIMIT_AS, "RLIMIT_AS");
  return all;
}
void* gasnett_mmap(uintptr_t segsize) {
  void* const at = mmap(nullptr, segsize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? nullptr : at;
}

uint64_t gasnett_checksum(const void* p, int numbytes) {
  // FNV-1a, over bytes.
  uint64_t sum = UINT64_C(14695981039346656037);
  for (int i = 0; i < numbytes; ++i)
    sum = (sum ^ static_cast<const uint8_t*>(p)[i]) * UINT64_C(1099511628211);
  return sum;
}
size_t gasnett_count0s(const void* p, size_t numbytes) {
  const auto* at = static_cast<const uint8_t*>(p);
  size_t zeros = 0;
  for (; numbytes >= 8; numbytes -= 8, at += 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    zeros += static_cast<size_t>(gasnett_count0s_uint64_t(word));
  }
  for (; numbytes != 0; --numbytes, ++at) zeros += *at == 0 ? 1 : 0;
  return zeros;
}
size_t gasnett_count0s_copy(void* dst, const void* src, size_t numbytes) {
  std::memcpy(dst, src, numbytes);
  return gasnett_count0s(dst, numbytes);
}
}
