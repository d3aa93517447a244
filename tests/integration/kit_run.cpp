#include "tests/integration/kit_run.hpp"

#include <array>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace aqueduct::integration {

KitRun run_aqconform(std::vector<std::string> arguments, std::chrono::seconds bound) {
  KitRun outcome;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return outcome;
  arguments.insert(arguments.begin(), AQUEDUCT_BIN_DIR "/aqconform");
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(ends[1], 1);
    ::dup2(ends[1], 2);
    ::execv(pointers[0], pointers.data());
    ::_exit(99);
  }
  ::close(ends[1]);
  const auto end = std::chrono::steady_clock::now() + bound;
  std::array<char, 4096> buffer;
  while (std::chrono::steady_clock::now() < end) {
    pollfd readable{ends[0], POLLIN, 0};
    if (::poll(&readable, 1, 100) <= 0) continue;
    const ssize_t bytes = ::read(ends[0], buffer.data(), buffer.size());
    if (bytes <= 0) {
      outcome.in_time = true;
      break;
    }
    outcome.output.append(buffer.data(), static_cast<std::size_t>(bytes));
  }
  ::close(ends[0]);
  if (!outcome.in_time) ::kill(pid, SIGKILL);
  ::waitpid(pid, &outcome.status, 0);
  return outcome;
}

}  // namespace aqueduct::integration
