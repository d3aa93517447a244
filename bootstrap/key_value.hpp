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

/// What the process managers of clusters offer: values under names, which others can get after a fence.
///
/// What goes wrong is reported in words by whoever finds it; the status then travels up silently.
class KeyValueSpace {
 public:
  /// Who will get a value: a hint that spares the network, never a promise.
  enum class Audience { everybody, neighbours, others };

  virtual ~KeyValueSpace() = default;

  virtual std::string_view launcher() const noexcept = 0;
  virtual std::uint32_t process() const noexcept = 0;
  virtual std::uint32_t processes() const noexcept = 0;
  virtual std::string host() const = 0;
  /// How often this process has used the space before: its names may be those of an earlier job of the same processes.
  virtual std::uint32_t use() const noexcept { return 0; }
  /// Whether the launcher knows that the process is on this host; a value for neighbours reaches it then.
  virtual bool knows_as_neighbour(std::uint32_t process) const = 0;

  /// Others can get it after the next fence, each name once. Names have letters, digits and dots.
  virtual Status put(std::string_view name, std::span<const std::byte> value, Audience audience) = 0;
  /// Waits until all processes are here.
  virtual Status fence() = 0;
  virtual Result<std::vector<std::byte>> get(std::uint32_t process, std::string_view name) = 0;

  /// As in Bootstrap.
  virtual void poll_losses(const std::function<void(std::uint32_t process)>& lost) noexcept = 0;
  virtual void leave() noexcept = 0;
  virtual void abort(int exit_code, std::string_view why) noexcept = 0;
};

/// From so many processes on one of them gathers what all give, and gives it on as one value: two requests of each, and
/// a fence more, in place of one for every other process. Measured: decision 33.
inline constexpr std::uint32_t kGatherFrom = 8;

/// A job whose processes exchange through such a space.
std::unique_ptr<Bootstrap> over(std::unique_ptr<KeyValueSpace> space,
                                std::uint32_t gather_from = kGatherFrom);

}  // namespace aqueduct::bootstrap
