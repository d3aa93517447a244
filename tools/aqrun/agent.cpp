#include "tools/aqrun/agent.hpp"

#include "bootstrap/wire.hpp"
#include "tools/aqrun/leftovers.hpp"
#include "tools/aqrun/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace aqrun {
namespace {

constexpr std::array<Kind, 2> kStreams{Kind::output, Kind::errors};

std::string enter(const std::string& folder) {
  if (::chdir(folder.c_str()) == 0) {
    ::setenv("PWD", folder.c_str(), 1);  // as a shell does
    return {};
  }
  return fmt::format("the folder {} cannot be entered: {}; start aqrun in a folder that all hosts have",
                     folder, std::strerror(errno));
}

/// Receives the setup, and keeps the frames that came behind it. False: the
/// stream ended or broke before it was complete.
bool collect(Channel& channel, AgentSetup& setup, std::vector<Frame>& behind) {
  while (!setup.complete && setup.problem.empty()) {
    std::vector<pollfd> events;
    channel.wait_for(events);
    ::poll(events.data(), events.size(), -1);
    channel.serve([&](Frame& frame) {
      if (setup.complete) {
        behind.push_back(std::move(frame));
      } else if (setup.problem.empty()) {
        setup.take(frame);
      }
    });
    if (channel.state() != Channel::State::open) return setup.complete || !setup.problem.empty();
  }
  return true;
}

/// Tells aqrun why no rank can run here, and waits until aqrun has received the reason.
int refuse(Channel& channel, int status, const std::string& why) {
  channel.send({Kind::refused, 0, static_cast<std::uint32_t>(status),
                std::string(aqueduct::bootstrap::wire::whole_characters(why, kMostFrameBytes))});
  while (channel.backlog() > 0 && channel.state() == Channel::State::open) {
    std::vector<pollfd> events;
    channel.wait_for(events);
    ::poll(events.data(), events.size(), -1);
    channel.serve([](Frame&) {});
  }
  return status;
}

}  // namespace

Agent::Agent(Channel& channel, AgentSetup setup, Leader& leader)
    : channel_(channel), setup_(std::move(setup)), children_(leader), processes_(setup_.processes.size()) {
  leader.leads(job());
}

int Agent::run(std::vector<Frame> behind) {
  if (const Refusal refusal = start_all(); refusal.status != 0) {
    children_.leave_nothing(job());
    return refuse(channel_, refusal.status, refusal.why);
  }
  for (Frame& frame : behind) take(frame);
  while (channel_.state() == Channel::State::open && asked_ == 0 && !(drained_ && channel_.backlog() == 0)) {
    wait();
    serve();
  }
  // If aqrun is gone, nothing that it started may stay.
  children_.leave_nothing(job());
  return asked_ != 0 ? 128 + asked_ : cleared_ ? 0 : 1;
}

Agent::Refusal Agent::start_all() {
  RankProgram program(setup_.program, setup_.environment, setup_.binding, setup_.ranks_of_processes());
  if (program.status() != 0) return {program.status(), program.why()};
  for (std::uint32_t place = 0; place < processes_.size(); ++place) {
    if (std::string why = start_one(place, program); !why.empty()) return {126, std::move(why)};
  }
  return {};
}

