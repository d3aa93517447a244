#include "tools/aqrun/supervisor.hpp"

#include "tools/aqrun/leftovers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace aqrun {
namespace {

using namespace std::chrono_literals;

constexpr auto kFromTermToKill = 2s;    // chosen: time to remove a file, not to finish a computation
constexpr auto kFromKillToGiveUp = 5s;  // chosen: longer means a process stuck inside the system
constexpr int kTimeoutStatus = 124;     // as timeout(1) has it
constexpr int kLeftOutStatus = 1;       // what other launchers return for an end without their finalize

/// What is taken with signalfd: those that end or report, unless who started aqrun had them ignored (nohup).
sigset_t watched_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) ::sigaddset(&set, signal);
  }
  return set;
}

std::string quantity(std::uint32_t count) {
  return fmt::format("{} {}", count, count == 1 ? "rank" : "ranks");
}

}  // namespace

Supervisor::Supervisor(const Options& options, Leader& leader)
    : options_(options),
      leader_(leader),
      server_(options.processes(), [this](std::string_view why) { say(std::string(why)); }),
      input_(options.stdin_to_first),
      output_(STDOUT_FILENO),
      errors_(STDERR_FILENO),
      processes_(options.processes()) {
  ::signal(SIGPIPE, SIG_IGN);
  // A rank's orphans come to us, so that those who leave the group are found as well.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const sigset_t watched = watched_signals();
  ::sigprocmask(SIG_BLOCK, &watched, &old_mask_);
  leader_.leads(server_.job());
  signals_ = ::signalfd(-1, &watched, SFD_NONBLOCK | SFD_CLOEXEC);
}

Supervisor::~Supervisor() { ::close(signals_); }

void Supervisor::say(const std::string& line) { errors_.say("aqrun: " + line); }
void Supervisor::say_verbose(const std::string& line) {
  if (options_.verbose) say(line);
}

std::string Supervisor::name_of(std::uint32_t i) const {
  return fmt::format("{} (pid {})", ranks_of_process(options_, i), processes_[i].pid);
}

std::uint32_t Supervisor::running_ranks() const {
  std::uint32_t ranks = 0;
  for (std::uint32_t i = 0; i < processes_.size(); ++i) {
    if (processes_[i].running) ranks += std::min(options_.endpoints, options_.ranks - i * options_.endpoints);
  }
  return ranks;
}

std::string Supervisor::others() const {
  if (running_ == 0) return "";
  const std::uint32_t ranks = running_ranks();
  return ranks == 1 ? "; ending the other rank" : fmt::format("; ending the other {}", quantity(ranks));
}

int Supervisor::run() {
  if (options_.timeout > 0ms) job_ends_ = Clock::now() + options_.timeout;
  if (!start_all()) enter(Phase::killing);
  while (running_ > 0 && !hopeless_) wait_and_serve();
  leave_nothing();
  // Nobody writes any more; what the ranks have written is still to be brought to our readers.
  output_.serve();
  errors_.serve();
  while (!hurried_ && !(output_.finished() && errors_.finished())) wait_and_serve();
  return status_.value_or(0);
}

void Supervisor::wait_and_serve() {
  std::vector<pollfd> events{{signals_, POLLIN, 0}, {server_.descriptor(), POLLIN, 0}};
  output_.wait_for(events);
  errors_.wait_for(events);
  input_.wait_for(events);
  auto until = phase_ends_;
  if (job_ends_ && (!until || *job_ends_ < *until)) until = job_ends_;
  int limit = -1;
  if (until) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until - Clock::now()).count();
    limit = static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
  }
  ::poll(events.data(), events.size(), limit);
  server_.serve(0ms);
  check_abort();
  // Before the endings are told: what a rank said last comes first.
  output_.serve();
  errors_.serve();
  input_.serve();
  take_signals();
  check_deadlines();
}

