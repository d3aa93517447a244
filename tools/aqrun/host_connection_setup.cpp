#include "tools/aqrun/host_connection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <unistd.h>

// The setup that is sent to an agent before it starts anything.
namespace aqrun {

std::vector<std::string> HostConnection::variables() const {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view assignment(*entry);
    const std::string own = std::string(aqueduct::launch::Server::Child::name) + '=';
    if (assignment.starts_with("AQUEDUCT_") && !assignment.starts_with(own)) all.emplace_back(assignment);
  }
  const auto& given = job_.options.environment;
  all.insert(all.end(), given.begin(), given.end());
  const auto is_host = [](const std::string& assignment) {
    return assignment.starts_with("AQUEDUCT_HOST_ID=");
  };
  if (std::none_of(all.begin(), all.end(), is_host)) all.push_back("AQUEDUCT_HOST_ID=" + share_.host);
  return all;
}

std::string HostConnection::prepare(Process& process, std::uint32_t i, std::string& about) {
  const auto child = job_.server.child_environment(i);
  if (!child) {
    return fmt::format("{} (each process needs two descriptors here; is `ulimit -n` too low?)",
                       std::strerror(errno));
  }
  process.bootstrap = Tube(child->descriptor);
  job_.server.handed_over(i);
  about = child->value;
  return {};
}

void HostConnection::send_setup() {
  const auto send = [this](Kind kind, std::string text) { channel_.send({kind, 0, 0, std::move(text)}); };
  const auto too_long = [](const std::string& text) { return text.size() > kMostFrameBytes; };
  const std::vector<std::string> environment = variables();
  const auto& program = job_.options.program;
  if (std::any_of(program.begin(), program.end(), too_long) ||
      std::any_of(environment.begin(), environment.end(), too_long)) {
    return fail(fmt::format("an argument or a variable is longer than {} bytes", kMostFrameBytes),
                kUsageStatus);
  }
  send(Kind::folder, folder_);
  send(Kind::binding, job_.options.bind);
  for (const std::string& word : program) send(Kind::argument, word);
  for (const std::string& assignment : environment) send(Kind::variable, assignment);
  for (std::uint32_t k = 0; k < processes_.size(); ++k) {
    const std::uint32_t i = share_.first + k;
    std::string about;
    if (std::string why = prepare(processes_[k], i, about); !why.empty()) return fail(std::move(why));
    const std::uint32_t endpoints = job_.options.endpoints_given ? endpoints_of_process(job_.options, i) : 0;
    channel_.send({Kind::process, i, endpoints, about});
  }
  channel_.send({Kind::start, 0, input_.is_open() ? 1u : 0u, {}});
}

}  // namespace aqrun
