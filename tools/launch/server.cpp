#include "tools/launch/server.hpp"

#include "bootstrap/description.hpp"
#include "bootstrap/job_number.hpp"
#include "tools/launch/sender.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <utility>

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace aqueduct::launch {
namespace {

std::string version_text(std::uint32_t library, std::uint32_t protocol) {
  return fmt::format("{}.{}.{} (protocol {})", library / 10000, library / 100 % 100, library % 100, protocol);
}

/// Chosen: the first ones tell enough.
constexpr std::size_t kMostNamed = 8;

void close_and_forget(int& descriptor) noexcept {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

}  // namespace

struct Server::Peer {
  int ours = -1;
  int theirs = -1;  // until `started`
  bool asked = false, joined = false, left = false, gone = false, cut_off = false;
  bool watches_output = false;
  pid_t sender = 0;     // of the latest bytes
  pid_t joined_by = 0;  // while it is connected
  wire::Frames frames;
  std::optional<wire::Blob> given;  // to the current round
  std::deque<Frame> output;
  std::size_t output_sent = 0;  // of the first frame
};

Server::Server(std::uint32_t processes, Report report, std::uint32_t library)
    : report_(std::move(report)),
      library_(library),
      job_(bootstrap::new_job_number()),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      peers_(processes) {}

Server::~Server() {
  for (Peer& peer : peers_) {
    close_and_forget(peer.ours);
    close_and_forget(peer.theirs);
  }
  if (epoll_ >= 0) ::close(epoll_);
}

Result<Server::Child> Server::child_environment(std::uint32_t i) {
  if (i >= peers_.size()) return ErrorCode::out_of_range;
  Peer& peer = peers_[i];
  if (std::exchange(peer.asked, true)) return ErrorCode::invalid_argument;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return ErrorCode::bootstrap_failed;
  peer.ours = ends[0];
  peer.theirs = ends[1];
  tell_senders(peer.ours);
  epoll_event interest{};
  interest.events = EPOLLIN;
  interest.data.u32 = i;
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, peer.ours, &interest) != 0) return ErrorCode::bootstrap_failed;
  // A process that joins late must hear of earlier losses too.
  for (std::uint32_t k = 0; k < peers_.size(); ++k) {
    if (peers_[k].gone && !peers_[k].left)
      send(i, std::make_shared<const wire::Blob>(wire::encode(wire::Lost{k})));
  }
  if (refusal_) send(i, refusal_);
  if (exit_) send(i, std::make_shared<const wire::Blob>(wire::encode(*exit_)));
  const auto processes = static_cast<std::uint32_t>(peers_.size());
  return Child{bootstrap::format_description({peer.theirs, i, processes, job_}), peer.theirs};
}

void Server::started(std::uint32_t i) noexcept { close_and_forget(peers_[i].theirs); }

void Server::handed_over(std::uint32_t i) noexcept { peers_[i].theirs = -1; }

void Server::become_child(std::uint32_t i) noexcept {
  for (Peer& peer : peers_) {
    close_and_forget(peer.ours);
    if (&peer != &peers_[i]) close_and_forget(peer.theirs);
  }
  peers_[i].theirs = -1;  // owned by the client now
}

bool Server::joined(std::uint32_t i) const noexcept { return peers_[i].joined; }
bool Server::left(std::uint32_t i) const noexcept { return peers_[i].left; }
pid_t Server::joined_by(std::uint32_t i) const noexcept { return peers_[i].joined_by; }

int Server::serve(std::chrono::milliseconds timeout) {
  std::array<epoll_event, 64> ready;
  const int count = ::epoll_wait(epoll_, ready.data(), static_cast<int>(ready.size()),
                                 static_cast<int>(std::clamp<std::int64_t>(timeout.count(), 0, 1 << 30)));
  for (int k = 0; k < count; ++k) {
    const std::uint32_t i = ready[static_cast<std::size_t>(k)].data.u32;
    const auto events = ready[static_cast<std::size_t>(k)].events;
    if ((events & EPOLLOUT) != 0) flush(i);
    if ((events & ~std::uint32_t{EPOLLOUT}) != 0) receive(i);
  }
  return std::max(count, 0);
}

void Server::process_ended(std::uint32_t i) {
  // While our copy of the child's end is open, the socket does not report that the child has closed its own.
  started(i);
  receive(i);
  gone(i);
}

