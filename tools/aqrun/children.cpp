#include "tools/aqrun/children.hpp"

#include "tools/aqrun/leftovers.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace aqrun {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kWaitForFirst =
    1s;                         // chosen: between the end of a process's channel and its own lie milliseconds
constexpr auto kPatience = 2s;  // chosen: killed processes are reaped within milliseconds

/// Signals taken by signalfd: those that report a child, that end aqrun or that are for the ranks, except those that were
/// ignored at the start (nohup).
sigset_t watched_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
    struct sigaction now {};
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) ::sigaddset(&set, signal);
  }
  return set;
}

}  // namespace

bool is_for_ranks(int signal) noexcept { return signal == SIGUSR1 || signal == SIGUSR2; }

Children::Children(Leader& leader) : leader_(leader) {
  ::signal(SIGPIPE, SIG_IGN);
  // Ignored, as some parents leave it, the system would reap the children and tell nobody of their end.
  ::signal(SIGCHLD, SIG_DFL);
  found_ = children_of_this_process();
  std::erase(found_, leader_.group());
  // A rank's orphans become our children, so that those who left the group are found as well.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const sigset_t watched = watched_signals();
  ::sigprocmask(SIG_BLOCK, &watched, &old_mask_);
  signals_ = ::signalfd(-1, &watched, SFD_NONBLOCK | SFD_CLOEXEC);
}

Children::~Children() { ::close(signals_); }

pid_t Children::start(Start start) {
  start.group = leader_.group();
  start.signals = old_mask_;
  const pid_t pid = spawn(start);
  if (pid > 0) running_.push_back(pid);
  return pid;
}

/// Whether the child ends within kWaitForFirst; `status` is how.
bool Children::wait_for(pid_t child, int& status) {
  const auto until = Clock::now() + kWaitForFirst;
  while (::waitpid(child, &status, WNOHANG) != child) {
    if (Clock::now() > until) return false;
    ::poll(nullptr, 0, 1);
  }
  return true;
}

void Children::take_signals(pid_t first, const std::function<void(pid_t, int)>& ended,
                            const std::function<void(int)>& asked) {
  signalfd_siginfo signal{};
  while (::read(signals_, &signal, sizeof signal) == sizeof signal) {
    if (signal.ssi_signo != SIGCHLD) {
      asked(static_cast<int>(signal.ssi_signo));
      continue;
    }
    int status = 0;
    std::vector<std::pair<pid_t, int>> gone;
    for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (std::erase(found_, pid) == 0) ended_.push_back(pid);
      if (std::erase(running_, pid) > 0) gone.emplace_back(pid, status);
    }
    if (!gone.empty() && first != waited_for_ && std::erase(running_, first) > 0) {
      waited_for_ = first;  // in vain, perhaps: it has only closed its channel
      if (wait_for(first, status)) {
        ended_.push_back(first);
        gone.emplace(gone.begin(), first, status);
      } else {
        running_.push_back(first);
      }
    }
    // The first one gives the job its status. One that was killed: others may have exited because it is gone.
    std::stable_partition(gone.begin(), gone.end(), [](const auto& one) { return WIFSIGNALED(one.second); });
    for (const auto& [pid, how] : gone) ended(pid, how);
  }
}

void Children::signal_all(int signal) noexcept {
  leader_.signal_group(signal);
  // Children outside the group: none, unless its leader could not be started or a rank made a group of its own.
  for (const pid_t pid : running_) {
    if (::getpgid(pid) != leader_.group()) ::kill(pid, signal);
  }
}

void Children::signal_rank(pid_t started, pid_t joined, int signal) noexcept {
  if (std::find(running_.begin(), running_.end(), started) == running_.end()) return;
  // A number that is not in the group may be another process's by now; or the rank has left the group.
  const bool is_here = joined > 0 && ::getpgid(joined) == leader_.group();
  ::kill(is_here ? joined : started, signal);
}

/// Kills all children that are left: orphans of ranks that had left the group. Returns whether there were any.
bool Children::kill_adopted() {
  bool any = false;
  for (const pid_t child : children_of_this_process()) {
    if (std::find(found_.begin(), found_.end(), child) != found_.end()) continue;
    ::kill(child, SIGKILL);
    any = true;
  }
  return any;
}

void Children::leave_nothing(std::uint64_t job) {
  const auto until = Clock::now() + kPatience;
  leader_.signal_group(SIGKILL);
  do {
    const bool any = kill_adopted();
    int status = 0;
    for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      std::erase(running_, pid);
      if (std::erase(found_, pid) == 0) ended_.push_back(pid);
    }
    siginfo_t about{};
    if (::waitid(P_ALL, 0, &about, WEXITED | WNOHANG | WNOWAIT) != 0) break;  // no children left
    if (!any && !found_.empty()) break;
    pollfd child{signals_, POLLIN, 0};
    ::poll(&child, 1, 10);
    signalfd_siginfo signal{};
    while (::read(signals_, &signal, sizeof signal) == sizeof signal) {
    }
  } while (Clock::now() < until);
  remove_shared_memory(leader_.folder(), job);
  remove_libfabric_memory(ended_, since_);
}

}  // namespace aqrun
