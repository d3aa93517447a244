#include "tools/aqrun/remote.hpp"

#include "tools/aqrun/agent.hpp"
#include "tools/aqrun/remote_command.hpp"

#include <algorithm>
#include <array>
#include <climits>

#include <unistd.h>

namespace aqrun {
namespace {

std::string this_program() {
  std::array<char, PATH_MAX> path{};
  const auto length = ::readlink("/proc/self/exe", path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : "aqrun";
}

}  // namespace

std::string Remote::start(Children& children, Input& input) {
  const auto parsed = RemoteCommand::parse(job_.options.remote);
  if (const auto* why = std::get_if<std::string>(&parsed)) return *why;
  const auto& command = std::get<RemoteCommand>(parsed);
  const std::string there = job_.options.remote_aqrun.empty() ? this_program() : job_.options.remote_aqrun;
  for (const Share& share : job_.options.shares) {
    auto connection = std::make_unique<HostConnection>(job_, share);
    if (connections_.empty()) connection->gives_input(input.hand_over());
    if (std::string why = connection->start(children, command.words(share.host, {there, kAgentOption}));
        !why.empty())
      return why;
    connections_.push_back(std::move(connection));
  }
  return {};
}

void Remote::wait_for(std::vector<pollfd>& events) const {
  for (const auto& connection : connections_) connection->wait_for(events);
}

void Remote::serve() {
  for (const auto& connection : connections_) connection->serve();
}

void Remote::reaped(pid_t pid, int wait_status) {
  for (const auto& connection : connections_) {
    if (connection->pid() == pid && !connection->is_gone()) return connection->reaped(wait_status);
  }
}

void Remote::check_deadlines() {
  for (const auto& connection : connections_) connection->check_deadline();
}

std::optional<HostConnection::Clock::time_point> Remote::deadline() const {
  std::optional<HostConnection::Clock::time_point> first;
  for (const auto& connection : connections_) {
    const auto one = connection->deadline();
    if (one && (!first || *one < *first)) first = one;
  }
  return first;
}

void Remote::signal(int number) {
  for (const auto& connection : connections_) connection->signal(number);
}

void Remote::pass_on(int number) {
  for (const auto& connection : connections_) {
    if (connection->has_answered()) connection->signal(number);
  }
}

void Remote::clear() {
  for (const auto& connection : connections_) connection->clear();
}

void Remote::give_up_on_uncleared() {
  for (const auto& connection : connections_) {
    if (!connection->is_cleared()) connection->kill();
  }
}

std::uint64_t Remote::heard() const {
  std::uint64_t frames = 0;
  for (const auto& connection : connections_) frames += connection->heard();
  return frames;
}

std::string Remote::give_up() {
  std::string hosts;
  for (const auto& connection : connections_) {
    if (connection->is_gone()) continue;
    hosts += (hosts.empty() ? "" : ", ") + connection->share().host;
    connection->kill();
  }
  return hosts;
}

bool Remote::is_cleared() const {
  return std::all_of(connections_.begin(), connections_.end(),
                     [](const auto& connection) { return connection->is_cleared(); });
}

bool Remote::has_all_output() const {
  return std::all_of(connections_.begin(), connections_.end(), [](const auto& connection) {
    return connection->is_gone() || connection->has_all_output();
  });
}

bool Remote::is_gone() const {
  return std::all_of(connections_.begin(), connections_.end(),
                     [](const auto& connection) { return connection->is_gone(); });
}

}  // namespace aqrun
