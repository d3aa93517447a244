#include "tools/aqrun/supervisor.hpp"

#include "core/readable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace aqrun {
namespace {

using namespace std::chrono_literals;

constexpr auto kFromTermToKill = 2s;      // chosen: enough to remove a file, not to finish a computation
constexpr auto kFromLeaveToNotice = 10s;  // chosen: ranks that leave together do so within a second
constexpr auto kFromKillToGiveUp = 5s;    // chosen: after this long a process is stuck inside the kernel
constexpr auto kReaderPatience = 5s;      // chosen: a reader that accepts nothing for so long has stopped
constexpr int kTimeoutStatus = 124;       // as timeout(1)
constexpr int kAbortStatus = 1;    // of an abort with the code 0, or 256, which would look like a success
constexpr int kLeftOutStatus = 1;  // as other launchers return for a rank that ends without their finalize

/// What is visible of an exit code outside of the process.
int low_byte(int code) { return code & 0xff; }

}  // namespace

Supervisor::Supervisor(const Options& options, Leader& leader)
    : options_(options),
      children_(leader),
      server_(options.processes(), [this](std::string_view why) { say(std::string(why)); }),
      input_(options.stdin_to_first, /*relayed=*/!options.shares.empty()),
      output_(STDOUT_FILENO),
      errors_(STDERR_FILENO),
      remote_job_{options_, server_, output_, errors_, *this},
      processes_(options.processes()) {
  leader.leads(server_.job());
  if (!options.shares.empty()) remote_.emplace(remote_job_);
}

void Supervisor::say(const std::string& line) { errors_.say("aqrun: " + aqueduct::core::readable(line)); }
void Supervisor::say_verbose(const std::string& line) {
  if (options_.verbose) say(line);
}

std::string Supervisor::name_of(std::uint32_t i) const {
  const Process& process = processes_[i];
  return fmt::format("{} (pid {}{})", ranks_of_process(options_, i), process.pid, process.where);
}

std::uint32_t Supervisor::running_ranks() const {
  std::uint32_t ranks = 0;
  for (std::uint32_t i = 0; i < processes_.size(); ++i) {
    if (processes_[i].running) ranks += endpoints_of_process(options_, i);
  }
  return ranks;
}

std::string Supervisor::others() const { return ending(running_ranks()); }

std::string Supervisor::others_than(std::uint32_t i) const {
  return ending(running_ranks() - (processes_[i].running ? endpoints_of_process(options_, i) : 0));
}

std::string Supervisor::ending(std::uint32_t ranks) {
  if (ranks == 0) return "";
  return ranks == 1 ? "; ending the other rank"
                    : fmt::format("; ending the other {}", quantity_of_ranks(ranks));
}

int Supervisor::run() {
  if (options_.timeout > 0ms) job_ends_ = Clock::now() + options_.timeout;
  if (!start_all()) enter(Phase::killing);
  while (running_ > 0 && !hopeless_) wait_and_serve();
  if (remote_) clear_remote();
  children_.leave_nothing(server_.job());
  // No rank writes any more; what they have written must still be forwarded.
  output_.serve();
  errors_.serve();
  check_outputs();
  while (!hurried_ && !(output_.finished() && errors_.finished())) wait_and_serve();
  errors_.serve();  // what check_readers has said
  return status_.value_or(0);
}

void Supervisor::wait_and_serve() {
  std::vector<pollfd> events{{children_.descriptor(), POLLIN, 0}, {server_.descriptor(), POLLIN, 0}};
  output_.wait_for(events);
  errors_.wait_for(events);
  input_.wait_for(events);
  std::optional<Clock::time_point> until;
  if (remote_) {
    remote_->wait_for(events);
    until = remote_->deadline();
  }
  for (const auto& end : {phase_ends_, job_ends_, patience_ends_, notice_at_, readers_until_}) {
    if (end && (!until || *end < *until)) until = end;
  }
  int limit = -1;
  if (until) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until - Clock::now()).count();
    limit = static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
  }
  ::poll(events.data(), events.size(), limit);
  server_.serve(0ms);
  check_abort();
  check_exit();
  // Forwards output before endings are reported, so that a rank's last words come first.
  output_.serve();
  errors_.serve();
  input_.serve();
  if (remote_) remote_->serve();
  // The others hear of it when its channel closes, and may end before it has: so its memory is unmapped after that.
  const auto& lost = server_.first_lost();
  const pid_t first = !remote_ && lost && processes_[*lost].running ? processes_[*lost].pid : 0;
  children_.take_signals(
      first, [this](pid_t pid, int status) { reaped(pid, status); },
      [this](int signal) { interrupted(signal); });
  check_deadlines();
  check_outputs();
  check_readers();
}

