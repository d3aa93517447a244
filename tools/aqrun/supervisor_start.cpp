#include "tools/aqrun/binding.hpp"
#include "tools/aqrun/environment.hpp"
#include "tools/aqrun/supervisor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <variant>

#include <unistd.h>

namespace aqrun {

bool Supervisor::start_all() {
  const Found program = find_program(options_.program.front());
  auto binding = choose_binding(options_.bind, options_.processes(), options_.endpoints);
  const auto* no_binding = std::get_if<std::string>(&binding);
  if (program.status != 0 || no_binding != nullptr) {
    say(program.status != 0 ? program.why : *no_binding);
    spoiled(program.status != 0 ? program.status : kUsageStatus);
    return false;
  }
  const auto& places = std::get<std::vector<cpu_set_t>>(binding);

  Environment common(environ);
  common.unset(aqueduct::bootstrap::Server::Child::name);
  for (const std::string& assignment : options_.environment) common.set(assignment);
  std::vector<char*> arguments;
  for (const std::string& argument : options_.program) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);

  Start start;
  start.file = program.file.c_str();
  start.arguments = arguments.data();
  start.group = leader_.group();
  start.signals = old_mask_;
  for (std::uint32_t i = 0; i < processes_.size(); ++i) {
    start.processors = places.empty() ? nullptr : &places[i];
    if (const std::string why = start_one(i, start, common.pointers()); !why.empty()) {
      say(fmt::format("{} cannot be started: {}{}", ranks_of_process(options_, i), why, others()));
      spoiled(126);
      return false;
    }
  }
  input_.started();
  say_verbose(
      fmt::format("started -n {} in {} processes, job {}", options_.ranks, processes_.size(), server_.job()));
  return true;
}

std::string Supervisor::start_one(std::uint32_t i, Start start, std::vector<char*> environment) {
  const std::string ranks = ranks_of_process(options_, i);
  const std::string label = options_.tag ? "[" + ranks.substr(ranks.find(' ') + 1) + "] " : "";
  const auto child = server_.child_environment(i);
  start.output = output_.add(label);
  start.errors = errors_.add(label);
  std::string why;
  if (!child || start.output < 0 || start.errors < 0) {
    why = fmt::format("{} (each process needs three descriptors; is `ulimit -n` too low?)",
                      std::strerror(errno));
  } else {
    std::string job = fmt::format("{}={}", aqueduct::bootstrap::Server::Child::name, child->value);
    std::string endpoints = fmt::format(
        "AQUEDUCT_ENDPOINTS={}", std::min(options_.endpoints, options_.ranks - i * options_.endpoints));
    environment.back() = job.data();
    if (options_.endpoints_given) environment.push_back(endpoints.data());
    environment.push_back(nullptr);
    start.environment = environment.data();
    start.keep = child->descriptor;
    start.input = input_.for_process(i);
    const pid_t pid = spawn(start);
    if (pid < 0) why = fmt::format("{}: {}", start.file, std::strerror(errno));
    processes_[i] = {pid, pid > 0};
    running_ += pid > 0 ? 1 : 0;
  }
  server_.started(i);
  if (start.output >= 0) ::close(start.output);
  if (start.errors >= 0) ::close(start.errors);
  return why;
}

}  // namespace aqrun
