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
    auto link = std::make_unique<Link>(job_, share);
    if (links_.empty()) link->gives_input(input.hand_over());
    if (std::string why = link->start(children, command.words(share.host, {there, kAgentOption}));
        !why.empty())
      return why;
    links_.push_back(std::move(link));
  }
  return {};
}

void Remote::wait_for(std::vector<pollfd>& events) const {
  for (const auto& link : links_) link->wait_for(events);
}

void Remote::serve() {
  for (const auto& link : links_) link->serve();
}

void Remote::reaped(pid_t pid, int wait_status) {
  for (const auto& link : links_) {
    if (link->pid() == pid && !link->is_gone()) return link->reaped(wait_status);
  }
}

void Remote::check_deadlines() {
  for (const auto& link : links_) link->check_deadline();
}

std::optional<Link::Clock::time_point> Remote::deadline() const {
  std::optional<Link::Clock::time_point> first;
  for (const auto& link : links_) {
    const auto one = link->deadline();
    if (one && (!first || *one < *first)) first = one;
  }
  return first;
}

void Remote::signal(int number) {
  for (const auto& link : links_) link->signal(number);
}

void Remote::clear() {
  for (const auto& link : links_) link->clear();
}

void Remote::give_up_on_uncleared() {
  for (const auto& link : links_) {
    if (!link->is_cleared()) link->kill();
  }
}

std::uint64_t Remote::heard() const {
  std::uint64_t frames = 0;
  for (const auto& link : links_) frames += link->heard();
  return frames;
}

std::string Remote::give_up() {
  std::string hosts;
  for (const auto& link : links_) {
    if (link->is_gone()) continue;
    hosts += (hosts.empty() ? "" : ", ") + link->share().host;
    link->kill();
  }
  return hosts;
}

bool Remote::is_cleared() const {
  return std::all_of(links_.begin(), links_.end(), [](const auto& link) { return link->is_cleared(); });
}

bool Remote::is_gone() const {
  return std::all_of(links_.begin(), links_.end(), [](const auto& link) { return link->is_gone(); });
}

}  // namespace aqrun