// Lost output fails the job, even if all ranks succeed. Ranks may go on: those that write get EPIPE.
void Supervisor::check_outputs() {
  const auto check = [this](const Output& output, const char* name, bool& told) {
    if (output.failure() == 0 || std::exchange(told, true)) return;
    const bool reader_is_gone = output.failure() == EPIPE;
    say(fmt::format("{}: {}: what the ranks write there is lost", name,
                    reader_is_gone ? "nobody reads it any more" : ::strerror(output.failure())));
    spoiled(reader_is_gone ? 128 + SIGPIPE : kLostOutputStatus);
  };
  check(output_, "standard output", output_lost_);
  check(errors_, "standard error", errors_lost_);
}

// A job that ends by itself waits for its reader, who may be a person at a pager. One that was told to end does not wait for a
// reader that has stopped: who told it may not be there to do so again, as a person is.
void Supervisor::check_readers() {
  const bool told_to_end = interrupted_ || timed_out_;
  const bool waits = output_.waits_for_reader() || errors_.waits_for_reader();
  if (!told_to_end || (running_ > 0 && !hopeless_) || !waits) return readers_until_.reset();
  const auto now = Clock::now();
  const std::uint64_t accepted = output_.accepted() + errors_.accepted();
  if (std::exchange(readers_accepted_, accepted) != accepted || !readers_until_)
    readers_until_ = now + kReaderPatience;
  if (now < *readers_until_) return;
  const char* const name = output_.waits_for_reader() ? "standard output" : "standard error";
  readers_until_ = Clock::time_point::max();
  if (from_keyboard_ && !timed_out_) {
    if (std::exchange(reader_told_, true)) return;  // saying so is output that is accepted
    return say(fmt::format("{}: its reader accepts nothing; interrupt again to end without it", name));
  }
  say(fmt::format("{}: its reader accepts nothing: what the ranks wrote last is lost", name));
  hurried_ = true;
}

void Supervisor::reaped(pid_t pid, int wait_status) {
  if (remote_) return remote_->reaped(pid, wait_status);
  const auto found = std::find_if(processes_.begin(), processes_.end(),
                                  [pid](const Process& p) { return p.running && p.pid == pid; });
  if (found != processes_.end()) ended(static_cast<std::uint32_t>(found - processes_.begin()), wait_status);
}

void Supervisor::ended(std::uint32_t i, int wait_status) {
  if (!std::exchange(processes_[i].running, false)) return;
  --running_;
  server_.process_ended(i);
  check_abort();  // an abort or an exit may have been its last message
  check_exit();
  const auto& exit = server_.exit_asked();
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    const std::string how = fmt::format("was killed by signal {} ({})", signal, ::strsignal(signal));
    // So the system ends a process that makes no check: that belongs to its leave (bootstrap/exit_limit.hpp).
    if (signal == SIGKILL && exit && server_.left(i)) {
      const std::string line = fmt::format("{} {}", name_of(i), how);
      return is_ending() ? say_verbose(line) : say(line);
    }
    return failed(i, how, 128 + signal);
  }
  // Processes end with the code of the one that left, or because they lost it. After the code 0 any other status is a
  // failure.
  const int status = WEXITSTATUS(wait_status);
  if (exit && (status == 0 || low_byte(exit->code) != 0))
    return say_verbose(fmt::format("{} exited with status {}", name_of(i), status));
  if (status != 0) return failed(i, fmt::format("exited with status {}", status), status);
  // Programs that do not use Aqueduct never join. A process that has joined must leave, because others count on it.
  // Only the first one lost is blamed, because later ones may have ended because of it.
  if (server_.joined(i) && server_.first_lost() == i) {
    return failed(i, "exited with status 0, but without leaving the job (Job::finish)", kLeftOutStatus);
  }
  say_verbose(fmt::format("{} ended", name_of(i)));
  if (server_.left(i) && !std::exchange(first_has_left_, true))
    notice_at_ = Clock::now() + kFromLeaveToNotice;
}

void Supervisor::failed(std::uint32_t i, const std::string& how, int status) {
  if (is_ending()) return say_verbose(fmt::format("{} {}", name_of(i), how));
  say(fmt::format("{} {}{}", name_of(i), how, status_ ? "" : others()));
  spoiled(status);
  if (phase_ == Phase::running) enter(Phase::grace);
}

