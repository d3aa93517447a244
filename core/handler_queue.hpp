#pragma once

#include "core/busy.hpp"

#include <cstdint>
#include <utility>

namespace aqueduct::detail {
struct EndpointState;
}

namespace aqueduct::core {

/// A message whose handler runs outside the endpoint's lock. The layer that queues it has the message itself
/// (am/parallel.hpp).
struct QueuedHandler {
  void (*run)(QueuedHandler&) noexcept = nullptr;   ///< runs the handler, outside the lock
  void (*over)(QueuedHandler&) noexcept = nullptr;  ///< the handler has returned; under the lock
  QueuedHandler* next = nullptr;
};

/// The messages whose handlers run outside the endpoint's lock, in the order of their arrival.
///
/// A conduit delivers messages inside its poll, which is under the lock, and may reuse a packet's memory when the poll
/// ends. So such a message is copied and queued. Each thread that makes progress takes messages from the queue at the end
/// of its round, and runs their handlers. Meanwhile others poll: the thread gives up the turn, and wakes one that waits.
///
/// Threads: all functions are under the lock.
class HandlerQueue {
 public:
  explicit HandlerQueue(aqueduct::detail::EndpointState& state) noexcept;

  /// While it lives, the messages stay in the queue: for a thread that has armed the conduits for its sleep. It would give
  /// up the turn for a handler, and another thread could take it, and arm them too. With false, for a wait inside that,
  /// they run.
  class Stays {
   public:
    explicit Stays(HandlerQueue& queue, bool stays = true) noexcept
        : queue_(queue), before_(std::exchange(queue.stays_, stays)) {}
    ~Stays() { queue_.stays_ = before_; }
    Stays(const Stays&) = delete;
    Stays& operator=(const Stays&) = delete;

   private:
    HandlerQueue& queue_;
    bool before_;
  };

  /// Queues a message. A thread that makes progress, perhaps this one, takes it.
  void push(QueuedHandler& message) noexcept;
  /// Runs the handlers of the messages that were queued before the call, as far as no other thread takes them, and returns
  /// how many. Lets go of the lock while each runs. Requires: the endpoint's state is as between two calls.
  int run() noexcept { return first_ == nullptr || stays_ ? 0 : run_all(); }

  std::uint32_t queued() const noexcept { return queued_; }
  std::uint32_t running() const noexcept { return running_; }

 private:
  int run_all() noexcept;
  QueuedHandler& take() noexcept;

  aqueduct::detail::EndpointState& state_;
  QueuedHandler* first_ = nullptr;
  QueuedHandler* last_ = nullptr;
  std::uint32_t queued_ = 0;
  std::uint32_t running_ = 0;
  bool stays_ = false;
  Busy busy_;  ///< set while a message is queued, so that progress comes here and no thread sleeps for long
};

}  // namespace aqueduct::core
