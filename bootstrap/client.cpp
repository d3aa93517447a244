#include "bootstrap/client.hpp"

#include "bootstrap/description.hpp"
#include "bootstrap/wire.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace aqueduct::bootstrap {
namespace {

using Clock = std::chrono::steady_clock;

class Client final : public Bootstrap {
 public:
  Client(const Description& about, std::chrono::milliseconds timeout, Report report)
      : about_(about), timeout_(timeout), report_(std::move(report)), told_lost_(about.processes, false) {}
  ~Client() override { ::close(about_.descriptor); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  std::string_view launcher() const noexcept override { return "aqrun"; }
  std::uint32_t process() const noexcept override { return about_.process; }
  std::uint32_t processes() const noexcept override { return about_.processes; }
  std::uint64_t job() const noexcept override { return about_.job; }

  Result<std::vector<std::vector<std::byte>>> exchange(std::span<const std::byte> mine) override {
    const std::lock_guard turn(receiving_);
    if (mine.size() > wire::kMostFrame / 2) {
      return fail(ErrorCode::too_large, fmt::format("an exchange of {} bytes: a process may give {} at most",
                                                    mine.size(), wire::kMostFrame / 2));
    }
    const auto deadline = Clock::now() + timeout_;
    if (failure_ == ErrorCode::ok) say(wire::Exchange{round_, {mine.begin(), mine.end()}}, deadline);
    while (failure_ == ErrorCode::ok && !result_) {
      if (wait_for(POLLIN, deadline)) {
        receive();
      } else {
        fail(ErrorCode::timed_out,
             fmt::format("process {} waited {} ms for the other {} of the job to start; set "
                         "AQUEDUCT_BOOTSTRAP_TIMEOUT higher if they need longer",
                         about_.process, timeout_.count(), about_.processes - 1));
      }
    }
    if (!result_) {
      if (closed_ && failure_ == ErrorCode::bootstrap_failed && report_)
        report_("the launcher of this job has ended");
      return failure_;
    }
    ++round_;
    return *std::exchange(result_, std::nullopt);
  }

  void poll_losses(const std::function<void(std::uint32_t)>& lost) noexcept override {
    std::vector<std::uint32_t> news;
    {
      // Whoever is in an exchange receives anyway, and what is found then is told at the next call.
      const std::unique_lock turn(receiving_, std::try_to_lock);
      if (!turn) return;
      if (!closed_) receive();
      news.swap(losses_);
    }
    for (const std::uint32_t process : news) lost(process);
  }

  void leave() noexcept override { say(wire::Leave{}, Clock::now() + timeout_); }
  void abort(int exit_code, std::string_view why) noexcept override {
    say(wire::Abort{exit_code, std::string(why)}, Clock::now() + timeout_);
  }

  /// Sends a whole frame, or notes why not.
  void say(const wire::Message& message, Clock::time_point deadline) noexcept {
    const wire::Blob frame = wire::encode(message);
    const std::lock_guard turn(sending_);
    std::span<const std::byte> rest(frame);
    while (!rest.empty()) {
      // Never as a signal: a launcher that is gone is news, not the end of this program.
      const auto sent = ::send(about_.descriptor, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent >= 0) {
        rest = rest.subspan(static_cast<std::size_t>(sent));
      } else if (errno == EAGAIN) {
        if (!wait_for(POLLOUT, deadline)) return;
      } else if (errno != EINTR) {
        return;  // the receiving side finds the socket closed, or the reason why, and says so
      }
    }
  }

 private:
  ErrorCode fail(ErrorCode code, std::string_view why) {
    if (report_) report_(why);
    // Too large concerns this call only; the others do not go away again.
    if (code != ErrorCode::too_large) failure_ = code;
    return code;
  }

  bool wait_for(short event, Clock::time_point deadline) const noexcept {
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
      pollfd socket{about_.descriptor, event, 0};
      const int limit = static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
      const int ready = ::poll(&socket, 1, limit);
      if (ready > 0) return true;
      if (ready == 0 && left <= limit) return false;
      if (ready < 0 && errno != EINTR) return false;
    }
  }

  /// Takes in all that has arrived.
  void receive() {
    for (;;) {
      std::array<std::byte, 16384> piece;
      const auto got = ::recv(about_.descriptor, piece.data(), piece.size(), MSG_DONTWAIT);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0) {
        closed_ = true;
        if (failure_ == ErrorCode::ok) failure_ = ErrorCode::bootstrap_failed;
        return;
      }
      frames_.append(std::span(piece).first(static_cast<std::size_t>(got)));
      for (;;) {
        auto message = frames_.next();
        if (!message) {
          closed_ = true;
          fail(ErrorCode::bootstrap_failed, "the launcher sent what is no message of its protocol");
          return;
        }
        if (!*message) break;
        std::visit([this](auto& m) { take(m); }, **message);
      }
    }
  }

  void take(wire::ExchangeResult& m) {
    if (m.round == round_ && m.blobs.size() == about_.processes) {
      result_ = std::move(m.blobs);
    } else {
      fail(ErrorCode::bootstrap_failed,
           "the launcher answered another exchange than the one that was asked for");
    }
  }
  void take(wire::Lost& m) {
    if (m.process >= told_lost_.size() || told_lost_[m.process]) return;
    told_lost_[m.process] = true;
    losses_.push_back(m.process);
  }
  void take(wire::Refused& m) {
    if (failure_ == ErrorCode::ok) fail(m.code, m.why);
  }
  template <class T>
  void take(T&) {
    fail(ErrorCode::bootstrap_failed, "the launcher sent a message that only processes send");
  }

  const Description about_;
  const std::chrono::milliseconds timeout_;
  const Report report_;
  std::mutex sending_;

  std::mutex receiving_;  // guards all below
  wire::Frames frames_;
  std::uint32_t round_ = 0;
  std::optional<std::vector<wire::Blob>> result_;
  ErrorCode failure_ = ErrorCode::ok;  // once set, no later exchange can succeed
  bool closed_ = false;
  std::vector<bool> told_lost_;
  std::vector<std::uint32_t> losses_;
};

}  // namespace

Result<std::unique_ptr<Bootstrap>> from_launcher(std::string_view description,
                                                 std::chrono::milliseconds timeout, Report report,
                                                 std::uint32_t library) {
  const auto about = parse_description(description);
  if (!about) {
    if (report) {
      report(fmt::format(
          "{}=\"{}\" is not of the form fd:5,process:2,processes:8,job:123; it is set by aqrun and "
          "not meant to be set by hand: unset it, or start the program with aqrun",
          kVariable, description));
    }
    return ErrorCode::bad_setting;
  }
  int type = 0;
  socklen_t length = sizeof type;
  if (::getsockopt(about->descriptor, SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_STREAM) {
    if (report) {
      report(fmt::format(
          "descriptor {} of {} is no socket of a launcher ({}); was the variable kept for a program "
          "that aqrun did not start? Unset it for such programs",
          about->descriptor, kVariable, std::strerror(errno)));
    }
    return ErrorCode::bootstrap_failed;
  }
  ::fcntl(about->descriptor, F_SETFD, FD_CLOEXEC);
  auto client = std::make_unique<Client>(*about, timeout, std::move(report));
  client->say(wire::Hello{wire::kProtocol, library, about->process}, Clock::now() + timeout);
  return std::unique_ptr<Bootstrap>(std::move(client));
}

}  // namespace aqueduct::bootstrap
