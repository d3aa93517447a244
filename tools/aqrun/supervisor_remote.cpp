#include "tools/aqrun/supervisor.hpp"

#include <fmt/format.h>

// What is different with ranks on other hosts.
namespace aqrun {
namespace {

using namespace std::chrono_literals;

constexpr auto kFromClearToGiveUp = 5s;  // chosen: an agent needs at most 2 s, if the connection works
constexpr auto kLongestStall = 45s;      // as long as ssh bears it (remote_command.hpp)

}  // namespace

bool Supervisor::start_remote() {
  // Ranks count as running from here on, until their agent reports their end or is lost.
  for (const Share& share : options_.shares) {
    for (std::uint32_t k = 0; k < share.processes; ++k) {
      processes_[share.first + k] = {-1, true, " on " + share.host};
      ++running_;
    }
  }
  const std::string why = remote_->start(children_, input_);
  if (why.empty()) return true;
  say(why);
  spoiled(126);
  for (Process& process : processes_) process.running = false;
  running_ = 0;
  return false;
}

void Supervisor::rank_started(std::uint32_t process, pid_t pid) {
  processes_[process].pid = pid;
  say_verbose(fmt::format("{} started", name_of(process)));
}

void Supervisor::host_failed(const Share& share, const std::string& why, int status, bool early) {
  std::uint32_t lost = 0;
  for (std::uint32_t i = share.first; i < share.first + share.processes; ++i) {
    if (!std::exchange(processes_[i].running, false)) continue;
    --running_;
    server_.process_ended(i);
    lost += endpoints_of_process(options_, i);
  }
  if (lost == 0 && running_ == 0) return;  // it was about to end anyway
  const std::string what = early ? "" : fmt::format("; lost with it: {}", quantity_of_ranks(lost));
  const std::string line = fmt::format("host {}: {}{}", share.host, why, what);
  if (is_ending()) return say_verbose(line);
  say(line + (status_ ? "" : others()));
  spoiled(status);
  if (phase_ == Phase::running || early) enter(early ? Phase::killing : Phase::grace);
}

// As lost output elsewhere: the job fails, and ranks on other hosts may go on.
void Supervisor::output_lost(const Share& share, const std::string& how) {
  const std::string line =
      fmt::format("host {}: {}: the end of what the ranks there have written is lost", share.host, how);
  is_ending() ? say_verbose(line) : say(line);
  spoiled(kLostOutputStatus);
}

// A job that has succeeded waits for the end of its output, as long as the connection may recover.
std::chrono::seconds Supervisor::patience() const {
  const bool is_good = status_.value_or(0) == 0;
  return is_good && !remote_->has_all_output() ? kLongestStall : kFromClearToGiveUp;
}

void Supervisor::clear_remote() {
  remote_->clear();
  patience_ends_ = Clock::now() + patience();
  while (!hurried_ && !remote_->is_cleared() && Clock::now() < *patience_ends_) wait_and_serve();
  // Agents that have cleared still forward what was written, as long as our reader
  // accepts it; the others cannot be reached.
  remote_->give_up_on_uncleared();
  bring_the_rest();
  patience_ends_.reset();
}

// Waits until all commands have ended. A command that sends nothing for a while, although our reader accepts output,
// is killed: its host has died, or a process there holds the connection open.
void Supervisor::bring_the_rest() {
  std::uint64_t heard = remote_->heard();
  patience_ends_ = Clock::now() + patience();
  while (!hurried_ && !remote_->is_gone()) {
    wait_and_serve();
    const bool reader_is_slow = !output_.has_room() || !errors_.has_room();
    if (std::exchange(heard, remote_->heard()) != remote_->heard() || reader_is_slow) {
      patience_ends_ = Clock::now() + patience();
    } else if (Clock::now() >= *patience_ends_) {
      const std::string hosts = remote_->give_up();
      if (!hosts.empty())
        say(fmt::format("cut the connection to {}: it did not end, although all processes there have",
                        hosts));
      patience_ends_ = Clock::now() + patience();
    }
  }
}

}  // namespace aqrun
