#pragma once

#include "bootstrap/pmix_library.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace aqueduct::bootstrap {

/// What the launcher says while the job runs: which processes are gone, and that it is gone itself. PMIx tells it on a
/// thread of its own.
class PmixEvents {
 public:
  /// Listens from now on, for the processes of the job that `me` belongs to.
  PmixEvents(std::shared_ptr<const PmixLibrary> pmix, const pmix_proc_t& me, std::uint32_t processes);
  /// Best after PMIx has ended, which ends events as well: a message to the launcher in front of the one that ends PMIx
  /// holds that up for the 40 ms of a delayed acknowledgement.
  ~PmixEvents();
  PmixEvents(const PmixEvents&) = delete;
  PmixEvents& operator=(const PmixEvents&) = delete;

  bool launcher_is_gone() const;
  /// Calls `lost` for each process that is gone, once; for all others when the launcher is.
  void poll(const std::function<void(std::uint32_t process)>& lost);

 private:
  struct News;

  const std::shared_ptr<const PmixLibrary> pmix_;
  const std::shared_ptr<News> news_;
};

}  // namespace aqueduct::bootstrap
