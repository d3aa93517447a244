#include "conduits/ofi/sleeper.hpp"

#include <algorithm>

#include <poll.h>

namespace aqueduct::conduits::ofi {

// The descriptor does not report entries that were queued before. So after the poll that follows arming, fi_trywait asks the
// provider whether a sleep may begin now.
std::chrono::nanoseconds Sleeper::within() const noexcept {
  const bool busy = !to_self_.empty() || messages_.has_unsent() || receive_.waits() || lost_.has_news();
  fid* queue = &objects_.cq->fid;
  if (busy || ::fi_trywait(objects_.fabric, &queue, 1) != FI_SUCCESS) return std::chrono::nanoseconds::zero();
  return lost_.within();
}

void Sleeper::sleep(std::chrono::nanoseconds limit) noexcept {
  const auto wait = std::min(limit, within());
  if (wait.count() <= 0) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(wait);
  const timespec pause{seconds.count(), (wait - seconds).count()};
  pollfd readable{descriptor(), POLLIN, 0};
  ::ppoll(&readable, 1, &pause, nullptr);
}

}  // namespace aqueduct::conduits::ofi
