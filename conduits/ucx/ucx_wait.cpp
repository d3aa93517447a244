#include "conduits/ucx/ucx_conduit.hpp"

#include <algorithm>

#include <poll.h>
#include <time.h>

namespace aqueduct::conduits::ucx {

// UCX refuses to be armed while it has work. The poll that follows does some of it, and the sleep then must not begin.
void UcxConduit::arm() noexcept { ready_ = ucp_.worker_arm(worker_) != UCS_OK; }

std::chrono::nanoseconds UcxConduit::within() const noexcept {
  const bool has_work = ready_ || !self_.empty() || !held_.empty() || !dirty_.empty() || !losing_.empty();
  return has_work ? std::chrono::nanoseconds::zero() : std::chrono::nanoseconds::max();
}

void UcxConduit::sleep(std::chrono::nanoseconds limit) noexcept {
  limit = std::min(limit, within());
  if (limit.count() <= 0) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  const timespec time{seconds.count(), (limit - seconds).count()};
  pollfd readable{event_fd_, POLLIN, 0};
  ::ppoll(&readable, 1, &time, nullptr);
}

}  // namespace aqueduct::conduits::ucx