std::string Agent::start_one(std::uint32_t place, RankProgram& program) {
  Process& process = processes_[place];
  std::array<int, 2> bootstrap{-1, -1}, output{-1, -1}, errors{-1, -1}, input{-1, -1};
  const bool reads = place == 0 && setup_.reads_input;
  const bool opened = ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, bootstrap.data()) == 0 &&
                      ::pipe2(output.data(), O_CLOEXEC) == 0 && ::pipe2(errors.data(), O_CLOEXEC) == 0 &&
                      (!reads || ::pipe2(input.data(), O_CLOEXEC) == 0);
  if (!reads) input[0] = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int error = errno;
  process.bootstrap = Tube(bootstrap[0]);
  if (opened) process.bootstrap.tell_senders();
  process.streams = {Tube(output[0]), Tube(errors[0])};
  if (reads) {
    input_ = Tube(input[1]);
    input_told_ = false;
  }
  std::string why;
  if (!opened || input[0] < 0) {
    why =
        fmt::format("{} (each process needs six descriptors; is `ulimit -n` too low?)", std::strerror(error));
  } else {
    auto about = setup_.processes[place].about;
    about.descriptor = bootstrap[1];
    Start start;
    start.keep = bootstrap[1];
    start.input = input[0];
    start.output = output[1];
    start.errors = errors[1];
    process.pid = program.start(children_, place, start, aqueduct::bootstrap::format_description(about),
                                setup_.processes[place].endpoints);
    if (process.pid < 0) why = program.why_not_started();
  }
  for (const int theirs : {bootstrap[1], input[0], output[1], errors[1]}) {
    if (theirs >= 0) ::close(theirs);
  }
  if (why.empty()) channel_.send({Kind::started, number(place), static_cast<std::uint32_t>(process.pid), {}});
  return why;
}

void Agent::wait() const {
  std::vector<pollfd> events{{children_.descriptor(), POLLIN, 0}};
  channel_.wait_for(events);
  const bool room = channel_.backlog() < kMostBacklog;
  for (const Process& process : processes_) {
    process.bootstrap.wait_for(events, room);
    for (std::size_t k = 0; k < 2; ++k) process.streams[k].wait_for(events, allowed_[k] > 0);
  }
  input_.wait_for(events, false);
  ::poll(events.data(), events.size(), -1);
}

void Agent::serve() {
  channel_.serve([this](Frame& frame) { take(frame); });
  bool more = false;
  for (std::uint32_t place = 0; place < processes_.size(); ++place) {
    relay_bootstrap(place);
    more = relay_streams(place) || more;
  }
  drained_ = cleared_ && !more;  // no process is left that writes, so everything written has been read
  relay_input();
  children_.take_signals(
      /*first=*/0, [this](pid_t pid, int status) { ended(pid, status); },
      [this](int signal) { is_for_ranks(signal) ? pass_on(signal) : void(asked_ = signal); });
}

void Agent::pass_on(int signal) {
  for (const Process& process : processes_)
    children_.signal_rank(process.pid, process.bootstrap.sender(), signal);
}

void Agent::take_signal(std::uint32_t number) {
  if (number < 1 || number >= NSIG) return;
  const int signal = static_cast<int>(number);
  is_for_ranks(signal) ? pass_on(signal) : children_.signal_all(signal);
}

void Agent::take(Frame& frame) {
  switch (frame.kind) {
    case Kind::signal: return take_signal(frame.number);
    case Kind::clear: return clear();
    case Kind::took:
    case Kind::shut:
      for (std::size_t k = 0; k < 2; ++k) {
        if (frame.process != static_cast<std::uint32_t>(kStreams[k])) continue;
        if (frame.kind == Kind::took)
          allowed_[k] = std::min(kWindow, allowed_[k] + std::min(kWindow, frame.number));
        // The ranks get EPIPE, as programs do whose reader has gone.
        if (frame.kind == Kind::shut) {
          for (Process& process : processes_) process.streams[k].close();
        }
      }
      return;
    case Kind::input:
      input_.write(frame.bytes);
      input_taken_ += static_cast<std::uint32_t>(frame.bytes.size());
      return;
    case Kind::input_end: input_over_ = true; return;
    default: take_for_process(frame);
  }
}

void Agent::take_for_process(Frame& frame) {
  // A number below the first wraps around and is refused too.
  const std::uint32_t place = frame.process - number(0);
  if (place >= processes_.size()) return;
  Tube& tube = processes_[place].bootstrap;
  if (frame.kind == Kind::bootstrap) tube.write(frame.bytes);
  if (frame.kind == Kind::bootstrap_end) tube.close();
}

