#include "tests/fault/launch.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <sstream>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace aqueduct::fault {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

std::vector<std::string> environment_with(const std::vector<std::string>& variables) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!std::string_view(*entry).starts_with("AQUEDUCT_")) all.emplace_back(*entry);
  }
  all.insert(all.end(), variables.begin(), variables.end());
  return all;
}

}  // namespace

Launch::Launch(std::vector<std::string> command, const std::vector<std::string>& variables)
    : began_(Clock::now()), ended_(began_) {
  std::vector<std::string> environment = environment_with(variables);
  const std::vector<char*> arguments = pointers(command);
  const std::vector<char*> settings = pointers(environment);
  int out[2], err[2];
  EXPECT_EQ(::pipe2(out, O_CLOEXEC), 0);
  EXPECT_EQ(::pipe2(err, O_CLOEXEC), 0);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, 0);
    ::dup2(out[1], 1);
    ::dup2(err[1], 2);
    ::execvpe(arguments[0], arguments.data(), settings.data());
    ::_exit(99);
  }
  ::close(out[1]);
  ::close(err[1]);
  streams_[0].descriptor = out[0];
  streams_[1].descriptor = err[0];
}

Launch::~Launch() {
  if (!reaped_) {
    signal(SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  for (const Stream& stream : streams_) {
    if (stream.descriptor >= 0) ::close(stream.descriptor);
  }
}

void Launch::signal(int number) const noexcept { ::kill(pid_, number); }

// Reads what has arrived, or waits a little for more; false once both streams have ended.
bool Launch::read_some() {
  std::array<pollfd, 2> events{};
  for (std::size_t i = 0; i < 2; ++i) events[i] = {streams_[i].descriptor, POLLIN, 0};
  ::poll(events.data(), events.size(), 100);
  for (std::size_t i = 0; i < 2; ++i) {
    if (events[i].revents == 0) continue;
    std::array<char, 16384> piece;
    const auto got = ::read(streams_[i].descriptor, piece.data(), piece.size());
    if (got > 0) {
      streams_[i].text.append(piece.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || errno != EINTR) {
      ::close(streams_[i].descriptor);
      streams_[i].descriptor = -1;
    }
  }
  return streams_[0].descriptor >= 0 || streams_[1].descriptor >= 0;
}

bool Launch::says(std::string_view text, std::size_t wanted) {
  const auto until = Clock::now() + kBound;
  while (lines(text).size() < wanted) {
    if (Clock::now() > until || !read_some()) return lines(text).size() >= wanted;
  }
  return true;
}

int Launch::status() {
  if (reaped_) return status_;
  const auto until = Clock::now() + kBound;
  while (read_some() && Clock::now() < until) {
  }
  const bool in_time = Clock::now() < until;
  if (!in_time) signal(SIGKILL);
  int found = 0;
  while (::wait4(pid_, &found, 0, &usage_) < 0 && errno == EINTR) {
  }
  reaped_ = true;
  ended_ = Clock::now();
  if (in_time) status_ = WIFSIGNALED(found) ? 128 + WTERMSIG(found) : WEXITSTATUS(found);
  return status_;
}

std::vector<std::string> Launch::lines(std::string_view text) const {
  std::vector<std::string> found;
  std::istringstream in(out());
  for (std::string line; std::getline(in, line) && !in.eof();) {
    if (line.find(text) != std::string::npos) found.push_back(line);
  }
  return found;
}

std::chrono::duration<double> Launch::processor_time() const noexcept {
  const auto seconds = [](const timeval& time) {
    return std::chrono::duration<double>(static_cast<double>(time.tv_sec) +
                                         1e-6 * static_cast<double>(time.tv_usec));
  };
  return seconds(usage_.ru_utime) + seconds(usage_.ru_stime);
}

std::vector<std::string> aqrun(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program("aqrun"));
  return arguments;
}

std::string program(std::string_view name) { return AQUEDUCT_BIN_DIR "/" + std::string(name); }

std::size_t count(std::string_view text, std::string_view part) noexcept {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size()))
    ++found;
  return found;
}

}  // namespace aqueduct::fault
