#pragma once

#include <aqueduct/endpoint.hpp>
#include <aqueduct/event.hpp>
#include <aqueduct/expect.hpp>

#include <atomic>
#include <chrono>
#include <utility>

namespace aqueduct {

namespace detail {

/// The Event becomes shared; one SharedEvent holds it.
void share(OpFace* op) noexcept;
void drop_holder(OpFace* op) noexcept;
/// Requires: `op` is done, and the caller holds it.
Status outcome_of(const OpFace* op) noexcept;
Status wait_shared(Endpoint&, OpFace* op, std::chrono::nanoseconds limit) noexcept;

}  // namespace detail

/// The completion of one operation, or of a region, for several holders: one pointer, copied freely. Made by `share`.
///
/// Every copy gives the same outcome, as often as it is asked. The operation's record is in use until the last copy is
/// dropped.
///
/// Lifetime: at most that of the endpoint. Dropping the last copy while the operation is in flight is misuse, as for an
///           Event.
/// Cost:     200 bytes of the endpoint's memory until the last copy is dropped; none if the operation was over when it
///           was shared. A copy is one atomic addition.
/// Threads:  copies, `done`, `status` and dropping: any thread, each on a copy of its own. `wait` and `test`: as the
///           endpoint.
class [[nodiscard]] SharedEvent {
 public:
  /// A finished one, of an operation that succeeded.
  SharedEvent() noexcept = default;
  explicit SharedEvent(detail::EventWord word) noexcept : word_(word) {}
  SharedEvent(const SharedEvent& other) noexcept : word_(other.word_) {
    if (detail::OpFace* op = word_.op()) op->holders.fetch_add(1, std::memory_order_relaxed);
  }
  SharedEvent(SharedEvent&& other) noexcept : word_(std::exchange(other.word_, {})) {}
  SharedEvent& operator=(SharedEvent other) noexcept {
    std::swap(word_, other.word_);
    return *this;
  }
  ~SharedEvent() {
    detail::OpFace* const op = word_.op();
    if (op == nullptr) return;
    AQUEDUCT_EXPECT(may_drop(op), "the last SharedEvent of an operation in flight was dropped; wait for it");
    detail::drop_holder(op);
  }

  /// Whether the operation is over. Makes no progress; an acquire load. So another thread than the endpoint's may poll
  /// it while the endpoint's makes progress.
  bool done() const noexcept {
    const detail::OpFace* const op = word_.op();
    return op == nullptr || op->done.load(std::memory_order_acquire) != 0;
  }
  /// The outcome. Requires: done().
  Status status() const noexcept {
    const detail::OpFace* const op = word_.op();
    AQUEDUCT_EXPECT(done(), "SharedEvent::status() of an operation in flight; wait for it first");
    return op != nullptr ? detail::outcome_of(op) : word_.outcome();
  }
  /// As done, after one round of progress if it is false.
  bool test(Endpoint& ep) const noexcept {
    if (done()) return true;
    ep.progress();
    return done();
  }
  /// Waits until the operation is over. Returns its outcome.
  ///
  /// Errors: those of the operation; in_handler, invalid_argument (in a forked child).
  Status wait(Endpoint& ep) const noexcept { return wait_for(ep, std::chrono::nanoseconds::max()); }
  /// As wait, but for at most `limit`. Errors: also timed_out.
  Status wait_for(Endpoint& ep, std::chrono::nanoseconds limit) const noexcept {
    if (done()) return status();
    return detail::wait_shared(ep, word_.op(), limit);
  }

  /// Gives this copy up as one word, for a layer whose handles are single pointers. Null stands for a finished one of an
  /// operation that succeeded. This copy is then a finished one.
  ///
  /// Lifetime: the word counts as one copy. `adopt` makes it a SharedEvent again, once.
  [[nodiscard]] void* release() noexcept { return std::exchange(word_, {}).get(); }
  /// The copy that `release` gave up.
  static SharedEvent adopt(void* word) noexcept { return SharedEvent(detail::EventWord(word)); }

 private:
  static bool may_drop(const detail::OpFace* op) noexcept {
    // Two: this one, and the operation itself.
    return op->holders.load(std::memory_order_acquire) != 2 ||
           op->done.load(std::memory_order_acquire) != 0 || detail::in_child(op);
  }

  detail::EventWord word_;
};
static_assert(sizeof(SharedEvent) == sizeof(void*));

/// Makes an Event shareable. The Event is given up.
///
/// Threads: as the endpoint.
inline SharedEvent share(Event&& event) noexcept {
  if (event.done()) return SharedEvent(detail::EventWord(event.status()));
  const detail::EventWord word(event.release());
  detail::share(word.op());
  return SharedEvent(word);
}

}  // namespace aqueduct
