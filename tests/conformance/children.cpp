#include "tests/conformance/children.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace aqueduct::conformance {

namespace {

/// From here on, failures are sent to the parent, and GoogleTest prints nothing.
void report_to(int socket) {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new ReportingListener(socket));  // GoogleTest owns it
}

}  // namespace

Children::~Children() {
  for (const Child& child : children_) {
    if (child.socket < 0) continue;
    ::kill(child.pid, SIGKILL);
    ::waitpid(child.pid, nullptr, 0);
    ::close(child.socket);
  }
}

void Children::start(const Main& main) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair for a child");
  }
  std::fflush(nullptr);  // otherwise the child would print buffered output again
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork of a child");
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) std::_Exit(125);  // the parent died before prctl took effect
    for (const Child& other : children_) ::close(other.socket);
    ::close(ends[0]);
    report_to(ends[1]);
    const int code = main(static_cast<std::uint32_t>(children_.size()));
    std::exit(code);  // not _Exit, because leak checkers and coverage run at exit
  }
  ::close(ends[1]);
  children_.push_back({pid, ends[0]});
}

void Children::reap(std::uint32_t index, bool in_time, Watch& watch) {
  Child& child = children_[index];
  if (watch.ends) watch.ends(index);
  Ending ending{in_time, 0};
  while (::waitpid(child.pid, &ending.status, 0) < 0 && errno == EINTR) {
  }
  ::close(child.socket);
  child.socket = -1;
  watch.ended(index, ending);
}

void Children::wait(Watch& watch) {
  std::vector<pollfd> watched;
  std::vector<std::uint32_t> whose;
  for (;;) {
    watched.clear();
    whose.clear();
    for (std::uint32_t i = 0; i < children_.size(); ++i) {
      if (children_[i].socket < 0) continue;
      watched.push_back({children_[i].socket, POLLIN, 0});
      whose.push_back(i);
    }
    if (watched.empty()) return;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(watch.deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      for (const std::uint32_t i : whose) ::kill(children_[i].pid, SIGKILL);
      for (const std::uint32_t i : whose) reap(i, /*in_time=*/false, watch);
      return;
    }
    if (watch.descriptor >= 0) watched.push_back({watch.descriptor, POLLIN, 0});
    if (::poll(watched.data(), watched.size(), static_cast<int>(std::min<long>(left.count(), 1000))) <= 0) {
      continue;
    }
    if (watch.descriptor >= 0 && watched.back().revents != 0) watch.readable();
    for (std::size_t i = 0; i < whose.size(); ++i) {
      if (watched[i].revents == 0) continue;
      if (const auto report = receive_report(watched[i].fd)) {
        watch.failed(whose[i], *report);
      } else {
        reap(whose[i], /*in_time=*/true, watch);
      }
    }
  }
}

std::string describe_ending(const Ending& ending) {
  if (!ending.in_time) return "was still running and was killed";
  if (WIFSIGNALED(ending.status)) {
    const int signal = WTERMSIG(ending.status);
    return "was killed by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
  }
  return "exited with code " + std::to_string(WEXITSTATUS(ending.status));
}

}  // namespace aqueduct::conformance
