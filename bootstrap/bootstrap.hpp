#pragma once

#include <aqueduct/status.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace aqueduct::bootstrap {

/// How the processes of a job find one another before there is a network. One per process.
///
/// Processes are numbered 0 … processes - 1. An exchange of the runtime settles which ranks each process holds.
class Bootstrap {
 public:
  virtual ~Bootstrap() = default;

  virtual std::string_view launcher() const noexcept = 0;  ///< "alone", "aqrun", "pmix" or "pmi1"
  virtual std::uint32_t process() const noexcept = 0;
  virtual std::uint32_t processes() const noexcept = 0;
  /// A number that no other job on this host has now. It is known once an exchange has succeeded.
  virtual std::uint64_t job() const noexcept = 0;
  /// The launcher's name for the host of this process; empty if the launcher gives none.
  virtual std::string host() const { return {}; }

  /// Gives `mine` to every process and returns what each gave, by process. Collective; waits for all.
  /// Errors: peer_lost (a process died), version_mismatch, timed_out, bootstrap_failed.
  virtual Result<std::vector<std::vector<std::byte>>> exchange(std::span<const std::byte> mine) = 0;

  /// What one process gives: one part to its neighbours, one to all others.
  struct Parts {
    std::span<const std::byte> to_neighbours;
    std::span<const std::byte> to_others;
  };
  /// Like `exchange`, with two parts. `is_neighbour[p]` says which part of mine process p gets, and this
  /// process gets the first part of its neighbours and the second part of all others. The relation is
  /// symmetric, and a process is its own neighbour.
  ///
  /// This default sends both parts in one exchange; a launcher that knows the
  /// hosts fetches only the part that is needed.
  virtual Result<std::vector<std::vector<std::byte>>> exchange_parts(Parts mine,
                                                                     const std::vector<bool>& is_neighbour);

  /// Calls `lost` once for each process that the launcher has reported as ended. Never blocks;
  /// cheap enough to call every few milliseconds.
  virtual void poll_losses(const std::function<void(std::uint32_t process)>& lost) noexcept = 0;

  /// Says that other processes cannot be reached from this one, which they may not notice: those that still are in the job are
  /// told of its loss, as if it had ended. Before `leave`. This default does nothing.
  virtual void tell_cut_off() noexcept {}
  /// Announces that this process is about to exit on purpose, so that it does not count as lost.
  virtual void leave() noexcept = 0;
  /// Asks the launcher to end the whole job.
  virtual void abort(int exit_code, std::string_view why) noexcept = 0;

  /// Announces that this process exits at once, and that the whole job ends with `code`. This default is an abort,
  /// after which launchers end all processes, this one too.
  /// Threads: any thread, also while other calls are running.
  virtual void exit(int code) noexcept;
  /// As `exit`, as far as the launcher's protocol allows it inside a signal handler; the program calls `exit` later.
  /// Async-signal-safe. This default does nothing.
  virtual void exit_from_signal(int code) noexcept { static_cast<void>(code); }
  /// Whether `exit` leaves this process the time to flush its output.
  virtual bool lives_after_exit() const noexcept { return false; }
  /// The code with which a process has ended the job. Cheap; known after `poll_losses` or a failed exchange.
  virtual std::optional<int> exit_asked() const noexcept { return std::nullopt; }
};

/// A job of one process, without a launcher.
std::unique_ptr<Bootstrap> alone();

}  // namespace aqueduct::bootstrap
