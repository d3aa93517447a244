#pragma once

#include "core/clock.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace aqueduct::core {

/// How an endpoint's waits behave. Some of it is learned; the rest is set when the job starts.
struct Pacing {
  std::chrono::nanoseconds spin_at_most{20'000};  ///< set by spin_for
  std::chrono::nanoseconds yield_at_most{1'000'000};
  std::chrono::nanoseconds stall_warn{10'000'000'000};
  std::uint32_t spins = 1000;                        ///< checks before a wait gives up the core; learned
  std::uint32_t fewest = kFewestSpins;               ///< lower limit of `spins`
  static constexpr std::uint32_t kFewestSpins = 16;  // chosen: some 0.2 us
  /// The lower limit if each rank can have a core of its own. It is longer than the answer of a running rank takes. A
  /// rank that yields earlier, to another program's thread on its core, loses a whole time slice. Measured: a barrier
  /// then takes 2 ms instead of 0.3 us.
  static constexpr std::uint32_t kFewestWithCores = 300;  // some 4 us
  static constexpr std::uint32_t kMostSpins = 2000;       // chosen: some 20 us
  std::uint32_t most = kMostSpins;                        ///< upper limit of `spins`, and of `fewest`
  /// Holds what a wait spins to so long a time, even if that is less than `fewest`.
  void spin_for(std::chrono::nanoseconds time) noexcept {
    constexpr std::int64_t kSpin = 10;            // ns; as kMostSpins
    constexpr std::int64_t kLongest = 1'000'000;  // chosen: some 10 ms
    spin_at_most = time;
    most = static_cast<std::uint32_t>(std::min(time.count() / kSpin, kLongest));
    spins = std::min(spins, most);
  }
  /// Learned. Above 0: yields cost time slices lately, so a wait spins longer before it yields, this many more times in
  /// vain. Below 0: that did not help, so as many waits do without it.
  int long_spins = 0;
  /// Learned, with more ranks than cores: a yield cost a time slice, which a rank that sleeps until it is woken does not
  /// pay. So until then waits sleep where they would yield. After it they yield again, to see.
  Clock::time_point sleeps_until{};
  /// Learned: for how long they do that: four times as long as before if a yield within `kSoon` after it costs a slice
  /// again. So a short disturbance costs sleeps, which take several times as long as yields, for one to three times as long
  /// as it has lasted.
  std::chrono::nanoseconds spell{0};
  static constexpr std::chrono::nanoseconds kShortestSpell{2'000'000};
  // Chosen: slices of 4 ms lost between such spells are 2 %.
  static constexpr std::chrono::nanoseconds kLongestSpell{256'000'000};
  // Measured: with 2 ms, 16 ranks beside two busy threads yield in vain several times as often. With 20 ms, a thread that
  // is busy for 4 of 20 ms keeps 4 ranks at sleeps all the time, which then take two to three times as long as yields.
  static constexpr std::chrono::nanoseconds kSoon{8'000'000};
  /// Each conduit can be slept on. Two that cannot be slept on together nap all the same, 0.1 ms at a time.
  bool arrivals_wake = false;
  /// A yield that takes longer has cost a time slice of another program. Ranks that wait give the core back after some
  /// microseconds, but each may have something to do first, and those that sleep are woken one after the other.
  std::chrono::nanoseconds slice{1'000'000};
  /// Ranks for each processor of the host, rounded up.
  std::uint64_t ranks_of_core = 1;
  /// With more ranks for each processor, waits do not sleep early: a yield to all of them takes as long as a slice, and to
  /// wake them all takes longer still. Measured with 64 ranks on 2 processors: early sleeps make a collective operation
  /// six times as slow on a quiet machine, and no faster beside two busy threads.
  static constexpr std::uint64_t kMostThatSleep = 16;
  /// Chosen likewise: with 0, 32 ranks slept in every run.
  static constexpr std::chrono::nanoseconds kTurn{150'000};
  void share_core(std::uint64_t ranks) noexcept {
    ranks_of_core = ranks;
    if (ranks > 1) slice += std::min(ranks, kMostThatSleep) * kTurn;
  }
  bool may_do_without_yields() const noexcept {
    return arrivals_wake && fewest < kFewestWithCores && ranks_of_core <= kMostThatSleep;
  }
  std::uint32_t look = 1;  ///< what a check counts
  /// Of a rank whose check asks the kernel or a library for arrivals. Chosen: with udp it is a system call.
  static constexpr std::uint32_t kNetworkLook = 16;
  static constexpr int kVainSpins = 4;     // chosen
  static constexpr int kWithoutThem = 64;  // chosen: so that ranks on one core cannot keep each other at it
};

/// How many threads of this process can run at once.
int available_cores() noexcept;

/// How all waiting is done: check again at once (spin), then yield the core, then sleep.
///
/// With more ranks than cores, the peer may need this very core, and spinning keeps
/// it from running. With a core for each rank, every pause costs latency. So a wait
/// spins for as many checks as have lately been enough, and yields after that.
///
/// Beside another program's busy thread a yield costs a time slice of 3 to 4 ms. With a core for each rank, the
/// peer may only be waking up, which takes 0.1 ms, so a wait then spins that long first. With more ranks than cores it
/// sleeps at once: a thread that is woken gets the core before the busy thread, one that yields gets it after.
class Backoff {
 public:
  enum class Step : std::uint8_t { again, yielded, sleep };

  /// `clock` must outlive the object.
  Backoff(Pacing& pacing, const EndpointClock& clock) noexcept : pacing_(pacing), clock_(clock) {}
  /// The wait has ended. Learns: changes `pacing.spins` according
  /// to how soon it ended, and whether others used the core.
  ~Backoff();
  Backoff(const Backoff&) = delete;
  Backoff& operator=(const Backoff&) = delete;

  /// How many more a check counts that also lets layers go on: it takes longer than one that only looks for arrivals.
  /// Chosen.
  static constexpr std::uint32_t kLayersLook = 8;

  /// Called after each check that failed. Says what the caller does next: check again, or sleep.
  /// `more`: what the check has done besides. `is_woken`: what it waits for ends a sleep.
  Step next(std::uint32_t more = 0, bool is_woken = false) noexcept {
    if ((looks_ += pacing_.look + more) <= pacing_.spins) {
      if (looks_ > kEager) relax();
      return Step::again;
    }
    return give_way(is_woken);
  }
  /// Whether the next step only spins, after a check that does nothing besides: it neither yields nor sleeps.
  bool spins_next() const noexcept { return looks_ + pacing_.look <= pacing_.spins; }
  /// Something else arrived. Spins and yields anew, since more may follow soon: what takes several messages would
  /// otherwise sleep before each further one once it has lasted for `yield_at_most`. A wait that lasts long has nothing to
  /// do with what arrives, and sleeps.
  void restart() noexcept {
    looks_ = 0;
    if (timed_ && began_ - first_ < kRenewedFor) timed_ = false;
  }
  /// What arrived has let an operation of several steps go on, however long that takes.
  void restart_after_step() noexcept {
    looks_ = 0;
    timed_ = false;
  }

 private:
  static constexpr std::uint32_t kEager = 64;  // chosen: checks without a pause instruction
  // Chosen: longer than any operation waits for its next message while its peers run.
  static constexpr std::chrono::nanoseconds kRenewedFor{1'000'000'000};

  static void relax() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
  }
  Step give_way(bool is_woken) noexcept;
  void learn_long_spins() noexcept;
  void learn_to_sleep(Clock::time_point yielded, Clock::time_point back) noexcept;

  Pacing& pacing_;
  const EndpointClock& clock_;
  std::uint32_t looks_ = 0;
  bool timed_ = false;  ///< it has given way since the last restart: `began_` is when
  bool yielded_ = false;
  bool slept_at_once_ = false;  ///< where it would have yielded
  bool others_ran_ = false;     ///< another thread ran when this one yielded
  bool lost_slice_ = false;     ///< it ran for as long as a time slice
  Clock::time_point began_{};
  Clock::time_point first_{};  ///< when it first gave way
};

}  // namespace aqueduct::core