void Supervisor::take_signals() {
  signalfd_siginfo signal{};
  while (::read(signals_, &signal, sizeof signal) == sizeof signal) {
    if (signal.ssi_signo == SIGCHLD) {
      reap();
    } else {
      interrupted(static_cast<int>(signal.ssi_signo));
    }
  }
}

void Supervisor::reap() {
  int status = 0;
  for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    const auto found = std::find_if(processes_.begin(), processes_.end(),
                                    [pid](const Process& p) { return p.running && p.pid == pid; });
    if (found != processes_.end()) ended(static_cast<std::uint32_t>(found - processes_.begin()), status);
  }
}

void Supervisor::ended(std::uint32_t i, int wait_status) {
  processes_[i].running = false;
  --running_;
  server_.process_ended(i);
  check_abort();  // it may have been the last thing that it said
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    return failed(i, fmt::format("was killed by signal {} ({})", signal, ::strsignal(signal)), 128 + signal);
  }
  if (WEXITSTATUS(wait_status) != 0) {
    return failed(i, fmt::format("exited with status {}", WEXITSTATUS(wait_status)),
                  WEXITSTATUS(wait_status));
  }
  // Programs that know nothing of Aqueduct never join; on who has joined the others count until it leaves. Those
  // that end after the first to be lost may well do so because of it.
  if (server_.joined(i) && server_.first_lost() == i) {
    return failed(i, "exited with status 0, but without leaving the job (Job::finish)", kLeftOutStatus);
  }
  say_verbose(fmt::format("{} ended", name_of(i)));
}

void Supervisor::failed(std::uint32_t i, const std::string& how, int status) {
  // Whoever ends because we or the user wanted it is no news.
  if (interrupted_ || phase_ >= Phase::terminating) return say_verbose(fmt::format("{} {}", name_of(i), how));
  say(fmt::format("{} {}{}", name_of(i), how, status_ ? "" : others()));
  spoiled(status);
  if (phase_ == Phase::running) enter(Phase::grace);
}

void Supervisor::interrupted(int signal) {
  if (interrupted_ || running_ == 0) {  // the user means it
    hurried_ = true;
    spoiled(128 + signal);
    return enter(Phase::killing);
  }
  interrupted_ = true;
  say(fmt::format("{}; ending {}", ::strsignal(signal), quantity(running_ranks())));
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
  spoiled(abort->code & 0xff);
  enter(Phase::killing);
}

void Supervisor::check_deadlines() {
  const auto now = Clock::now();
  if (job_ends_ && now >= *job_ends_) {
    job_ends_.reset();
    if (running_ > 0 && phase_ == Phase::running) {
      say(fmt::format("the job has taken longer than --timeout {} s; ending {}",
                      std::chrono::duration<double>(options_.timeout).count(), quantity(running_ranks())));
      spoiled(kTimeoutStatus);
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
      say(fmt::format("{} processes do not end even by SIGKILL; leaving them to the system", running_));
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
  leader_.signal_group(signal);
  // Those outside the group: none, unless its leader could not be started or a rank made its own.
  for (const Process& process : processes_) {
    if (process.running && ::getpgid(process.pid) != leader_.group()) ::kill(process.pid, signal);
  }
}

void Supervisor::spoiled(int status) {
  if (!status_) status_ = status;
}

void Supervisor::leave_nothing() {
  const auto until = Clock::now() + kFromTermToKill;
  leader_.signal_group(SIGKILL);
  do {
    kill_adopted();
    int status = 0;
    while (::waitpid(-1, &status, WNOHANG) > 0) {
    }
    siginfo_t about{};
    if (::waitid(P_ALL, 0, &about, WEXITED | WNOHANG | WNOWAIT) != 0) break;  // no children left
    pollfd child{signals_, POLLIN, 0};
    ::poll(&child, 1, 10);
    signalfd_siginfo signal{};
    while (::read(signals_, &signal, sizeof signal) == sizeof signal) {
    }
  } while (Clock::now() < until);
  remove_shared_memory(leader_.folder(), server_.job());
}

}  // namespace aqrun
