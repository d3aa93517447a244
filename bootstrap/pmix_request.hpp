#pragma once

#include <pmix.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace aqueduct::bootstrap {

/// A request to PMIx and its outcome. PMIx's thread reports the outcome, perhaps after the caller has given up waiting,
/// so PMIx has a share of the request, and all that it reads is kept here.
struct PmixRequest {
  using Clock = std::chrono::steady_clock;
  /// The kinds of values that are asked for.
  using Value = std::variant<std::monostate, std::uint32_t, std::string, std::vector<std::byte>>;

  pmix_proc_t whom{};
  std::string key;
  pmix_info_t argument{};

  std::mutex mutex;
  std::condition_variable told;
  std::optional<pmix_status_t> status;
  Value value;            ///< of a request for one
  bool given_up = false;  ///< by `wait`

  /// Notes the outcome. False: the caller has given up waiting.
  bool tell(pmix_status_t outcome, Value found_value = {});
  /// The share that PMIx gets, as its callbacks' argument. Whoever calls `ended` or `found` gives it back.
  static void* share(const std::shared_ptr<PmixRequest>& request) {
    return new std::shared_ptr<PmixRequest>(request);
  }
  /// Takes the share back if PMIx refuses the request: then it calls neither.
  static void take_back(void* reference) noexcept;
  static void ended(pmix_status_t status, void* reference);
  static void found(pmix_status_t status, pmix_value_t* value, void* reference);

  /// Waits until PMIx has reported the outcome. Nothing: the deadline has passed, or `is_vain` says so, which is asked
  /// every 100 ms, since PMIx may never complete a request after its launcher has ended.
  std::optional<pmix_status_t> wait(Clock::time_point deadline, const std::function<bool()>& is_vain);
};

}  // namespace aqueduct::bootstrap