void Server::receive(std::uint32_t i) {
  Peer& peer = peers_[i];
  while (peer.ours >= 0) {
    std::array<std::byte, 16384> piece;  // on the stack, which may be small (ulimit -s)
    const auto got = launch::receive(peer.ours, piece, peer.sender);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return gone(i);
    peer.frames.append(std::span(piece).first(static_cast<std::size_t>(got)));
    for (;;) {
      auto message = peer.frames.next();
      if (!message) {
        refuse_all(
            ErrorCode::bootstrap_failed,
            fmt::format("process {} sent an invalid message; does it use protocol {}?", i, wire::kProtocol));
        return gone(i);
      }
      if (!*message) break;
      take(i, **message);
    }
  }
}

void Server::take(std::uint32_t i, wire::Message& message) {
  Peer& peer = peers_[i];
  if (const auto* hello = std::get_if<wire::Hello>(&message)) {
    take_hello(i, *hello);
  } else if (auto* exchange = std::get_if<wire::Exchange>(&message); exchange && peer.joined) {
    take_exchange(i, std::move(*exchange));
  } else if (const auto* lost = std::get_if<wire::Lost>(&message); lost && lost->process == i) {
    if (!std::exchange(peer.cut_off, true)) tell_lost(i);
  } else if (std::holds_alternative<wire::Leave>(message)) {
    peer.left = true;
  } else if (const auto* exit = std::get_if<wire::Exit>(&message)) {
    take_exit(i, exit->code);
  } else if (const auto* abort = std::get_if<wire::Abort>(&message)) {
    if (!abort_) abort_ = AbortAsked{i, abort->code, abort->why};
  } else {
    refuse_all(
        ErrorCode::bootstrap_failed,
        fmt::format(
            "process {} sent an unexpected message; do all processes use the same version of Aqueduct?", i));
  }
}

void Server::take_hello(std::uint32_t i, const wire::Hello& hello) {
  const bool again = std::exchange(peers_[i].joined, true);
  if (!again) peers_[i].joined_by = peers_[i].sender;
  if (hello.protocol != wire::kProtocol || hello.library != library_) {
    refuse_all(
        ErrorCode::version_mismatch,
        fmt::format(
            "process {} uses Aqueduct {}, its launcher {}; build and install both from the same version", i,
            version_text(hello.library, hello.protocol), version_text(library_, wire::kProtocol)));
  } else if (hello.process != i) {
    refuse_all(ErrorCode::bootstrap_failed,
               fmt::format("process {} says that it is process {}; was {} copied by hand?", i, hello.process,
                           Child::name));
  } else if (again) {
    refuse_all(
        ErrorCode::bootstrap_failed,
        fmt::format("process {} joins the job a second time; has it forked, and do both processes start the "
                    "job, or does it run a second program? Only one of them may start the job",
                    i));
  }
}

void Server::take_exchange(std::uint32_t i, wire::Exchange exchange) {
  Peer& peer = peers_[i];
  if (refusal_) return send(i, refusal_);
  if (exchange.round != round_ || peer.given) {
    return refuse_all(ErrorCode::bootstrap_failed,
                      fmt::format("process {} is in exchange {} while the job is in exchange {}", i,
                                  exchange.round, round_));
  }
  peer.given = std::move(exchange.blob);
  ++given_;
  finish_round();
}

void Server::take_exit(std::uint32_t i, int code) {
  peers_[i].left = true;
  if (exit_) return;  // the first code counts
  exit_ = wire::Exit{i, code};
  const auto frame = std::make_shared<const wire::Blob>(wire::encode(*exit_));
  for (std::uint32_t k = 0; k < peers_.size(); ++k) {
    if (k != i) send(k, frame);
  }
  send(i, frame);  // last, because the process may end when it gets this
}

