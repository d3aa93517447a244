#pragma once

// Programs on stacks of their own, which take turns in one thread.

#include <ucontext.h>

#include <csetjmp>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <utility>

namespace aqueduct::coll::model {

// swapcontext asks the system for the mask of signals at each switch, which takes four fifths of a search's time. A jump does not.
// Sanitizers keep account of stacks at the one and misread the other, as do checks of the C library.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(_FORTIFY_SOURCE)
inline constexpr bool kJumps = false;
#elif defined(__has_feature)
inline constexpr bool kJumps = !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
inline constexpr bool kJumps = true;
#endif

/// A program that runs, or where one that has stopped goes on. Stays where it is while it is used.
class Turn {
 public:
  /// `main` will run on a stack of its own, and when it is over, `after` goes on.
  void begin(std::size_t stack_bytes, std::function<void()> main, Turn& after) {
    stack_ = std::make_unique_for_overwrite<std::byte[]>(stack_bytes);
    main_ = std::move(main);
    after_ = &after;
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack_.get();
    context_.uc_stack.ss_size = stack_bytes;
    context_.uc_link = &after.context_;
    makecontext(&context_, &Turn::run, 0);
    is_new_ = true;
  }

  /// This one, which runs, stops, and `to` goes on. Returns when this one goes on.
  void pass_to(Turn& to) {
    if (to.is_new_) the_new() = &to;
    if (!kJumps) {
      to.is_new_ = false;
      swapcontext(&context_, &to.context_);
    } else if (_setjmp(here_) == 0) {
      to.go_on();
    }
  }

 private:
  [[noreturn]] void go_on() {
    if (!std::exchange(is_new_, false)) _longjmp(here_, 1);
    setcontext(&context_);
    std::terminate();  // only if there is no memory for a stack
  }
  static Turn*& the_new() {
    static Turn* turn = nullptr;
    return turn;
  }
  static void run() {
    Turn& me = *the_new();
    me.main_();
    if (kJumps) me.after_->go_on();
  }

  ucontext_t context_{};
  std::jmp_buf here_{};
  std::unique_ptr<std::byte[]> stack_;
  std::function<void()> main_;
  Turn* after_ = nullptr;
  bool is_new_ = false;
};

}  // namespace aqueduct::coll::model
