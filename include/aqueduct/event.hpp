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

struct EventAccess;

/// The part of an operation's record that inline code reads; the rest is in core/op.hpp.
struct OpFace {
  /// 0 while in flight. Set to 1, with release, once the outcome can be read.
  std::atomic<std::uint32_t> done{0};
  /// Of an operation that SharedEvents hold: the number of these, and one more while it is in flight. Otherwise 0.
  std::atomic<std::uint32_t> holders{0};
};

/// An Event as one word: null if the operation succeeded, an odd number with the Status if it failed, otherwise the
/// record of the operation.
class EventWord {
 public:
  EventWord() noexcept = default;
  explicit EventWord(void* word) noexcept : word_(word) {}
  explicit EventWord(OpFace* op) noexcept : word_(op) {}
  explicit EventWord(Status outcome) noexcept {
    if (!outcome) {
      word_ = reinterpret_cast<void*>(std::uintptr_t{outcome.peer()} << 32 |
                                      static_cast<std::uintptr_t>(outcome.code()) << 1 | 1);
    }
  }
  void* get() const noexcept { return word_; }
  /// Null: the operation is over, and `outcome` tells how it ended.
  OpFace* op() const noexcept { return (bits() & 1) != 0 ? nullptr : static_cast<OpFace*>(word_); }
  /// Requires: op() is null.
  Status outcome() const noexcept {
    if (word_ == nullptr) return {};
    return {static_cast<ErrorCode>(bits() >> 1 & 0x7fff), static_cast<Rank>(bits() >> 32)};
  }

 private:
  static_assert(sizeof(void*) == 8, "a Status must fit a pointer");
  std::uintptr_t bits() const noexcept { return reinterpret_cast<std::uintptr_t>(word_); }

  void* word_ = nullptr;
};

/// Takes the outcome of a finished operation and returns its record to the pool.
Status collect(OpFace* op) noexcept;
/// Whether this process is a forked child, in which the operation never ends.
bool in_child(const OpFace* op) noexcept;
/// Detaches an operation in flight from its Event: its record returns to the pool when the operation ends.
void abandon(OpFace* op) noexcept;

}  // namespace detail

/// The completion of one operation, or of a group. Move-only, 16 bytes.
///
/// An Event that was default-constructed, or has been waited for, is *finished*. Testing or waiting for it again is
/// legal, costs nothing, and gives the same outcome. An Event belongs to the endpoint that made it, and to that
/// endpoint's thread. With Threads::multiple any thread may wait for it, one at a time; the program synchronises the
/// thread that made the Event and the one that waits for it. Several holders use a SharedEvent (shared_event.hpp).
///
/// Lifetime: at most that of its endpoint, unless it is finished.
/// Cost:   an Event of an operation that was in flight at the call occupies 200 bytes of its endpoint's memory until
///         the program waits for it or reads its status. Hundreds of thousands may be held. The endpoint reuses this
///         memory but does not return it to the system. Once AQUEDUCT_OPERATIONS such Events are held, further calls
///         wait until their operation is done.
/// Errors: `status()` gives the outcome of the operation once it is done. Destroying an Event whose operation is in
///         flight is misuse: a checked build ends the program, a release build lets the operation finish unobserved.
class [[nodiscard]] Event {
 public:
  Event() noexcept = default;
  /// A finished Event: the operation was over when the call returned.
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

  /// Gives the Event up as one word, for a layer whose handles are single pointers. Null stands for a finished Event of
  /// an operation that succeeded. The Event is finished afterwards.
  ///
  /// Lifetime: the word stands for this one Event. `adopt` makes an Event of it again, once, and must do so before the
  ///           endpoint ends: until then the operation's record is in use.
  [[nodiscard]] void* release() noexcept {
    if (op_ != nullptr) return detail::EventWord(std::exchange(op_, nullptr)).get();
    return detail::EventWord(std::exchange(status_, Status{})).get();
  }
  /// The Event that `release` gave up.
  static Event adopt(void* word) noexcept {
    const detail::EventWord event(word);
    return event.op() != nullptr ? Event(event.op()) : Event(event.outcome());
  }
  /// Runs `body(Status)` once the operation is over, with its outcome: see continuation.hpp, which defines this.
  template <class F>
  Status then(Endpoint& ep, F body) noexcept;

  /// Whether the operation is over. Makes no progress, so a loop on it alone need not end: Endpoint::test makes some
  /// (docs/progress.md, P-4). An acquire load.
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
  friend struct detail::EventAccess;  // for the stall report of a wait, which describes the operation
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

/// Several Events to be waited for together. `add` gives each an index, which does not change.
///
/// Completion: wait_any, wait_some and test_some report each Event once, when it is done.
/// Errors:     these three and `add` may throw std::bad_alloc. The set is as before then, and `add` has not taken
///             the Event.
class EventSet {
 public:
  /// Takes the event; returns its index.
  std::size_t add(Event&& event);
  std::size_t size() const noexcept { return events_.size(); }
  bool empty() const noexcept { return events_.empty(); }
  Event& operator[](std::size_t index) noexcept { return events_[index]; }

  /// Waits until an unreported Event is done, and reports its index. Returns size() if all have been reported, or
  /// inside a handler.
  std::size_t wait_any(Endpoint& ep);
  /// Waits until at least one unreported Event is done, and reports the indices of all that are. The span is valid
  /// until the next call. Empty if all have been reported, or inside a handler.
  std::span<const std::size_t> wait_some(Endpoint& ep);
  /// Waits for all Events. Returns the first failure, by index, if any. The set is empty afterwards.
  ///
  /// Errors: those of the operations; in_handler (the set keeps its Events).
  Status wait_all(Endpoint& ep);
  /// As wait_some, but with one round of progress instead of a wait.
  std::span<const std::size_t> test_some(Endpoint& ep);
  /// Makes one round of progress. Returns whether all Events are done.
  bool test_all(Endpoint& ep);

 private:
  std::size_t first_scan();
  std::size_t scan();

  std::vector<Event> events_;
  std::vector<bool> reported_;
  std::vector<std::size_t> found_;
};

}  // namespace aqueduct