void Supervisor::pass_on(int signal) {
  say_verbose(fmt::format("{}; passed on to {}", ::strsignal(signal), quantity_of_ranks(running_ranks())));
  if (remote_) return remote_->pass_on(signal);
  for (std::uint32_t i = 0; i < processes_.size(); ++i) {
    if (processes_[i].running) children_.signal_rank(processes_[i].pid, server_.joined_by(i), signal);
  }
}

void Supervisor::interrupted(int signal) {
  if (is_for_ranks(signal)) return pass_on(signal);
  if (interrupted_ || running_ == 0) {  // a second signal, so end at once
    hurried_ = true;
    spoiled(128 + signal);
    return enter(Phase::killing);
  }
  interrupted_ = true;
  from_keyboard_ = signal == SIGINT;
  say(fmt::format("{}; ending {}", ::strsignal(signal), quantity_of_ranks(running_ranks())));
  spoiled(128 + signal);
  signal_all(signal);
  if (phase_ == Phase::running) enter(Phase::grace);
}

void Supervisor::check_abort() {
  const auto& abort = server_.abort_asked();
  if (!abort || abort_seen_) return;
  abort_seen_ = true;
  if (phase_ >= Phase::terminating) return;
  say(fmt::format("{} aborted the job with status {}: {}", name_of(abort->process), abort->code, abort->why));
  const int status = low_byte(abort->code);
  spoiled(status != 0 ? status : kAbortStatus);
  enter(Phase::killing);
}

void Supervisor::check_exit() {
  const auto& exit = server_.exit_asked();
  if (!exit || std::exchange(exit_seen_, true)) return;
  const int status = low_byte(exit->code);
  const bool is_news = status != 0 && !is_ending();
  const std::string line =
      fmt::format("{} left with code {} (Job::leave or exit)", name_of(exit->process), exit->code);
  is_news ? say(line + (status_ ? "" : others_than(exit->process))) : say_verbose(line);
  spoiled(status);
  if (phase_ == Phase::running) enter(Phase::grace);
}

// All ranks leave together, unless some have lost others.
void Supervisor::tell_who_is_missing() {
  notice_at_.reset();
  if (phase_ >= Phase::terminating) return;
  for (std::uint32_t i = 0; i < processes_.size(); ++i) {
    if (!processes_[i].running || !server_.joined(i) || server_.left(i)) continue;
    say(
        fmt::format("{} is still in the job, which other ranks have left without it {} s ago: it goes on "
                    "alone, is stopped, or its "
                    "host is not reached; waiting for it",
                    name_of(i), kFromLeaveToNotice.count()));
    return;
  }
}

void Supervisor::check_deadlines() {
  const auto now = Clock::now();
  if (remote_) remote_->check_deadlines();
  if (notice_at_ && now >= *notice_at_) tell_who_is_missing();
  if (job_ends_ && now >= *job_ends_) {
    job_ends_.reset();
    if (running_ > 0 && phase_ < Phase::terminating) {
      say(fmt::format("the job has taken longer than --timeout {} s; ending {}",
                      std::chrono::duration<double>(options_.timeout).count(),
                      quantity_of_ranks(running_ranks())));
      spoiled(kTimeoutStatus);
      timed_out_ = true;
      enter(Phase::terminating);
    }
  }
  if (!phase_ends_ || now < *phase_ends_) return;
  if (phase_ == Phase::grace) {
    enter(interrupted_ ? Phase::killing : Phase::terminating);
  } else if (phase_ == Phase::terminating) {
    enter(Phase::killing);
  } else {
    phase_ends_.reset();
    hopeless_ = running_ > 0;
    if (hopeless_)
      say(fmt::format("{} processes have not ended after SIGKILL; not waiting for them any longer",
                      running_));
  }
}

void Supervisor::enter(Phase phase) {
  phase_ = phase;
  const auto now = Clock::now();
  switch (phase) {
    case Phase::running: break;
    case Phase::grace: phase_ends_ = now + options_.grace; break;
    case Phase::terminating:
      phase_ends_ = now + kFromTermToKill;
      signal_all(SIGTERM);
      break;
    case Phase::killing:
      phase_ends_ = now + kFromKillToGiveUp;
      signal_all(SIGKILL);
      break;
  }
}

void Supervisor::signal_all(int signal) {
  if (remote_) return remote_->signal(signal);
  children_.signal_all(signal);
}

// The code 0 with which a rank has left hides no failure, of that rank or of another one.
void Supervisor::spoiled(int status) {
  if (status_.value_or(0) == 0) status_ = status;
}

}  // namespace aqrun
