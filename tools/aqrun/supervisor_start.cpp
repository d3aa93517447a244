#include "tools/aqrun/supervisor.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include <sys/resource.h>
#include <unistd.h>

namespace aqrun {
namespace {

/// A limit with which this process, which has met the present one, starts `left` processes. The ends that a process takes over are
/// open here while it starts.
std::uint64_t enough_descriptors(std::uint32_t left) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur + 3 * (std::uint64_t{left} + 1);
}

}  // namespace

bool Supervisor::start_all() { return remote_ ? start_remote() : start_local(); }

bool Supervisor::start_local() {
  std::vector<std::uint32_t> ranks_of;
  for (std::uint32_t i = 0; i < processes_.size(); ++i) ranks_of.push_back(endpoints_of_process(options_, i));
  RankProgram program(options_.program, options_.environment, options_.bind, ranks_of);
  if (program.status() != 0) {
    say(program.why());
    spoiled(program.status());
    return false;
  }
  for (std::uint32_t i = 0; i < processes_.size(); ++i) {
    if (const std::string why = start_one(i, program); !why.empty()) {
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

std::string Supervisor::start_one(std::uint32_t i, RankProgram& program) {
  const std::string label = label_of_process(options_, i);
  const auto child = server_.child_environment(i);
  Start start;
  start.output = output_.add(label);
  start.errors = errors_.add(label);
  std::string why;
  if (!child || start.output < 0 || start.errors < 0) {
    const int error = errno;
    why = fmt::format("{} (each process needs three descriptors, so all ranks need `ulimit -n {}`)",
                      std::strerror(error), enough_descriptors(options_.processes() - i));
  } else {
    start.keep = child->descriptor;
    start.input = input_.for_process(i);
    const std::uint32_t endpoints = options_.endpoints_given ? endpoints_of_process(options_, i) : 0;
    const pid_t pid = program.start(children_, i, start, child->value, endpoints);
    if (pid < 0) why = program.why_not_started();
    processes_[i] = {pid, pid > 0, {}};
    running_ += pid > 0 ? 1 : 0;
  }
  server_.started(i);
  if (start.output >= 0) ::close(start.output);
  if (start.errors >= 0) ::close(start.errors);
  return why;
}

}  // namespace aqrun
