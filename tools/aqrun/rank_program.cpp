#include "tools/aqrun/rank_program.hpp"

#include "tools/aqrun/binding.hpp"
#include "tools/aqrun/options.hpp"
#include "tools/launch/server.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <variant>

#include <unistd.h>

namespace aqrun {

using aqueduct::launch::Server;

RankProgram::RankProgram(std::vector<std::string> program, const std::vector<std::string>& environment,
                         const std::string& binding, const std::vector<std::uint32_t>& ranks_of)
    : program_(std::move(program)), environment_(environ) {
  environment_.unset(Server::Child::name);
  for (const std::string& assignment : environment) environment_.set(assignment);
  Found found = find_program(program_.front());
  auto places = choose_binding(binding, ranks_of);
  if (found.status != 0) {
    status_ = found.status;
    why_ = std::move(found.why);
  } else if (auto* no_places = std::get_if<std::string>(&places)) {
    status_ = kUsageStatus;
    why_ = std::move(*no_places);
  } else {
    file_ = std::move(found.file);
    places_ = std::get<std::vector<cpu_set_t>>(std::move(places));
  }
}

std::string RankProgram::why_not_started() const {
  const char* const limit = errno == EAGAIN ? " (is `ulimit -u`, the number of processes, too low?)" : "";
  return fmt::format("{}: {}{}", file_, std::strerror(errno), limit);
}

pid_t RankProgram::start(Children& children, std::uint32_t place, Start start, const std::string& bootstrap,
                         std::uint32_t endpoints) {
  Environment mine = environment_;
  mine.set(std::string(Server::Child::name) + '=' + bootstrap);
  if (endpoints != 0) mine.set("AQUEDUCT_ENDPOINTS=" + std::to_string(endpoints));
  const std::vector<char*> variables = mine.pointers();
  std::vector<char*> arguments;
  for (std::string& argument : program_) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  start.file = file_.c_str();
  start.arguments = arguments.data();
  start.environment = variables.data();
  start.processors = places_.empty() ? nullptr : &places_[place];
  return children.start(start);
}

}  // namespace aqrun
