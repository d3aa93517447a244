#pragma once

#include "bootstrap/bootstrap.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace aqueduct::bootstrap {

/// The key-value store that process managers of clusters offer: a process puts values under
/// names, and others can get them after a fence.
///
/// The function that finds an error reports it as text; its callers pass the status on silently.
class KeyValueSpace {
 public:
  /// Which processes will get a value: a hint that saves network traffic, never a promise.
  enum class Audience { everybody, neighbours, others };

  virtual ~KeyValueSpace() = default;

  virtual std::string_view launcher() const noexcept = 0;
  virtual std::uint32_t process() const noexcept = 0;
  virtual std::uint32_t processes() const noexcept = 0;
  virtual std::string host() const = 0;
  /// How many jobs this process has joined through the space before. Names contain
  /// it, because those of an earlier job remain.
  virtual std::uint32_t use() const noexcept { return 0; }
  /// Whether the launcher knows that the process is on this host. If so, values for neighbours reach it.
  virtual bool knows_as_neighbour(std::uint32_t process) const = 0;

  /// Others can get the value after the next fence. Each name is put once; names consist of letters, digits and dots.
  virtual Status put(std::string_view name, std::span<const std::byte> value, Audience audience) = 0;
  /// Waits until all processes have called it.
  virtual Status fence() = 0;
  virtual Result<std::vector<std::byte>> get(std::uint32_t process, std::string_view name) = 0;

  /// As Bootstrap::poll_losses.
  virtual void poll_losses(const std::function<void(std::uint32_t process)>& lost) noexcept = 0;
  virtual void leave() noexcept = 0;
  virtual void abort(int exit_code, std::string_view why) noexcept = 0;
  /// After an abort, as this process is about to end: waits until the launcher is ending the job, for a second at most. So
  /// the others do not learn of the loss of this process before the launcher ends them. This default does not wait.
  virtual void wait_for_abort() noexcept {}
};

/// From this many processes on, one process gathers what all give and puts it as one value: two requests per process
/// and one more fence, instead of one request for every other process. Measured: decision 33.
inline constexpr std::uint32_t kGatherFrom = 8;

/// A job whose processes exchange through this space.
std::unique_ptr<Bootstrap> over(std::unique_ptr<KeyValueSpace> space,
                                std::uint32_t gather_from = kGatherFrom);

}  // namespace aqueduct::bootstrap
