#pragma once

#include "bootstrap/pmix_library.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace aqueduct::bootstrap {

/// The launcher's events while the job runs: which processes have ended, and that the launcher has ended. PMIx
/// delivers them on a thread of its own.
class PmixEvents {
 public:
  /// Listens from now on for the processes of the job that `me` belongs to.
  PmixEvents(std::shared_ptr<const PmixLibrary> pmix, const pmix_proc_t& me, std::uint32_t processes);
  /// Best called after PMIx is finalized, which ends the events too. Otherwise deregistering sends the launcher a
  /// message in front of the one that finalizes PMIx, which then waits 40 ms for a delayed acknowledgement.
  ~PmixEvents();
  PmixEvents(const PmixEvents&) = delete;
  PmixEvents& operator=(const PmixEvents&) = delete;

  bool launcher_is_gone() const;
  /// Calls `lost` once for each process that has ended; for all others if the launcher has ended.
  void poll(const std::function<void(std::uint32_t process)>& lost);

 private:
  struct News;

  const std::shared_ptr<const PmixLibrary> pmix_;
  const std::shared_ptr<News> news_;
};

}  // namespace aqueduct::bootstrap
