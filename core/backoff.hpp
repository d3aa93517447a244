#pragma once

#include "core/clock.hpp"

#include <chrono>
#include <cstdint>

namespace aqueduct::core {

/// How an endpoint's waits behave; the spinning part adapts to what pays here.
struct Pacing {
  std::chrono::nanoseconds spin_at_most{20'000};
  std::chrono::nanoseconds yield_at_most{1'000'000};
  std::chrono::nanoseconds stall_warn{10'000'000'000};
  std::uint32_t spins = 1000;                        ///< looks before a wait gives up the core; learned
  std::uint32_t fewest = kFewestSpins;               ///< it never learns to look less often
  static constexpr std::uint32_t kFewestSpins = 16;  // chosen: some 0.2 us
  /// Where each rank can have a core: longer than any answer from a rank that runs takes. Whoever yields earlier to a
  /// stranger on its core gives away a whole time slice, as measured: 2 ms a barrier instead of 0.3 us.
  static constexpr std::uint32_t kFewestWithCores = 300;  // some 4 us
  static constexpr std::uint32_t kMostSpins = 2000;       // chosen: about spin_at_most
};

/// How many threads of this process can run at once.
int available_cores() noexcept;

/// The one way of waiting: look again at once; then give the core to whoever can use it; then sleep.
///
/// With more ranks than cores the peer that is waited for may need this very core, and each look costs it a time
/// slice; with a core each, every pause costs latency. So a wait spins as long as that has lately been long
/// enough, and yields otherwise.
class Backoff {
 public:
  enum class Step : std::uint8_t { again, yielded, sleep };

  explicit Backoff(Pacing& pacing, const EndpointClock& clock = kSystemClock) noexcept
      : pacing_(pacing), clock_(clock) {}
  /// What was waited for has come: learns from how.
  ~Backoff();
  Backoff(const Backoff&) = delete;
  Backoff& operator=(const Backoff&) = delete;

  /// Called after each look that found nothing.
  Step next() noexcept {
    if (++looks_ <= pacing_.spins) {
      if (looks_ > kEager) relax();
      return Step::again;
    }
    return give_way();
  }
  /// Something arrived, though not what is waited for: starts again, without learning.
  void restart() noexcept { looks_ = 0; }

 private:
  static constexpr std::uint32_t kEager = 64;  // chosen: looks without a pause instruction

  static void relax() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
  }
  Step give_way() noexcept;

  Pacing& pacing_;
  const EndpointClock& clock_;
  std::uint32_t looks_ = 0;
  bool timed_ = false;
  bool others_ran_ = false;  ///< giving up the core let somebody else run
  Clock::time_point began_{};
};

}  // namespace aqueduct::core
