#pragma once

#include <aqueduct/continuation.hpp>
#include <aqueduct/endpoint.hpp>
#include <aqueduct/event.hpp>

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace aqueduct {

// A coroutine that returns a Task may write `co_await` before an Event: it is suspended until the operation is over,
// and other tasks go on meanwhile. So straight-line code keeps many operations in flight:
//
//   Task<> visit(Endpoint& me, GlobalPtr<Node> at) {
//     Node node;
//     while (at) {
//       if (Status read = co_await get_nb(me, std::span(&node, 1), at); !read) co_return;
//       at = node.next;
//     }
//   }
//
// A suspended task continues as a continuation does (continuation.hpp): on the thread that makes progress, after the
// handlers, where it may begin operations but must not wait for anything but `co_await`.
//
// Lifetime: a task that waits for an operation must not be destroyed: otherwise a checked build ends the program, and a
//           release build lets the operation finish unobserved.
// Cost:     the coroutine's frame, in which each co_await of an Event takes 280 bytes. Nothing else is allocated.

template <class T = void>
class Task;

namespace detail {

/// Waits for an Event inside a coroutine. The result of the co_await is the Status of the operation.
class EventAwaiter {
 public:
  explicit EventAwaiter(Event& event) noexcept : event_(event) {}

  bool await_ready() const noexcept { return event_.done(); }
  void await_suspend(std::coroutine_handle<> who) noexcept {
    who_ = who;
    suspended_.begin(event_, resume, this);
  }
  Status await_resume() noexcept { return event_.status(); }

 private:
  static void resume(void* self, Status outcome) noexcept {
    auto& awaiter = *static_cast<EventAwaiter*>(self);
    awaiter.event_ = Event(outcome);
    awaiter.who_.resume();
  }

  Event& event_;
  std::coroutine_handle<> who_;
  Suspended suspended_;
};

/// What the promises of all tasks have: who waits for the task, and the exception that ended it.
class TaskPromiseBase {
 public:
  std::suspend_always initial_suspend() noexcept { return {}; }
  auto final_suspend() noexcept { return FinalAwaiter{}; }
  void unhandled_exception() noexcept { thrown_ = std::current_exception(); }

  void continue_with(std::coroutine_handle<> waiting) noexcept { waiting_ = waiting; }
  /// Says that who waits is suspended. False: the task has ended already, and nobody will resume who waits.
  bool is_waited_for() noexcept {
    return stage_.exchange(Stage::waited_for, std::memory_order_acq_rel) != Stage::ended;
  }
  void rethrow() {
    if (thrown_ != nullptr) std::rethrow_exception(std::exchange(thrown_, nullptr));
  }

 private:
  enum class Stage : std::uint8_t { begun, waited_for, ended };
  /// Resumes the task that waits for this one, if it is suspended yet. An optimising compiler does not deepen the stack for that.
  struct FinalAwaiter {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) noexcept {
      TaskPromiseBase& promise = ended.promise();
      const std::coroutine_handle<> waiting = promise.waiting_;
      const Stage before = promise.stage_.exchange(Stage::ended, std::memory_order_acq_rel);
      return before == Stage::waited_for ? waiting : std::noop_coroutine();
    }
    void await_resume() const noexcept {}
  };

  std::coroutine_handle<> waiting_;
  std::exception_ptr thrown_;
  std::atomic<Stage> stage_{Stage::begun};
};

template <class T>
class TaskPromise final : public TaskPromiseBase {
 public:
  Task<T> get_return_object() noexcept;
  template <class U>
    requires std::is_convertible_v<U&&, T>
  void return_value(U&& value) noexcept(std::is_nothrow_constructible_v<T, U&&>) {
    value_.emplace(std::forward<U>(value));
  }
  T take() {
    rethrow();
    return std::move(*value_);
  }

 private:
  std::optional<T> value_;
};

template <>
class TaskPromise<void> final : public TaskPromiseBase {
 public:
  Task<void> get_return_object() noexcept;
  void return_void() const noexcept {}
  void take() { rethrow(); }
};

/// Calls `begin`, with the rules of a continuation, then makes progress until `left` returns 0.
/// Errors: in_handler, invalid_argument (in a forked child); nothing was begun then.
Status run_tasks(Endpoint&, void (*begin)(void* tasks) noexcept, std::size_t (*left)(void* tasks) noexcept,
                 void* tasks) noexcept;

}  // namespace detail

