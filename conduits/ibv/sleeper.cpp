#include "conduits/ibv/sleeper.hpp"

#include <algorithm>

#include <poll.h>

namespace aqueduct::conduits::ibv {
namespace {

// Chosen: how long to sleep when a credit is missing. Credits return by a write to memory, which causes no event, so
// they must be polled for. A peer that returns none for that long is computing, so a delay of this size costs little in
// comparison.
constexpr std::chrono::nanoseconds kCreditNap{100'000};

}  // namespace

// The channel gives one event for each request to notify. Polls take the events until `disarm`, and the first poll
// after it does so for the last time.
void Sleeper::arm() noexcept {
  static_cast<void>(::ibv_req_notify_cq(env_.objects.queue.get(), 0));
  for (const auto& rail : rails_) rail->arm();
  look_at_channel_ = true;
  disarmed_ = false;
}

// An event may not matter to the sleeper (the end of a message, a Hello), so that it continues to sleep. The
// notification is therefore requested again before this poll looks at the queue, so that nothing is missed in between.
void Sleeper::empty_channel() noexcept {
  const bool said = ibv::empty_channel(env_.verbs, *env_.objects.channel);
  if (said && !disarmed_) static_cast<void>(::ibv_req_notify_cq(env_.objects.queue.get(), 0));
  for (const auto& rail : rails_) {
    if (rail->empty_channel() && !disarmed_) rail->arm();
  }
  look_at_channel_ = !disarmed_;
}

int Sleeper::descriptor() const noexcept {
  if (const int calls = connections_.descriptor(); calls >= 0) return calls;
  return rails_.empty() ? env_.objects.channel->fd : rails_.descriptor();
}

std::chrono::nanoseconds Sleeper::within() const noexcept {
  const bool busy = !to_self_.empty() || requests_.holds_any() || credits_.any_due() || losses_.any() ||
                    connections_.is_busy() || completions_.any_left();
  if (busy) return std::chrono::nanoseconds::zero();
  const bool soon = credits_.lacked() || striping_.any_waits();
  auto until = soon ? kCreditNap : std::chrono::nanoseconds::max();
  if (const auto next = connections_.next_hello()) {
    until = std::min<std::chrono::nanoseconds>(until, *next - env_.clock.now());
  }
  return until;
}

void Sleeper::sleep(std::chrono::nanoseconds limit) noexcept {
  const auto wait = std::min(limit, within());
  if (wait.count() <= 0) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(wait);
  const timespec pause{seconds.count(), (wait - seconds).count()};
  pollfd readable[] = {{descriptor(), POLLIN, 0}, {env_.objects.context->async_fd, POLLIN, 0}};
  ::ppoll(readable, 2, &pause, nullptr);
}

}  // namespace aqueduct::conduits::ibv
