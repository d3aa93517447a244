#pragma once

#include <aqueduct/rank.hpp>

#include "conduits/sim/sim_options.hpp"
#include "core/clock.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>

namespace aqueduct::conduits::sim {

inline constexpr Picoseconds kNever = std::numeric_limits<Picoseconds>::max();

/// What happens in the network by itself, in the order of time.
class Events {
 public:
  /// The time of the next event; kNever if there is none.
  virtual Picoseconds next() const noexcept = 0;
  /// Carries out the next event.
  virtual void happen() noexcept = 0;

 protected:
  ~Events() = default;
};

/// The virtual time of a job, and which of its ranks runs.
///
/// A rank has a time of its own, that of its processor. One rank runs at a time. Its time stands still while it computes,
/// and goes on only when it parks: until a time, or until there is news for it. Then the next in virtual time follows: an
/// event of the network, or the rank that wakes first, of several the one with the lowest number. So time goes on only
/// when all ranks wait, and with the same program every run is the same, whatever the system does with the threads.
///
/// That requires that each rank is used by one thread, that the program depends on nothing else (real clocks, threads that
/// wait for each other outside the library), and that `passed_over()` is 0.
///
/// A rank whose thread stays away for `patience` of real time is passed over until it uses the network again, so that
/// nothing hangs: it may compute for long, or wait for something else. Meanwhile time goes on slowly. A rank whose thread
/// has ended delays nobody.
///
/// Threads: a rank belongs to the thread that used it last. Ranks of one thread share its turn.
class VirtualTime {
 public:
  using Lock = std::unique_lock<std::mutex>;

  VirtualTime(Rank ranks, std::chrono::nanoseconds patience, core::EndpointClock real, Events& events)
      : patience_(patience), real_(real), events_(events), processors_(ranks) {}

  /// All that follows needs this lock, but `time_of`.
  std::mutex& mutex() noexcept { return mutex_; }
  Picoseconds time_of(Rank rank) const noexcept {
    return processors_[rank].time.load(std::memory_order_relaxed);
  }
  /// The latest moment that any rank or event has reached.
  Picoseconds now() const noexcept { return now_; }
  /// How often a rank was passed over.
  std::uint64_t passed_over() const noexcept { return passed_over_; }

  void open(Rank rank);
  void close(Rank rank) noexcept;
  /// Waits for the turn of this rank, at its own time.
  void enter(Lock& lock, Rank rank);
  /// Waits until the rank's time is `until`; if `by_news`, also until there is news for it. Others run meanwhile.
  /// Requires: the rank has its turn.
  void park(Lock& lock, Rank rank, Picoseconds until, bool by_news);
  /// Something has arrived for a rank, now.
  void news(Rank rank) noexcept;
  /// The rank has taken all that there is.
  void no_news(Rank rank) noexcept { processors_[rank].has_news = false; }
  bool has_news(Rank rank) const noexcept { return processors_[rank].has_news; }

 private:
  enum class State : std::uint8_t { closed, computing, parked, running };
  struct Processor {
    State state = State::closed;
    bool away = false;     ///< was passed over, and has not come back
    bool by_news = false;  ///< of parked: news wake it
    bool has_news = false;
    bool resumed = false;  ///< of running: its thread has noticed
    std::atomic<Picoseconds> time{kBeginning};
    Picoseconds wakes = 0;  ///< of parked
    std::thread::id thread;
    std::shared_ptr<const std::atomic<bool>> thread_lives;
    std::condition_variable resumes;
  };

  void note_thread(Processor& processor);
  bool holds_up(const Processor& processor) const noexcept;
  bool anybody_away() const noexcept;
  void choose(bool patiently) noexcept;
  void look_around() noexcept;

  const std::chrono::nanoseconds patience_;
  const core::EndpointClock real_;
  Events& events_;
  std::mutex mutex_;
  std::deque<Processor> processors_;
  Rank running_ = kNoRank;
  Picoseconds now_ = kBeginning;
  core::Clock::time_point since_{};  ///< real time: when something last went on
  std::uint64_t passed_over_ = 0;
};

}  // namespace aqueduct::conduits::sim
