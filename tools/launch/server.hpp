#pragma once

#include <aqueduct/version.hpp>

#include "bootstrap/wire.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace aqueduct::launch {

namespace wire = bootstrap::wire;

/// The launcher's side of a job: one socket per process, no threads; the owner's loop calls `serve`.
///
/// With forks, as aqrun and the test harnesses use it:
///
///     Server server(ranks);
///     for (i …) {
///       auto child = server.child_environment(i);
///       if (fork() == 0) { server.become_child(i); …from_launcher(child->value, …)… }
///       server.started(i);
///     }
///     while (…) { server.serve(10ms); if (waitpid(…) found i) server.process_ended(i); }
///
/// With threads instead of forks, call `handed_over(i)` instead of `started(i)`; the client closes the descriptor.
/// A client that ends without `leave` counts as a process that has died.
class Server {
 public:
  struct Child {
    std::string value;    ///< of the environment variable `name`
    int descriptor = -1;  ///< the descriptor in `value`; closed on exec: pass it on with dup2 or fcntl
    static constexpr const char* name = "AQUEDUCT_BOOTSTRAP";
  };
  struct AbortAsked {
    std::uint32_t process = 0;
    int code = 0;
    std::string why;
  };
  using Report = std::function<void(std::string_view why)>;

  /// `report` receives, as readable text, why exchanges are refused. `library`: the version that all must have.
  explicit Server(std::uint32_t processes, Report report = {}, std::uint32_t library = library_version());
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint64_t job() const noexcept { return job_; }

  /// What process `i` needs to find this server. To be called once per process.
  /// Errors: out_of_range, invalid_argument (asked twice), bootstrap_failed (no descriptors: `ulimit -n`).
  Result<Child> child_environment(std::uint32_t i);
  /// The child has its descriptor: closes this process's copy.
  void started(std::uint32_t i) noexcept;
  /// A thread of this process owns the descriptor from here on.
  void handed_over(std::uint32_t i) noexcept;
  /// In a forked child: closes all descriptors of the server but that of
  /// child `i`. Only destroy the server afterwards.
  void become_child(std::uint32_t i) noexcept;

  /// Becomes readable when `serve` has something to do, for owners that wait for other descriptors too.
  int descriptor() const noexcept { return epoll_; }
  /// Waits up to `timeout` for an event and handles all that are ready. Returns how many it handled.
  int serve(std::chrono::milliseconds timeout);

  /// The process has ended (or was never started). Messages that it sent before still count. Unless one of them
  /// was `Leave`, all others are told of its loss. An exchange that it has not contributed to fails.
  void process_ended(std::uint32_t i);

  /// Whether the process has sent its Hello; whether it has sent Leave.
  bool joined(std::uint32_t i) const noexcept;
  bool left(std::uint32_t i) const noexcept;
  /// The process that has sent the Hello of process `i`: another one than the owner has started, if that is a shell. It may have
  /// ended. 0: none has, or it is not in sight.
  pid_t joined_by(std::uint32_t i) const noexcept;
  /// The first process that ended without Leave. Later ones may have ended because of it.
  const std::optional<std::uint32_t>& first_lost() const noexcept { return first_lost_; }
  /// The first request to end the whole job, if there is one.
  const std::optional<AbortAsked>& abort_asked() const noexcept { return abort_; }
  /// The first process that has ended the job with a code (Job::leave), if there is one. It and all others have been
  /// told. From then on no process counts as lost.
  const std::optional<wire::Exit>& exit_asked() const noexcept { return exit_; }

 private:
  struct Peer;
  using Frame = std::shared_ptr<const wire::Blob>;

  void receive(std::uint32_t i);
  void take(std::uint32_t i, wire::Message& message);
  void take_hello(std::uint32_t i, const wire::Hello& hello);
  void take_exchange(std::uint32_t i, wire::Exchange exchange);
  void tell_lost(std::uint32_t i);
  void report_missing(std::uint32_t i);
  void take_exit(std::uint32_t i, int code);
  void finish_round();
  void gone(std::uint32_t i);
  void refuse_all(ErrorCode code, const std::string& why);
  void send(std::uint32_t i, const Frame& frame);
  void send_all(const Frame& frame);
  void flush(std::uint32_t i);
  void close(std::uint32_t i) noexcept;

  const Report report_;
  const std::uint32_t library_;
  const std::uint64_t job_;
  const int epoll_;
  std::vector<Peer> peers_;
  std::uint32_t round_ = 0;
  std::uint32_t given_ = 0;  // how many have contributed to this round
  Frame refusal_;            // once set, every exchange is answered with it
  bool missing_reported_ = false;
  std::optional<std::uint32_t> first_lost_;
  std::optional<AbortAsked> abort_;
  std::optional<wire::Exit> exit_;
};

}  // namespace aqueduct::launch
