#include "tools/aqrun/spawn.hpp"

#include "tools/aqrun/leftovers.hpp"
#include "tools/standard_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace aqrun {
namespace {

bool is_file(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode);
}

/// Runs in the new process between vfork and exec: only system calls, because the memory is still the parent's.
[[noreturn]] void become(const Start& start, pid_t parent, int* why) {
  const bool ready = ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && ::dup2(start.input, 0) == 0 &&
                     ::dup2(start.output, 1) == 1 && ::dup2(start.errors, 2) == 2 &&
                     (start.keep < 0 || ::fcntl(start.keep, F_SETFD, 0) == 0);
  // The parent may have ended before PR_SET_PDEATHSIG took effect.
  if (::getppid() != parent) ::_exit(1);
  // If the group's leader has been killed, the group cannot be joined, and this process leads a group of its own.
  if (start.group > 0 && ::setpgid(0, start.group) != 0) ::setpgid(0, 0);
  // Binding is a hint: if the processors are no longer there, the process runs anywhere.
  if (start.processors != nullptr) ::sched_setaffinity(0, sizeof *start.processors, start.processors);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGXFSZ, aqueduct::tools::file_limit_signal);
  ::sigprocmask(SIG_SETMASK, &start.signals, nullptr);
  if (ready) ::execve(start.file, start.arguments, start.environment);
  *why = errno;
  ::_exit(127);
}

/// Kills the group of a job whose aqrun has ended, then removes the job's shared memory. It leaves the group first,
/// to survive that; and it removes last, because a rank may create files until it is dead.
[[noreturn]] void clear_away(pid_t group, const std::string& folder, std::uint64_t job) {
  constexpr int kPatience = 200;  // chosen: polls, 10 ms apart; dead processes count until they are reaped
  ::setpgid(0, 0);
  ::kill(-group, SIGKILL);
  for (int look = 0; look < kPatience && ::kill(-group, 0) == 0; ++look) {
    remove_shared_memory(folder, job);
    ::poll(nullptr, 0, 10);
  }
  remove_shared_memory(folder, job);
  ::_exit(0);
}

[[noreturn]] void lead(int pipe, const std::string& folder) {
  ::prctl(PR_SET_NAME, "aqrun-leader");
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);  // signals to the group are not meant for its leader
  const int nothing = ::open("/dev/null", O_RDWR);
  for (int standard = 0; standard < 3; ++standard) ::dup2(nothing, standard);
  std::uint64_t job = 0;
  const bool has_job = ::read(pipe, &job, sizeof job) == sizeof job;
  char byte;
  while (has_job && ::read(pipe, &byte, 1) < 0 && errno == EINTR) {
  }
  const pid_t group = ::getpgrp();
  const pid_t helper = has_job ? ::fork() : -1;
  if (helper == 0) clear_away(group, folder, job);
  if (helper > 0) ::waitpid(helper, nullptr, 0);  // it kills this process too
  ::kill(0, SIGKILL);
  ::_exit(0);
}

}  // namespace

Found find_program(const std::string& name) {
  std::string seen;  // a file that exists but cannot be executed
  const auto try_file = [&seen](const std::string& path) {
    if (!is_file(path)) return false;
    if (::access(path.c_str(), X_OK) == 0) return true;
    seen = path;
    return false;
  };
  if (name.find('/') != std::string::npos) {
    if (try_file(name)) return {name, 0, {}};
    std::error_code none;
    if (std::filesystem::is_directory(name, none)) return {{}, 126, fmt::format("{} is a folder", name)};
    if (seen.empty() && ::access(name.c_str(), F_OK) == 0) seen = name;
  } else {
    const char* variable = std::getenv("PATH");
    std::string folders = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
    for (std::size_t from = 0; from <= folders.size();) {
      const std::size_t colon = std::min(folders.find(':', from), folders.size());
      const std::string folder = folders.substr(from, colon - from);
      std::string path = (folder.empty() ? "." : folder) + "/" + name;
      if (try_file(path)) return {std::move(path), 0, {}};
      from = colon + 1;
    }
  }
  if (!seen.empty()) return {{}, 126, fmt::format("{} is not an executable file (chmod +x?)", seen)};
  const char* hint = name.find('/') == std::string::npos && is_file(name) ? "; did you mean ./{}?" : "";
  return {{}, 127, fmt::format("there is no program {}", name) + fmt::format(fmt::runtime(hint), name)};
}

pid_t spawn(const Start& start) {
  const pid_t parent = ::getpid();
  volatile int why = 0;
  const pid_t child = ::vfork();
  if (child == 0) become(start, parent, const_cast<int*>(&why));
  if (child > 0 && why != 0) {
    ::waitpid(child, nullptr, 0);
    errno = why;
    return -1;
  }
  return child;
}

Leader::Leader(std::string folder) : folder_(std::move(folder)) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  pid_ = ::fork();
  if (pid_ == 0) {
    ::setpgid(0, 0);
    ::close(ends[1]);
    lead(ends[0], folder_);
  }
  ::close(ends[0]);
  pipe_ = ends[1];
  if (pid_ > 0) ::setpgid(pid_, pid_);  // parent and child both call this, because either may run first
}

Leader::~Leader() {
  signal_group(SIGKILL);
  if (pipe_ >= 0) ::close(pipe_);
}

void Leader::leads(std::uint64_t job) noexcept {
  // Fits into any pipe. If the leader is dead, nothing else reports that either.
  if (pipe_ >= 0 && ::write(pipe_, &job, sizeof job) < 0) return;
}

void Leader::signal_group(int signal) noexcept {
  if (pid_ <= 0 || killed_) return;
  ::kill(-pid_, signal);
  killed_ = signal == SIGKILL;
}

std::vector<pid_t> children_of_this_process() {
  std::ifstream children(fmt::format("/proc/self/task/{}/children", ::getpid()));
  std::vector<pid_t> all;
  for (pid_t child = 0; children >> child;) all.push_back(child);
  return all;
}

}  // namespace aqrun