void Agent::relay_bootstrap(std::uint32_t place) {
  Tube& tube = processes_[place].bootstrap;
  tube.flush();
  std::string piece;
  while (tube.is_open() && channel_.backlog() < kMostBacklog) {
    const Tube::Got got = tube.read(piece, kPiece);
    if (got == Tube::Got::nothing) return;
    const Kind kind = got == Tube::Got::some ? Kind::bootstrap : Kind::bootstrap_end;
    channel_.send({kind, number(place), 0, piece});
  }
}

// Returns whether more may be readable than aqrun allows to be sent.
bool Agent::relay_streams(std::uint32_t place) {
  bool more = false;
  std::string piece;
  for (std::size_t k = 0; k < 2; ++k) {
    Tube& tube = processes_[place].streams[k];
    while (tube.is_open() && allowed_[k] > 0) {
      const Tube::Got got = tube.read(piece, std::min<std::size_t>(kPiece, allowed_[k]));
      if (got == Tube::Got::nothing) break;
      allowed_[k] -= static_cast<std::uint32_t>(piece.size());
      channel_.send({kStreams[k], number(place), 0, piece});
    }
    more = more || (tube.is_open() && allowed_[k] == 0);
  }
  return more;
}

void Agent::relay_input() {
  input_.flush();
  if (input_taken_ > 0 && input_.pending() == 0) {
    channel_.send({Kind::took, static_cast<std::uint32_t>(Kind::input), std::exchange(input_taken_, 0), {}});
  }
  if (input_over_ && input_.pending() == 0) input_.close();
  if (!input_.is_open() && !std::exchange(input_told_, true)) channel_.send({Kind::input_end, 0, 0, {}});
}

void Agent::ended(pid_t pid, int wait_status) {
  const auto found = std::find_if(processes_.begin(), processes_.end(),
                                  [pid](const Process& process) { return process.pid == pid; });
  if (found == processes_.end()) return;
  const auto place = static_cast<std::uint32_t>(found - processes_.begin());
  // The process's last messages must be sent before its end.
  while (found->bootstrap.is_open()) {
    std::string piece;
    const Tube::Got got = found->bootstrap.read(piece, kPiece);
    if (got != Tube::Got::some) break;
    channel_.send({Kind::bootstrap, number(place), 0, piece});
  }
  found->bootstrap.close();
  relay_streams(place);
  found->pid = -1;
  channel_.send({Kind::ended, number(place), static_cast<std::uint32_t>(wait_status), {}});
}

void Agent::clear() {
  if (std::exchange(cleared_, true)) return;
  children_.leave_nothing(job());
  for (Process& process : processes_) process.bootstrap.close();
  input_.close();
  input_told_ = true;
  channel_.send({Kind::cleared, 0, 0, {}});
}

int run_agent() {
  if (::isatty(STDIN_FILENO) != 0) {
    fmt::print(stderr, "aqrun: only another aqrun uses {}; see aqrun --help\n", kAgentOption);
    return kUsageStatus;
  }
  ::signal(SIGPIPE, SIG_IGN);
  ::unsetenv(
      "AQUEDUCT_ENDPOINTS");  // aqrun alone says how many ranks a process has, and not this host's start-up files
  Channel channel(STDIN_FILENO, STDOUT_FILENO);
  channel.send(hello_of_this_version());
  AgentSetup setup;
  std::vector<Frame> behind;
  if (!collect(channel, setup, behind)) {
    fmt::print(stderr,
               "the connection to the aqrun that started this agent has ended, or carries invalid frames\n");
    return 1;
  }
  std::string why = setup.problem;
  if (why.empty()) why = enter(setup.folder);
  if (!why.empty()) return refuse(channel, 1, why);
  Leader leader(shared_memory_folder(setup.environment));
  return Agent(channel, std::move(setup), leader).run(std::move(behind));
}

}  // namespace aqrun
