#include "tests/conformance/launcher_process.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace aqueduct::conformance {

namespace {

// Chosen: longer than the 3 s that aqrun gives its ranks.
constexpr std::chrono::seconds kToEnd{6};
// Chosen: for output that is still under way when the launcher has ended.
constexpr std::chrono::seconds kToDrain{2};
// Chosen: how long to wait for output before a look at the launcher, and at its end, when no output can come.
constexpr std::chrono::milliseconds kGlance{20};
constexpr std::chrono::milliseconds kShortGlance{2};

}  // namespace

LauncherProcess::LauncherProcess(const std::string& command, std::function<void(std::string_view)> line)
    : line_(std::move(line)) {
  std::array<std::array<int, 2>, 2> pipes{};
  for (auto& ends : pipes) {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw std::system_error(errno, std::generic_category(), "a pipe for the launcher");
    }
  }
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  // `exec`: the process that is waited for, and ended, is the launcher itself.
  const std::string text = "exec " + command;
  pid_ = ::fork();
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork of the launcher");
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(125);  // the parent died before prctl took effect
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(pipes[0][1], STDOUT_FILENO);
    ::dup2(pipes[1][1], STDERR_FILENO);
    ::execl("/bin/sh", "sh", "-c", text.c_str(), nullptr);
    ::_exit(127);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    ::close(pipes[i][1]);
    ::fcntl(pipes[i][0], F_SETFL, O_NONBLOCK);
    streams_[i].descriptor = pipes[i][0];
  }
}

LauncherProcess::~LauncherProcess() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  for (const Stream& stream : streams_) {
    if (stream.descriptor >= 0) ::close(stream.descriptor);
  }
}

Ending LauncherProcess::wait(const Clock::time_point& deadline) {
  Ending ending;
  const auto read_until = [this](auto& end, const auto& over) {
    while (!over()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
      if (left.count() <= 0) return false;
      read_for(std::min<std::chrono::milliseconds>(left, streams_ended() ? kShortGlance : kGlance));
    }
    return true;
  };
  const auto ended = [this] { return reap(); };
  if (!read_until(deadline, ended)) {
    ending.in_time = false;
    ::kill(pid_, SIGTERM);
    const auto grace = Clock::now() + kToEnd;
    if (!read_until(grace, ended)) {
      ::kill(pid_, SIGKILL);
      while (!reap()) read_for(kGlance);
    }
  }
  // A process that the launcher has left behind may hold the streams open.
  const auto drained = Clock::now() + kToDrain;
  read_until(drained, [this] { return streams_ended(); });
  for (Stream& stream : streams_) {
    if (!stream.rest.empty()) line_(std::exchange(stream.rest, {}));
  }
  ending.status = status_;
  return ending;
}

bool LauncherProcess::reap() noexcept {
  if (pid_ > 0 && ::waitpid(pid_, &status_, WNOHANG) == pid_) pid_ = -1;
  return pid_ < 0;
}

void LauncherProcess::read_for(std::chrono::milliseconds limit) {
  // poll() ignores negative descriptors.
  std::array<pollfd, 2> watched{{{streams_[0].descriptor, POLLIN, 0}, {streams_[1].descriptor, POLLIN, 0}}};
  if (::poll(watched.data(), watched.size(), static_cast<int>(limit.count())) <= 0) return;
  for (std::size_t i = 0; i < 2; ++i) {
    if (watched[i].revents != 0) read(streams_[i]);
  }
}

void LauncherProcess::read(Stream& stream) {
  std::array<char, 16384> buffer;
  const ssize_t bytes = ::read(stream.descriptor, buffer.data(), buffer.size());
  if (bytes < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (bytes <= 0) {
    ::close(std::exchange(stream.descriptor, -1));
    return;
  }
  stream.rest.append(buffer.data(), static_cast<std::size_t>(bytes));
  std::size_t begin = 0;
  for (std::size_t end; (end = stream.rest.find('\n', begin)) != std::string::npos; begin = end + 1) {
    line_(std::string_view(stream.rest).substr(begin, end - begin));
  }
  stream.rest.erase(0, begin);
}

std::string quoted_for_sh(std::string_view word) {
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";  // inside single quotes, only the quote itself has a meaning
    } else {
      out += c;
    }
  }
  return out += '\'';
}

}  // namespace aqueduct::conformance
