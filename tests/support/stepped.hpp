#pragma once

#include <csignal>
#include <cstddef>
#include <cstring>
#include <functional>

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#if defined(__has_feature)
#if !__has_feature(thread_sanitizer)
#define AQUEDUCT_TEST_CAN_STEP
#endif
#else
#define AQUEDUCT_TEST_CAN_STEP
#endif
#endif

namespace aqueduct::support {

/// Runs code one instruction at a time on this thread, and lets a simulated neighbour look at memory after each one:
/// an interleaving that two processors produce once in many thousand runs is tried at every instruction.
class Stepped {
 public:
  /// Called after each instruction, in a signal handler: it may only access memory.
  using Look = std::function<void()>;

  /// Whether this build and machine can.
  static bool possible() {
#ifdef AQUEDUCT_TEST_CAN_STEP
    volatile int steps = 0;
    run([&steps] { steps = steps + 1; }, [] {});
    return steps_ > 0;
#else
    return false;
#endif
  }

  /// Runs `body`, and calls `look` after each of its instructions.
  template <class Body>
  static void run(const Body& body, const Look& look) {
#ifdef AQUEDUCT_TEST_CAN_STEP
    struct sigaction mine {};
    struct sigaction before {};
    mine.sa_handler = [](int) {
      steps_ = steps_ + 1;
      (*look_)();
    };
    steps_ = 0;
    look_ = &look;
    ::sigaction(SIGTRAP, &mine, &before);
    // Sets the processor's trap flag, with the stack pointer below the red zone, which the compiler may use.
    asm volatile("lea -128(%%rsp), %%rsp; pushfq; orq $0x100, (%%rsp); popfq; lea 128(%%rsp), %%rsp" ::
                     : "memory", "cc");
    body();
    asm volatile("lea -128(%%rsp), %%rsp; pushfq; andq $~0x100, (%%rsp); popfq; lea 128(%%rsp), %%rsp" ::
                     : "memory", "cc");
    ::sigaction(SIGTRAP, &before, nullptr);
#else
    static_cast<void>(look);
    body();
#endif
  }

  /// Counts how often `body` stores `bytes` bytes equal to `value` at `place`. The bytes are overwritten each time
  /// they are found there, as the next rank in turn would do. A value that is never there as a whole is not counted.
  template <class Body>
  static int count_stores(void* place, const void* value, std::size_t bytes, const Body& body) {
    int stores = 0;
    run(body, [&] {
      if (std::memcmp(place, value, bytes) != 0) return;
      ++stores;
      std::memset(place, 0xee, bytes);
    });
    return stores;
  }

 private:
  static inline volatile long steps_ = 0;
  static inline const Look* look_ = nullptr;
};

}  // namespace aqueduct::support
