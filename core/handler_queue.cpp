#include "core/handler_queue.hpp"

#include "core/endpoint_state.hpp"

namespace aqueduct::core {

HandlerQueue::HandlerQueue(EndpointState& state) noexcept : state_(state), busy_(state.busy) {}

void HandlerQueue::push(QueuedHandler& message) noexcept {
  message.next = nullptr;
  (last_ != nullptr ? last_->next : first_) = &message;
  last_ = &message;
  ++queued_;
  busy_.set(true);
}

QueuedHandler& HandlerQueue::take() noexcept {
  QueuedHandler& message = *first_;
  first_ = message.next;
  if (first_ == nullptr) last_ = nullptr;
  --queued_;
  busy_.set(first_ != nullptr);
  return message;
}

int HandlerQueue::run_all() noexcept {
  // A continuation that makes a round keeps the lock: other threads must not see that it runs.
  if (state_.in_continuation) return 0;
  Guard& guard = state_.guard;
  int ran = 0;
  // Those that arrive meanwhile run in the next round, so that a steady stream does not keep the caller here.
  for (std::uint32_t left = queued_; left != 0 && first_ != nullptr; --left, ++ran) {
    QueuedHandler& message = take();
    ++running_;
    guard
        .end_turn();  // another thread polls meanwhile: the handler may run for long, or wait for another one
    // All look again: there is more to take, or the handler before has changed what one waits for.
    if (first_ != nullptr || ran != 0) guard.changed();
    const std::uint32_t depth = guard.let_go(Guard::Why::begins_to_wait);
    {
      const HandlerOutside here(guard);
      message.run(message);
    }
    if (state_.in_child()) [[unlikely]] {  // the handler has forked, and this is the child's return from it
      guard.seize(depth);
      return ran;
    }
    guard.take_back(depth);
    --running_;
    message.over(message);
  }
  guard.wake_poller();  // the followers are told by `progress`
  return ran;
}

}  // namespace aqueduct::core
