#include "tests/integration/aqrun_job.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <sstream>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace aqueduct::integration {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kBound = 30s;  // reached only by a failure: everything it bounds should take a fraction

bool is_alive(pid_t pid) {
  std::string state;
  if (FILE* file = std::fopen(("/proc/" + std::to_string(pid) + "/stat").c_str(), "r"); file != nullptr) {
    std::array<char, 512> text{};
    state.assign(text.data(), std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
  }
  const auto name_end = state.rfind(')');
  return name_end != std::string::npos && state[name_end + 2] != 'Z' && state[name_end + 2] != 'X';
}

}  // namespace

AqrunJob::AqrunJob(std::vector<std::string> arguments, const std::string& input) {
  int in[2], out[2], err[2];
  for (int* ends : {in, out, err}) EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  arguments.insert(arguments.begin(), AQUEDUCT_BIN_DIR "/aqrun");
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(in[0], 0);
    ::dup2(out[1], 1);
    ::dup2(err[1], 2);
    ::execv(pointers[0], pointers.data());
    ::_exit(99);
  }
  for (const int end : {in[0], out[1], err[1]}) ::close(end);
  EXPECT_EQ(::write(in[1], input.data(), input.size()), static_cast<ssize_t>(input.size()));
  ::close(in[1]);
  streams_ = {{out[0], {}}, {err[0], {}}};
}

AqrunJob::~AqrunJob() {
  if (status_ < 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  for (const auto& stream : streams_) ::close(stream.descriptor);
}

bool AqrunJob::read_until(const std::function<bool()>& condition) {
  const auto until = Clock::now() + kBound;
  while (!condition()) {
    std::array<pollfd, 2> events{};
    for (std::size_t i = 0; i < 2; ++i)
      events[i] = {streams_[i].open ? streams_[i].descriptor : -1, POLLIN, 0};
    if ((!streams_[0].open && !streams_[1].open) || Clock::now() > until) return false;
    ::poll(events.data(), events.size(), 100);
    for (std::size_t i = 0; i < 2; ++i) {
      if (events[i].revents == 0) continue;
      std::array<char, 65536> piece;
      const auto got = ::read(streams_[i].descriptor, piece.data(), piece.size());
      if (got > 0) streams_[i].text.append(piece.data(), static_cast<std::size_t>(got));
      streams_[i].open = got > 0;
    }
  }
  return true;
}

int AqrunJob::status() {
  read_until([] { return false; });
  if (status_ >= 0 || streams_[0].open || streams_[1].open) return status_;
  int found = 0;
  if (::waitpid(pid_, &found, 0) == pid_) {
    status_ = WIFSIGNALED(found) ? 128 + WTERMSIG(found) : WEXITSTATUS(found);
  }
  return status_;
}

std::vector<std::string> AqrunJob::lines() const {
  std::vector<std::string> found;
  std::istringstream in(out());
  for (std::string line; std::getline(in, line);) found.push_back(line);
  return found;
}

std::size_t AqrunJob::count_lines(const std::string& wanted) const {
  const auto all = lines();
  return static_cast<std::size_t>(std::count(all.begin(), all.end(), wanted));
}

void AqrunJob::signal(int number) const { ::kill(pid_, number); }

void AqrunJob::close_output() {
  ::close(streams_[0].descriptor);
  streams_[0] = {-1, {}, false};
}

std::vector<std::string> shell(std::vector<std::string> options, const std::string& script) {
  const std::string numbered = "p=${AQUEDUCT_BOOTSTRAP#*process:}; p=${p%%,*}; " + script;
  options.insert(options.end(), {"/bin/sh", "-c", numbered});
  return options;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool all_end(const std::vector<std::string>& pids) {
  const auto until = Clock::now() + 5s;
  const auto alive = [](const std::string& pid) { return is_alive(std::stoi(pid)); };
  while (std::any_of(pids.begin(), pids.end(), alive)) {
    if (Clock::now() > until) return false;
    ::poll(nullptr, 0, 2);
  }
  return true;
}

}  // namespace aqueduct::integration
