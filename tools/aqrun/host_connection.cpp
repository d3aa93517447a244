#include "tools/aqrun/host_connection.hpp"

#include "core/settings.hpp"
#include "tools/aqrun/agent_setup.hpp"
#include "tools/aqrun/environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace aqrun {
namespace {

using namespace std::chrono_literals;

constexpr std::array<Kind, 2> kForwarded{Kind::output, Kind::errors};
/// Empty if it cannot be told.
std::string this_folder() {
  std::array<char, PATH_MAX> path{};
  return ::getcwd(path.data(), path.size()) != nullptr ? path.data() : "";
}

/// What a shell has printed in front of the hello, if that has arrived.
std::string_view before_hello(std::string_view arrived) {
  constexpr std::size_t kHead = 13;  // of a frame
  const auto magic = arrived.find(kAgentMagic);
  return arrived.substr(0, magic != std::string_view::npos && magic > kHead ? magic - kHead : magic);
}

constexpr auto kFromEndToKill = 2s;  // chosen: how long a command may outlive its stream

}  // namespace

HostConnection::HostConnection(RemoteJob& job, const Share& share)
    : job_(job), share_(share), processes_(share.processes) {
  for (std::uint32_t i = 0; i < share.processes; ++i) {
    const std::string label = label_of_process(job.options, share.first + i);
    processes_[i].streams = {job.output.add_remote(label), job.errors.add_remote(label)};
  }
}

std::string HostConnection::start(Children& children, const std::vector<std::string>& command) {
  const Found program = find_program(command.front());
  if (program.status != 0) return fmt::format("host {}: {}", share_.host, program.why);
  program_ = command.front();
  folder_ = this_folder();
  if (folder_.empty()) {
    return fmt::format(
        "host {}: the folder in which aqrun was started cannot be told ({}), so the ranks there cannot enter "
        "it; "
        "start aqrun in a folder that exists",
        share_.host, std::strerror(errno));
  }
  std::array<int, 2> in{-1, -1}, out{-1, -1};
  const bool opened = ::pipe2(in.data(), O_CLOEXEC) == 0 && ::pipe2(out.data(), O_CLOEXEC) == 0;
  channel_ = Channel(out[0], in[1]);
  Environment environment(environ);
  environment.unset(aqueduct::launch::Server::Child::name);
  const std::vector<char*> variables = environment.pointers();
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  Start start;
  start.file = program.file.c_str();
  start.arguments = arguments.data();
  start.environment = variables.data();
  start.input = in[0];
  start.output = out[1];
  start.errors = job_.errors.add(fmt::format("aqrun: host {}: ", share_.host));
  if (opened && start.errors >= 0) pid_ = children.start(start);
  const std::string why = std::strerror(errno);
  for (const int theirs : {in[0], out[1], start.errors}) {
    if (theirs >= 0) ::close(theirs);
  }
  if (pid_ < 0) return fmt::format("host {}: {} cannot be started: {}", share_.host, program.file, why);
  deadline_ = Clock::now() + job_.options.connect;
  channel_.send(hello_of_this_version());
  return {};
}

void HostConnection::wait_for(std::vector<pollfd>& events) const {
  if (gone_) return;
  channel_.wait_for(events);
  const bool room = channel_.backlog() < kMostBacklog;
  for (const Process& process : processes_) process.bootstrap.wait_for(events, room);
  input_.wait_for(events, answered_ && input_allowed_ > 0);
}

void HostConnection::serve() {
  if (gone_) return;
  channel_.serve([this](Frame& frame) { take(frame); });
  check_channel();
  if (!answered_) return;
  relay_bootstrap();
  relay_input();
  grant();
}

void HostConnection::take(Frame& frame) {
  ++heard_;
  if (!why_.empty()) return;
  if (!answered_) return take_hello(frame);
  if (frame.kind == Kind::refused) return fail(frame.bytes, static_cast<int>(frame.number & 0xff));
  if (frame.kind == Kind::cleared) {
    cleared_ = true;
  } else if (frame.kind == Kind::input_end) {
    input_.close();
  } else if (frame.kind == Kind::took) {
    input_allowed_ = std::min(kWindow, input_allowed_ + std::min(kWindow, frame.number));
  } else if (const std::uint32_t place = frame.process - share_.first; place < processes_.size()) {
    take_for_process(frame, processes_[place]);
  } else {
    fail(fmt::format("its agent sent a frame for process {}, which does not run there", frame.process));
  }
}

void HostConnection::take_hello(const Frame& frame) {
  if (std::string why = complaint_about_hello(frame); !why.empty()) return fail(std::move(why));
  answered_ = true;
  deadline_.reset();
  send_setup();
}

void HostConnection::take_for_process(Frame& frame, Process& process) {
  switch (frame.kind) {
    case Kind::started:
      ++started_;
      return job_.owner.rank_started(frame.process, static_cast<pid_t>(frame.number));
    case Kind::bootstrap: return process.bootstrap.write(frame.bytes);
    case Kind::bootstrap_end:
    case Kind::ended:
      // Lets the server read all that the rank has sent before the server learns of the rank's end.
      do {
        process.bootstrap.flush();
      } while (process.bootstrap.pending() > 0 && job_.server.serve(0ms) > 0);
      process.bootstrap.close();
      if (frame.kind == Kind::bootstrap_end || std::exchange(process.over, true)) return;
      return job_.owner.rank_ended(frame.process, static_cast<int>(frame.number));
    case Kind::output: return take_from_process(frame, 0, process);
    case Kind::errors: return take_from_process(frame, 1, process);
    default: fail("its agent sent a frame that only aqrun sends");
  }
}