void Server::finish_round() {
  if (refusal_ || given_ == 0) return;
  if (given_ < peers_.size()) {
    const auto missing =
        std::find_if(peers_.begin(), peers_.end(), [](const Peer& p) { return p.gone && !p.given; });
    if (missing == peers_.end() || exit_) return;  // after an Exit, nobody waits for exchanges any more
    return refuse_all(ErrorCode::peer_lost,
                      fmt::format("process {} {} before it took part in exchange {}",
                                  missing - peers_.begin(), missing->left ? "left" : "died", round_));
  }
  wire::ExchangeResult result{round_, {}};
  for (Peer& peer : peers_) result.blobs.push_back(std::move(*std::exchange(peer.given, std::nullopt)));
  given_ = 0;
  if (wire::frame_bytes(result.blobs) > wire::kMostFrame) {
    return refuse_all(ErrorCode::too_large,
                      fmt::format("exchange {} has {} bytes in all; the limit is {}: give less per process",
                                  round_, wire::frame_bytes(result.blobs), wire::kMostFrame));
  }
  ++round_;
  send_all(std::make_shared<const wire::Blob>(wire::encode(result)));
}

void Server::gone(std::uint32_t i) {
  Peer& peer = peers_[i];
  close(i);
  if (std::exchange(peer.gone, true)) return;
  if (!peer.left && !exit_) {
    if (!first_lost_) first_lost_ = i;
    if (!peer.cut_off) tell_lost(i);
  }
  if (peer.given && !refusal_ && !exit_ && !abort_) report_missing(i);
  finish_round();
}

// A process that gives up only knows that others are missing.
void Server::report_missing(std::uint32_t i) {
  if (!report_ || std::exchange(missing_reported_, true)) return;
  std::string who;
  std::size_t count = 0;
  bool all_joined = true;
  for (std::uint32_t k = 0; k < peers_.size(); ++k) {
    if (peers_[k].given) continue;
    all_joined = all_joined && peers_[k].joined;
    if (++count > kMostNamed) continue;
    who +=
        fmt::format("{}{}{}", count > 1 ? ", " : "", k, peers_[k].joined ? "" : " (has not joined the job)");
  }
  report_(fmt::format(
      "process {} has given up or ended while it waited for {} of {} processes in exchange {}: {}{}. Is one "
      "stopped{}?",
      i, count, peers_.size(), round_, who, count > kMostNamed ? ", …" : "",
      all_joined ? "" : ", does it compute before Job::start, or is it a program that never calls it"));
}

void Server::tell_lost(std::uint32_t i) {
  const auto frame = std::make_shared<const wire::Blob>(wire::encode(wire::Lost{i}));
  for (std::uint32_t k = 0; k < peers_.size(); ++k) {
    if (k != i) send(k, frame);
  }
}

void Server::refuse_all(ErrorCode code, const std::string& why) {
  if (refusal_) return;  // only the first reason is reported: the others may follow from it
  if (report_) report_(why);
  refusal_ = std::make_shared<const wire::Blob>(wire::encode(wire::Refused{code, why}));
  send_all(refusal_);
}

void Server::send_all(const Frame& frame) {
  for (std::uint32_t i = 0; i < peers_.size(); ++i) send(i, frame);
}

void Server::send(std::uint32_t i, const Frame& frame) {
  if (peers_[i].ours < 0) return;
  peers_[i].output.push_back(frame);
  flush(i);
}

void Server::flush(std::uint32_t i) {
  Peer& peer = peers_[i];
  while (peer.ours >= 0 && !peer.output.empty()) {
    const auto rest = std::span(*peer.output.front()).subspan(peer.output_sent);
    const auto sent = ::send(peer.ours, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN) {  // the process has gone; the next read reports it
      peer.output.clear();
      peer.output_sent = 0;
      return;
    }
    if (sent < 0) break;
    peer.output_sent += static_cast<std::size_t>(sent);
    if (peer.output_sent < peer.output.front()->size()) continue;
    peer.output.pop_front();
    peer.output_sent = 0;
  }
  const bool watch = !peer.output.empty();
  if (peer.ours < 0 || watch == peer.watches_output) return;
  peer.watches_output = watch;
  epoll_event interest{};
  interest.events = watch ? EPOLLIN | EPOLLOUT : EPOLLIN;
  interest.data.u32 = i;
  ::epoll_ctl(epoll_, EPOLL_CTL_MOD, peer.ours, &interest);
}

void Server::close(std::uint32_t i) noexcept {
  // A forked child may have a copy of the descriptor. epoll would then still watch it after it is closed, so it is
  // removed explicitly.
  if (peers_[i].ours >= 0) ::epoll_ctl(epoll_, EPOLL_CTL_DEL, peers_[i].ours, nullptr);
  close_and_forget(peers_[i].ours);
  peers_[i].joined_by = 0;
  peers_[i].output.clear();
}

}  // namespace aqueduct::launch
