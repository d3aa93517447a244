#include "conduits/ibv/ibv_conduit.hpp"

#include <algorithm>

#include <poll.h>

namespace aqueduct::conduits::ibv {

// The channel says once for each request that something has come; what it says is taken in the polls until disarmed, and
// in the one after that.
void IbvConduit::arm() noexcept {
  static_cast<void>(::ibv_req_notify_cq(objects_.queue.get(), 0));
  look_at_channel_ = true;
  disarmed_ = false;
}

void IbvConduit::disarm() noexcept { disarmed_ = true; }

void IbvConduit::empty_channel() noexcept {
  ibv_cq* queue = nullptr;
  void* cookie = nullptr;
  while (verbs_.get_cq_event(objects_.channel.get(), &queue, &cookie) == 0) verbs_.ack_cq_events(queue, 1);
  look_at_channel_ = !disarmed_;
}

std::chrono::nanoseconds IbvConduit::within() const noexcept {
  const bool busy = !to_self_.empty() || !burst_.empty() || !owing_.empty() || !taken_from_.empty() ||
                    !forgotten_.empty() || !suspected_.empty();
  if (busy) return std::chrono::nanoseconds::zero();
  if (knocking_.empty()) return std::chrono::nanoseconds::max();
  const auto next = std::ranges::min(knocking_, {}, &Link::next_hello)->next_hello;
  return next - Clock::now();
}

void IbvConduit::sleep(std::chrono::nanoseconds limit) noexcept {
  const auto wait = std::min(limit, within());
  if (wait.count() <= 0) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(wait);
  const timespec pause{seconds.count(), (wait - seconds).count()};
  pollfd readable[] = {{objects_.channel->fd, POLLIN, 0}, {objects_.context->async_fd, POLLIN, 0}};
  ::ppoll(readable, 2, &pause, nullptr);
}

}  // namespace aqueduct::conduits::ibv
