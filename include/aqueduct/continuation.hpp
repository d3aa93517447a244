#pragma once

#include <aqueduct/endpoint.hpp>
#include <aqueduct/event.hpp>
#include <aqueduct/expect.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace aqueduct {

namespace core {
struct Suspension;
class Continuations;
}  // namespace core

namespace detail {

using Continue = void (*)(void* body, Status outcome) noexcept;

/// How large the function object of Event::then may be. Units: bytes.
inline constexpr std::size_t kContinuationBytes = 64;

Status then(Endpoint&, Event&, Continue run, const void* body, std::size_t bytes) noexcept;

/// A continuation in the caller's own memory, such as a coroutine's frame: it needs no record of the endpoint.
class Suspended {
 public:
  Suspended() noexcept = default;
  Suspended(const Suspended&) = delete;
  Suspended& operator=(const Suspended&) = delete;
  ~Suspended() {
    AQUEDUCT_EXPECT(!pending() || may_end(), "a coroutine was destroyed while it waits for an operation");
    if (pending()) end();
  }
  /// Takes the operation out of `event`. When it is over, progress calls run(who, outcome), once; the memory of this
  /// object may go in that call.
  ///
  /// Requires: `event` was not done when the caller looked.
  void begin(Event& event, Continue run, void* who) noexcept;

 private:
  friend class core::Continuations;
  void over() noexcept { record_ = nullptr; }
  bool pending() const noexcept { return record_ != nullptr; }
  bool may_end() const noexcept;
  void end() noexcept;

  static constexpr std::size_t kPlaceBytes = 256;
  core::Suspension* record_ = nullptr;  // in `place_`; null: not begun, or over
  alignas(std::uint64_t) std::byte place_[kPlaceBytes];
};

}  // namespace detail

/// Runs `body(Status)` once the operation is over, with its outcome. The Event is given up: it is finished afterwards.
///
/// The body runs on the thread that makes progress, after the handlers, in a later step: never inside this call, and
/// never inside the call that began the operation. Bodies run one after the other. A body may begin operations, send
/// requests and call `then`. The operations of `_nbi` forms in it belong to the implicit group, or to the group that
/// they name, even if a region is open.
///
/// A body must not wait for anything else. So it may not wait for an Event by name, for a group, a signal or a barrier,
/// nor make a blocking collective call: these return in_handler. A blocking put, get or atomic, and a call that waits for room,
/// wait for themselves only. They make progress meanwhile, in which handlers run, but no other continuation.
///
/// Shape:       `body` is trivially copyable and at most 64 bytes: larger state belongs to an object of the caller's, to
///              which the body points. Its exceptions end the program.
/// Lifetime:    what the body points to, until it has run. It never runs if the endpoint ends first.
/// Errors:      refused (AQUEDUCT_OPERATIONS Events and continuations are held; nothing has happened),
///              invalid_argument (an Event of another endpoint, or a forked child).
/// Cost:        a second record of 200 bytes of the endpoint's memory until the body has run; no allocation.
/// Threads:     as the endpoint.
template <class F>
Status Event::then(Endpoint& ep, F body) noexcept {
  static_assert(std::is_trivially_copyable_v<F> && std::is_trivially_destructible_v<F>,
                "a continuation is copied as bytes: let it point to an object of yours");
  static_assert(sizeof(F) <= detail::kContinuationBytes && alignof(F) <= alignof(std::uint64_t),
                "a continuation has at most 64 bytes: let it point to an object of yours");
  static_assert(std::is_invocable_v<F&, Status>, "a continuation is called as body(Status)");
  const detail::Continue run = [](void* what, Status outcome) noexcept {
    static_cast<void>((*static_cast<F*>(what))(outcome));
  };
  return detail::then(ep, *this, run, &body, sizeof body);
}

}  // namespace aqueduct