/// The calls of a coroutine, which `run` or a co_await in another task begins. Move-only.
///
/// A co_await of a task runs it, and gives what it returns. An exception that leaves the task is thrown again there, or
/// by `run`.
///
/// Threads: as the endpoint whose operations it waits for.
template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::TaskPromise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  Task() noexcept = default;
  explicit Task(Handle handle) noexcept : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      if (handle_) handle_.destroy();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  /// Whether it has ended, or there is none.
  bool done() const noexcept { return !handle_ || handle_.done(); }

  /// For co_await: begins the task, and continues the caller when it has ended. Each level of tasks that wait for one another
  /// takes stack until the innermost one has begun to wait: some ten thousand fit. Requires: there is one, or T is void.
  auto operator co_await() && noexcept {
    struct Awaiter {
      Handle task;
      bool await_ready() const noexcept { return !task || task.done(); }
      // If the task ends at once, the caller goes on from here: whatever the compiler makes of a resumption, a loop of such
      // tasks does not deepen the stack.
      bool await_suspend(std::coroutine_handle<> caller) const noexcept {
        promise_type& promise = task.promise();
        promise.continue_with(caller);
        task.resume();
        return promise.is_waited_for();
      }
      T await_resume() const {
        if constexpr (std::is_void_v<T>) {
          if (!task) return;
        }
        return task.promise().take();
      }
    };
    return Awaiter{handle_};
  }

  /// For `run` only.
  Handle handle() const noexcept { return handle_; }

 private:
  Handle handle_ = nullptr;
};

namespace detail {

template <class T>
Task<T> TaskPromise<T>::get_return_object() noexcept {
  return Task<T>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}
inline Task<void> TaskPromise<void>::get_return_object() noexcept {
  return Task<void>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}

}  // namespace detail

/// Waits for the operation inside a coroutine, without blocking the thread. The result is the operation's Status.
///
/// Completion: that of the operation. A finished Event does not suspend the coroutine.
/// Errors:     those of the operation. In a forked child the coroutine does not continue, and `run` fails.
inline auto operator co_await(Event& event) noexcept { return detail::EventAwaiter(event); }
inline auto operator co_await(Event&& event) noexcept { return detail::EventAwaiter(event); }

/// Begins all tasks, in order, and makes progress until they have ended.
///
/// Waits as Endpoint::wait does: it sleeps when nothing arrives, and reports stalls. A lost peer ends the operations
/// that tasks wait for, so these continue, with peer_lost. With Threads::multiple the tasks begin when no continuation of
/// another thread is under way.
///
/// Shape:   no task has begun.
/// Errors:  in_handler, invalid_argument (a forked child); no task has begun then. Throws the exception of the first
///          task, by index, that an exception ended; all tasks have ended then.
/// Threads: as the endpoint.
inline Status run(Endpoint& ep, std::span<Task<void>> tasks) {
  struct All {
    std::span<Task<void>> tasks;
    std::size_t ended = 0;  // the first ones, as far as `left` has looked
  } all{tasks};
  const auto begin = [](void* what) noexcept {
    for (Task<void>& task : static_cast<All*>(what)->tasks) {
      if (!task.done()) task.handle().resume();
    }
  };
  const auto left = [](void* what) noexcept {
    All& those = *static_cast<All*>(what);
    while (those.ended != those.tasks.size() && those.tasks[those.ended].done()) ++those.ended;
    return those.tasks.size() - those.ended;
  };
  if (const Status status = detail::run_tasks(ep, begin, left, &all); !status) return status;
  for (Task<void>& task : tasks) {
    if (task.handle()) task.handle().promise().take();
  }
  return {};
}

/// As `run` of several, for one task. Returns what the task returns.
inline Status run(Endpoint& ep, Task<void> task) { return run(ep, std::span(&task, 1)); }
template <class T>
  requires(!std::is_void_v<T>)
Result<T> run(Endpoint& ep, Task<T> task) {
  std::optional<T> value;
  const auto outer = [](Task<T> inner, std::optional<T>& result) -> Task<void> {
    result.emplace(co_await std::move(inner));
  };
  if (const Status status = run(ep, outer(std::move(task), value)); !status) return status;
  return std::move(*value);
}

}  // namespace aqueduct
