#include "bootstrap/client.hpp"

#include "bootstrap/description.hpp"
#include "bootstrap/stream.hpp"
#include "bootstrap/wire.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <limits>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace aqueduct::bootstrap {
namespace {

using Clock = StreamClock;

class Client final : public Bootstrap {
 public:
  Client(const Description& about, std::chrono::milliseconds timeout, Report report)
      : about_(about), timeout_(timeout), report_(std::move(report)), told_lost_(about.processes, false) {
    losses_.reserve(about.processes);  // so that a loss needs no memory
  }
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
      return fail(ErrorCode::too_large,
                  fmt::format("this process gives {} bytes to an exchange; the limit is {} bytes per process",
                              mine.size(), wire::kMostFrame / 2));
    }
    const auto deadline = Clock::now() + timeout_;
    if (failure_ == ErrorCode::ok)
      say(wire::encode(wire::Exchange{round_, {mine.begin(), mine.end()}}), deadline);
    while (failure_ == ErrorCode::ok && !result_) {
      if (wait_for(about_.descriptor, POLLIN, deadline)) {
        receive();
      } else {
        fail(ErrorCode::timed_out, waited_in_vain(about_.process, timeout_, others_of(about_.processes)));
      }
    }
    if (!result_) {
      if (closed_ && failure_ == ErrorCode::bootstrap_failed && report_) report_(kLauncherEnded);
      return failure_;
    }
    ++round_;
    return *std::exchange(result_, std::nullopt);
  }

  void poll_losses(const std::function<void(std::uint32_t)>& lost) noexcept override {
    std::size_t from = 0;
    std::size_t to = 0;
    {
      // A thread in an exchange also receives losses; the next call reports those.
      const std::unique_lock turn(receiving_, std::try_to_lock);
      if (!turn) return;
      if (!closed_) receive_now();
      to = losses_.size();
      from = std::exchange(told_, to);
    }
    for (; from < to; ++from) lost(losses_[from]);  // it never moves: see the constructor
  }

  void tell_cut_off() noexcept override try {
    say(wire::encode(wire::Lost{about_.process}), Clock::now() + timeout_);
  } catch (const std::bad_alloc&) {  // then nobody is told
  }
  void leave() noexcept override { say(wire::encode_leave(), Clock::now() + timeout_); }
  void abort(int exit_code, std::string_view why) noexcept override try {
    say(wire::encode(wire::Abort{exit_code, std::string(why)}), Clock::now() + timeout_);
  } catch (const std::bad_alloc&) {
    exit_from_signal(exit_code);  // it ends the job too, and does not say why
  }

  void exit(int code) noexcept override {
    exit_from_signal(code);  // if another thread is sending, it sends this frame too
    // The launcher confirms once it has told all others. They get a moment to notice: otherwise a conduit might report
    // this process as lost before they know why.
    const auto deadline = Clock::now() + kExitLimit;
    while (exit_asked_ == kNone && nap(deadline)) {
      const std::unique_lock turn(receiving_, std::try_to_lock);
      if (!turn) continue;  // another thread receives
      if (closed_) return;
      receive_now();
    }
    if (about_.processes > 1) ::poll(nullptr, 0, static_cast<int>(kOthersNotice.count()));
  }
  void exit_from_signal(int code) noexcept override {
    const int kept = errno;
    std::int64_t none = kNone;
    exit_to_send_.compare_exchange_strong(none, code);
    if (!sending_.test_and_set()) end_turn();
    errno = kept;
  }
  bool lives_after_exit() const noexcept override { return true; }
  std::optional<int> exit_asked() const noexcept override {
    const std::int64_t code = exit_asked_;
    return code == kNone ? std::nullopt : std::optional(static_cast<int>(code));
  }

  /// Sends a whole frame. A failure shows at the next receive.
  void say(std::span<const std::byte> frame, Clock::time_point deadline) noexcept {
    while (sending_.test_and_set()) {
      if (!nap(deadline)) return;
    }
    // If this fails, `receive` finds the socket closed, or a refusal that says why, and reports it.
    static_cast<void>(send_all(about_.descriptor, frame, deadline));
    end_turn();
  }

 private:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();  // no int
  // Chosen: a launcher that runs answers in milliseconds.
  static constexpr std::chrono::seconds kExitLimit{1};
  // Chosen: waits check for losses every 20 ms (core/wait.cpp).
  static constexpr std::chrono::milliseconds kOthersNotice{40};

  static bool nap(Clock::time_point deadline) noexcept {
    ::poll(nullptr, 0, 1);
    return Clock::now() < deadline;
  }

  /// Ends this thread's turn to send. The Exit of a signal handler that came in between goes first, so no handler
  /// waits for the thread that it has interrupted. Async-signal-safe.
  void end_turn() noexcept {
    for (;;) {
      if (const std::int64_t code = exit_to_send_.exchange(kNone); code != kNone) {
        const auto frame = wire::encode_exit({about_.process, static_cast<std::int32_t>(code)});
        static_cast<void>(send_all(about_.descriptor, frame, Clock::now() + kExitLimit));
      }
      sending_.clear();
      if (exit_to_send_ == kNone || sending_.test_and_set()) return;
    }
  }

  ErrorCode fail(ErrorCode code, std::string_view why) {
    // too_large fails this call only: nothing was sent, so later exchanges may succeed.
    if (code != ErrorCode::too_large) failure_ = code;
    if (report_) report_(why);
    return code;
  }

  /// As `receive`. Without memory it leaves the rest to a later call.
  void receive_now() noexcept try { receive(); } catch (const std::bad_alloc&) {
  }

  /// Receives everything that has arrived. If it throws std::bad_alloc, nothing is lost.
  void receive() {
    while (take_whole()) {
      std::array<std::byte, 16384> piece;
      frames_.make_room(piece.size());
      const auto got = ::recv(about_.descriptor, piece.data(), piece.size(), MSG_DONTWAIT);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0) {
        closed_ = true;
        if (failure_ == ErrorCode::ok) failure_ = ErrorCode::bootstrap_failed;
        return;
      }
      frames_.append(std::span(piece).first(static_cast<std::size_t>(got)));
    }
  }

  /// Takes the messages that have arrived whole. Returns whether more may come.
  bool take_whole() {
    for (;;) {
      auto message = frames_.next();
      if (!message) {
        closed_ = true;
        fail(ErrorCode::bootstrap_failed,
             "the launcher sent an invalid message; do it and this program use the same version of "
             "Aqueduct?");
        return false;
      }
      if (!*message) return true;
      std::visit([this](auto& m) { take(m); }, **message);
    }
  }

  void take(wire::ExchangeResult& m) {
    if (m.round == round_ && m.blobs.size() == about_.processes) {
      result_ = std::move(m.blobs);
    } else {
      fail(ErrorCode::bootstrap_failed,
           "the launcher answered a different exchange than the one that this process is in");
    }
  }
  void take(wire::Lost& m) {
    if (m.process >= told_lost_.size() || told_lost_[m.process]) return;
    told_lost_[m.process] = true;
    losses_.push_back(m.process);
  }
  void take(wire::Exit& m) {
    std::int64_t none = kNone;
    exit_asked_.compare_exchange_strong(none, m.code);
    if (failure_ == ErrorCode::ok) failure_ = ErrorCode::peer_lost;
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
  // A flag and no mutex, because signal handlers try it.
  std::atomic_flag sending_;
  std::atomic<std::int64_t> exit_to_send_{kNone};
  std::atomic<std::int64_t> exit_asked_{kNone};

  std::mutex receiving_;  // guards everything below
  wire::Frames frames_;
  std::uint32_t round_ = 0;
  std::optional<std::vector<wire::Blob>> result_;
  ErrorCode failure_ = ErrorCode::ok;  // once set, no later exchange can succeed
  bool closed_ = false;
  std::vector<bool> told_lost_;
  std::vector<std::uint32_t> losses_;  ///< in the order in which they came; each process once
  std::size_t told_ = 0;               ///< of these, to the caller of `poll_losses`
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
  if (!is_stream_socket(about->descriptor)) {
    if (report) {
      report(no_socket(about->descriptor, kVariable, "Unset it for programs that aqrun does not start"));
    }
    return ErrorCode::bootstrap_failed;
  }
  ::fcntl(about->descriptor, F_SETFD, FD_CLOEXEC);
  auto client = std::make_unique<Client>(*about, timeout, std::move(report));
  client->say(wire::encode(wire::Hello{wire::kProtocol, library, about->process}), Clock::now() + timeout);
  return std::unique_ptr<Bootstrap>(std::move(client));
}

}  // namespace aqueduct::bootstrap