void HostConnection::take_from_process(Frame& frame, std::size_t stream, Process& process) {
  (stream == 0 ? job_.output : job_.errors).put(process.streams[stream], frame.bytes);
  process.at_end[stream] = process.at_end[stream] || frame.bytes.empty();
  owed_[stream] += static_cast<std::uint32_t>(frame.bytes.size());
  if (owed_[stream] > kWindow) fail("its agent sent more output than aqrun has allowed");
}

void HostConnection::relay_bootstrap() {
  std::string piece;
  for (std::uint32_t i = 0; i < processes_.size(); ++i) {
    Tube& tube = processes_[i].bootstrap;
    tube.flush();
    while (tube.is_open() && channel_.backlog() < kMostBacklog) {
      const Tube::Got got = tube.read(piece, kPiece);
      if (got == Tube::Got::nothing) break;
      const Kind kind = got == Tube::Got::some ? Kind::bootstrap : Kind::bootstrap_end;
      channel_.send({kind, share_.first + i, 0, piece});
    }
  }
}

void HostConnection::relay_input() {
  std::string piece;
  while (input_.is_open() && input_allowed_ > 0) {
    const Tube::Got got = input_.read(piece, std::min<std::size_t>(kPiece, input_allowed_));
    if (got == Tube::Got::nothing) return;
    input_allowed_ -= static_cast<std::uint32_t>(piece.size());
    channel_.send({got == Tube::Got::some ? Kind::input : Kind::input_end, share_.first, 0, piece});
  }
}

void HostConnection::grant() {
  for (std::size_t k = 0; k < 2; ++k) {
    const Output& output = k == 0 ? job_.output : job_.errors;
    const auto kind = static_cast<std::uint32_t>(kForwarded[k]);
    if (output.is_broken() && !std::exchange(shut_[k], true)) channel_.send({Kind::shut, kind, 0, {}});
    if (owed_[k] > 0 && output.has_room()) channel_.send({Kind::took, kind, std::exchange(owed_[k], 0u), {}});
  }
}

void HostConnection::check_channel() {
  if (channel_.state() == Channel::State::open || !why_.empty()) return;
  if (channel_.state() == Channel::State::broken) {
    const std::string_view printed = before_hello(channel_.unread());
    const bool is_blank = printed.find_first_not_of("\r\n") == std::string_view::npos;
    fail(
        fmt::format("the answer does not come from an agent of aqrun, but {}; does the shell there print "
                    "this for every command?",
                    is_blank ? "begins with an empty line"
                             : fmt::format("says \"{}\"", aqueduct::core::quoted(printed))));
  } else if (!std::exchange(end_seen_, true)) {
    deadline_ = Clock::now() + kFromEndToKill;
  }
}

void HostConnection::check_deadline() {
  if (gone_ || !deadline_ || Clock::now() < *deadline_) return;
  deadline_.reset();
  if (channel_.state() == Channel::State::open) {
    const double limit = std::chrono::duration<double>(job_.options.connect).count();
    fail(fmt::format("no answer within {} s (--connect-timeout)", limit));
  }
  kill();
}

// The failure is reported when the command has ended, because nothing can follow then.
void HostConnection::fail(std::string why, int status) {
  if (!why_.empty()) return;
  why_ = why.empty() ? "its agent failed" : std::move(why);
  status_ = status == 0 ? 1 : status;
  kill();
}

void HostConnection::reaped(int wait_status) {
  pid_ = -1;  // another process may get this number from here on
  while (channel_.serve([this](Frame& frame) { take(frame); })) grant();
  check_channel();
  gone_ = true;
  channel_.close();
  input_.close();
  for (Process& process : processes_) process.bootstrap.close();
  tell_end(wait_status);
}

void HostConnection::tell_end(int wait_status) {
  const bool by_signal = WIFSIGNALED(wait_status);
  const int code = by_signal ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
  const std::string how = by_signal ? fmt::format("was killed by signal {} ({})", code, ::strsignal(code))
                                    : fmt::format("ended with status {}", code);
  std::string why = fmt::format("{} {}", program_, how);
  const auto is_over = [](const Process& process) { return process.over; };
  if (cleared_ || std::all_of(processes_.begin(), processes_.end(), is_over)) {
    // The job needs this host no more.
    if (has_all_output() || (cleared_ && wait_status == 0)) return;
    return job_.owner.output_lost(share_, why_.empty() ? why : why_);
  }
  const bool early = started_ == 0;
  if (!why_.empty()) return job_.owner.host_failed(share_, why_, status_, early);
  if (early) why += " before any rank was started there";
  job_.owner.host_failed(share_, why, by_signal ? 128 + code : std::max(code, 1), early);
}

bool HostConnection::has_all_output() const noexcept {
  const std::array<bool, 2> unread{job_.output.is_broken(), job_.errors.is_broken()};
  return std::all_of(processes_.begin(), processes_.end(), [&](const Process& process) {
    return (process.at_end[0] || unread[0]) && (process.at_end[1] || unread[1]);
  });
}

void HostConnection::signal(int number) {
  if (gone_) return;
  if (!answered_) return kill();
  channel_.send({Kind::signal, 0, static_cast<std::uint32_t>(number), {}});
}

void HostConnection::clear() {
  if (gone_) return;
  if (!answered_) return kill();
  channel_.send({Kind::clear, 0, 0, {}});
}

void HostConnection::kill() noexcept {
  if (!gone_ && pid_ > 0) ::kill(pid_, SIGKILL);
}

}  // namespace aqrun
