#include "tools/aqperf/launch.hpp"

#include <aqueduct/config.hpp>

#include "bootstrap/launcher.hpp"
#include "conduits/registry.hpp"
#include "tools/aqperf/failure.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace aqueduct::perf {

namespace {

std::vector<char*> as_argv(const std::vector<std::string>& command) {
  std::vector<char*> out;
  for (const std::string& word : command) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

std::string read_all(int descriptor) {
  std::string out;
  std::array<char, 4096> block{};
  for (;;) {
    const ssize_t got = read(descriptor, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return out;
    out.append(block.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

bool has_launcher() {
  const std::string wanted = bootstrap::environment_variable("AQUEDUCT_LAUNCHER").value_or("auto");
  return bootstrap::find_launcher(wanted, bootstrap::environment_variable).by != bootstrap::Launcher::alone;
}

std::string near_is_off(const Options& options) {
  return fmt::format(
      "aqperf: all ranks share this host and would use shared memory; AQUEDUCT_NEAR=off is set, so that they "
      "use {}\n",
      options.conduit);
}

std::string own_program() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) throw Failure("/proc/self/exe: " + error.message() + "; is /proc mounted?", 1);
  return path.string();
}

std::string aqrun_beside() {
  const auto path = std::filesystem::path(own_program()).parent_path() / "aqrun";
  if (access(path.c_str(), X_OK) != 0) {
    throw Failure("there is no aqrun at " + path.string() + "; start this as: aqrun -n 2 aqperf …", 1);
  }
  return path.string();
}

bool must_leave_near(const Options& options) {
  const conduits::Available* const named = conduits::find(options.conduit);
  return named != nullptr && named->entry != nullptr && named->entry->crosses_hosts &&
         Config::from_environment().origin("near") == SettingOrigin::built_in;
}

std::vector<std::string> aqrun_command(const Options& options) {
  std::vector<std::string> command{
      aqrun_beside(), "-n", std::to_string(options.ranks == 0 ? 2 : options.ranks), "--endpoints", "1"};
  if (!options.conduit.empty()) command.insert(command.end(), {"--conduit", options.conduit});
  if (must_leave_near(options)) {
    fmt::print(stderr, "{}", near_is_off(options));
    command.insert(command.end(), {"-e", "AQUEDUCT_NEAR=off"});
  }
  return command;
}

void relaunch(const Options& options, int argc, char** argv) {
  std::vector<std::string> command = aqrun_command(options);
  command.push_back(own_program());
  command.insert(command.end(), argv + 1, argv + argc);
  execv(command.front().c_str(), as_argv(command).data());
  throw Failure(command.front() + ": " + std::strerror(errno), 1);
}

std::string output_of(const std::vector<std::string>& command) {
  std::array<int, 2> pipe{};
  if (pipe2(pipe.data(), O_CLOEXEC) != 0) throw Failure(std::string("pipe: ") + std::strerror(errno), 1);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
  pid_t process = 0;
  const int error =
      posix_spawn(&process, command.front().c_str(), &actions, nullptr, as_argv(command).data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe[1]);
  std::string out = error == 0 ? read_all(pipe[0]) : std::string();
  close(pipe[0]);
  if (error != 0) throw Failure(command.front() + ": " + std::strerror(error), 1);
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw Failure(command.front() + " failed with " +
                      (WIFEXITED(status) ? "status " + std::to_string(WEXITSTATUS(status))
                                         : "signal " + std::to_string(WTERMSIG(status))),
                  WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  }
  return out;
}

}  // namespace aqueduct::perf
