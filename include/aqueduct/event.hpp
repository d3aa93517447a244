#pragma once

#include <aqueduct/expect.hpp>
#include <aqueduct/status.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace aqueduct {

class Endpoint;

namespace detail {

/// The part of an operation in flight that the inline code looks at; the rest is core/op.hpp.
struct OpFace {
  /// 0 while in flight; released to 1 once the outcome can be read.
  std::atomic<std::uint32_t> done{0};
};

/// Takes the outcome of a finished operation and returns its record to the pool.
Status collect(OpFace* op) noexcept;
/// Whether it belongs to the parent of this forked process, and so never ends here.
bool in_child(const OpFace* op) noexcept;
/// Gives up an operation in flight: its record returns to the pool when it ends.
void abandon(OpFace* op) noexcept;

}  // namespace detail

/// The completion of one operation, or of a group. Move-only, 16 bytes.
///
/// A default-constructed Event, and one already waited for, is *finished*: to test or wait for it is legal,
/// free, and gives the same outcome again. An Event belongs to the endpoint that made it and to its thread.
///
/// Cost:   holding an Event whose operation was in flight at the call, until it has been waited for or its status read, holds
///         200 bytes of its endpoint's memory; Events may be held by the hundred thousand. They are used again and not
///         given back. Beyond AQUEDUCT_OPERATIONS of them, calls wait until their operation is done.
/// Errors: the operation's outcome, from `status()` once done. Destroying an Event whose operation is in flight
///         is misuse that a checked build catches; a release build lets the operation finish unseen.
class [[nodiscard]] Event {
 public:
  Event() noexcept = default;
  /// An operation that was over before it was in flight.
  explicit Event(Status outcome) noexcept : status_(outcome) {}
  explicit Event(detail::OpFace* op) noexcept : op_(op) {}
  Event(Event&& other) noexcept : op_(std::exchange(other.op_, nullptr)), status_(other.status_) {}
  Event& operator=(Event&& other) noexcept {
    if (this != &other) {
      drop();
      op_ = std::exchange(other.op_, nullptr);
      status_ = other.status_;
    }
    return *this;
  }
  ~Event() { drop(); }

  /// Whether the operation is over, without making progress: an acquire load.
  bool done() const noexcept { return op_ == nullptr || op_->done.load(std::memory_order_acquire) != 0; }
  /// The outcome. Requires: done().
  Status status() noexcept {
    if (op_ != nullptr) [[unlikely]] {
      AQUEDUCT_EXPECT(done(), "Event::status() of an operation in flight; wait for it first");
      status_ = detail::collect(std::exchange(op_, nullptr));
    }
    return status_;
  }

 private:
  friend class Endpoint;  // for the stall report: what the operation is
  void drop() noexcept {
    if (op_ == nullptr) [[likely]]
      return;
    if (done()) {
      static_cast<void>(detail::collect(op_));
    } else {
      AQUEDUCT_EXPECT(detail::in_child(op_),
                      "an Event was dropped while its operation is in flight; wait for it");
      detail::abandon(op_);
    }
    op_ = nullptr;
  }

  detail::OpFace* op_ = nullptr;
  Status status_;
};
static_assert(sizeof(Event) == 16);

/// Several Events waited for together. Indices stay as `add` gave them.
///
/// Completion: an Event that was reported is finished and is not reported again by the any/some forms.
class EventSet {
 public:
  /// Takes the event; returns its index.
  std::size_t add(Event event);
  std::size_t size() const noexcept { return events_.size(); }
  bool empty() const noexcept { return events_.empty(); }
  Event& operator[](std::size_t index) noexcept { return events_[index]; }

  /// Waits until one more is done; its index, or size() if all had been reported (or inside a handler).
  std::size_t wait_any(Endpoint& ep);
  /// Waits until at least one more is done; the indices of all that are. Valid until the next call.
  std::span<const std::size_t> wait_some(Endpoint& ep);
  /// Waits for all; the first failure by index, if any. The set is empty afterwards.
  Status wait_all(Endpoint& ep);
  /// One round of progress, then as wait_some without waiting.
  std::span<const std::size_t> test_some(Endpoint& ep);
  /// One round of progress; whether all are done.
  bool test_all(Endpoint& ep);

 private:
  std::size_t scan();

  std::vector<Event> events_;
  std::vector<bool> reported_;
  std::vector<std::size_t> found_;
};

}  // namespace aqueduct
