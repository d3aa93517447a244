#include "runtime/open_jobs.hpp"

#include "runtime/job_impl.hpp"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <vector>

#include <dlfcn.h>
#include <unistd.h>

namespace aqueduct::runtime {
namespace {

/// The jobs that this process is in. This is a fact about the process, so it is global. It is never destroyed, because
/// exit handlers use it.
struct OpenJobs {
  std::mutex mutex;
  std::vector<Job::Impl*> jobs;
  std::atomic<pid_t> process{0};  ///< the process whose jobs these are; a forked child has a copy
};
OpenJobs& open_jobs() {
  static OpenJobs& all = *new OpenJobs;
  return all;
}

void program_exits(int code, void*) {
  OpenJobs& all = open_jobs();
  if (all.process != ::getpid()) return;  // a forked child: nor is the mutex to be trusted there
  const std::lock_guard lock(all.mutex);
  for (Job::Impl* job : all.jobs) {
    if (job->process_id != ::getpid()) continue;
    // What their threads reduce and write belongs to the program, whose destructors run from here on.
    for (auto& parts : job->endpoints) {
      if (parts->state.stand_in != nullptr) parts->state.stand_in->cease();
    }
    job->leaving.at_exit(code, *job->bootstrap);
  }
}

/// Registers `program_exits`, once per process. atexit would not give it the code.
void watch_exit() {
  static std::once_flag once;
  std::call_once(once, [] {
    // The C library keeps the function until the process ends, so the library's code must stay as long: dlclose must
    // not unload it.
    Dl_info here{};
    if (::dladdr(reinterpret_cast<void*>(&program_exits), &here) != 0 && here.dli_fname != nullptr) {
      static_cast<void>(::dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE));
    }
    ::on_exit(program_exits, nullptr);
  });
}

}  // namespace

void job_opened(Job::Impl& job) {
  watch_exit();
  OpenJobs& all = open_jobs();
  const std::lock_guard lock(all.mutex);
  all.process = ::getpid();
  all.jobs.push_back(&job);
}

void job_closed(Job::Impl& job) noexcept {
  OpenJobs& all = open_jobs();
  const std::lock_guard lock(all.mutex);
  std::erase(all.jobs, &job);
}

}  // namespace aqueduct::runtime
