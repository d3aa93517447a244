#pragma once

#include <aqueduct/threads.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace aqueduct::core {

/// Guards an endpoint that several threads use: a recursive lock, and the order in which several waits share the polls.
///
/// The lock. A thread holds it from the beginning of a call to its end; handlers run under it. A wait lets go of it
/// between looks, whenever another thread wants it, and while it yields or sleeps. So every change of the endpoint's
/// state, and every look at it, happens under the lock.
///
/// The turn. One of the waiting threads polls for all: it has the turn. The others follow: they watch `news()`, which a
/// poll that found something changes, and sleep on it after a while. A thread that leaves a wait with the turn wakes a follower,
/// which takes the turn or passes it on.
///
/// Handlers outside. A handler may run without the lock (HandlerOutside, core/handler_queue.hpp). The rules for handlers
/// then hold for its thread alone: its calls find the flags set by which other code knows that it is in a handler.
///
/// docs/threading.md has the argument why no wake-up is missed.
///
/// Threads: any, as each function says.
class Guard {
 public:
  explicit Guard(Threads threads) noexcept;
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  Threads threads() const noexcept { return threads_; }
  /// Whether calls must enter and leave.
  bool guards() const noexcept { return guards_; }
  /// Whether several threads may be in calls at once.
  bool shared() const noexcept { return threads_ == Threads::multiple; }
  /// Whether this thread is in a call, so that the endpoint's state does not change under it.
  bool is_mine() const noexcept;

  /// Takes the lock; a thread that has it already only counts.
  void enter() noexcept;
  /// Undoes one `enter`. The last one frees the lock, and wakes the poller if it sleeps: this call may have changed what
  /// the poller waits for, or begun an operation that needs polls.
  void leave() noexcept;

  /// From now on handlers may run outside the lock. While a thread that runs one is in a call, both flags are true, as they
  /// are for a handler under the lock. Requires: the lock.
  void let_handlers_out(bool& polling, bool& in_handler) noexcept {
    polling_ = &polling;
    in_handler_ = &in_handler;
  }
  /// Whether this thread runs a handler outside the lock. Does not need the lock.
  bool runs_handler_outside() const noexcept;

  // The following are for waits in shared mode. This thread has the lock.

  enum class Why : std::uint8_t {
    begins_to_wait,  ///< as a call that ends: wakes a sleeping poller
    looks_again,     ///< nothing has changed: lets it sleep
    sleeps,          ///< this thread is the poller and goes to sleep on the conduits and on `bell`
  };
  /// Frees the lock, however often this thread has entered. Returns what `take_back` needs.
  std::uint32_t let_go(Why why) noexcept;
  void take_back(std::uint32_t depth) noexcept;
  /// The same in a forked child, whose only thread this is: another one may have had the lock at the fork.
  void seize(std::uint32_t depth) noexcept;
  /// Lets a thread in that waits for the lock, if there is one. A look at one word if there is none.
  void give_way() noexcept {
    if (wanted_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      give_way_slowly();
  }

  /// Takes the turn. False: another thread has it.
  bool take_turn() noexcept;
  /// The wait ends. If no other thread has the turn, a follower is woken to take it.
  void end_turn() noexcept;
  /// The poller was woken by another thread's call since the last question.
  bool was_rung() noexcept;
  /// Wakes the poller if it sleeps: this thread has changed something, but its call goes on.
  void wake_poller() noexcept {
    if (takes_ring(true)) [[unlikely]]
      ring_bell();
  }
  /// A descriptor that `leave` makes readable while the poller sleeps; -1 if there is none.
  int bell() const noexcept { return bell_; }

  /// A number that changes when a follower should look again. Any thread.
  std::uint32_t news() const noexcept { return news_.load(std::memory_order_acquire); }
  /// Counts the followers. Followers count themselves before they let go of the lock.
  void follow(bool begins) noexcept { followers_ += begins ? 1u : -1u; }
  bool has_followers() const noexcept { return followers_ != 0; }
  /// Something that a follower may wait for has changed: all look again.
  void changed() noexcept {
    if (followers_ != 0) [[unlikely]]
      tell(true);
  }
  /// Sleeps until `news()` is not `seen` any more, or `limit` has passed. Without the lock.
  void sleep_until_news(std::uint32_t seen, std::chrono::nanoseconds limit) noexcept;

 private:
  using Thread = const void*;

  void enter_slowly(Thread me) noexcept;
  void free(bool ring) noexcept;
  /// Whether the caller must ring the bell: the poller sleeps, and nobody has rung yet.
  bool takes_ring(bool ring) noexcept {
    if (!ring || !asleep_) return false;
    asleep_ = false;
    rung_ = true;
    return true;
  }
  void ring_bell() const noexcept;
  void give_way_slowly() noexcept;
  void yield_to_others() const noexcept;
  void tell(bool all) noexcept;

  const Threads threads_;
  const bool guards_;
  int bell_ = -1;

  alignas(64) std::atomic<Thread> owner_{nullptr};
  std::atomic<std::uint32_t> wanted_{0};  ///< number of threads that wait for the lock
  // Under the lock.
  std::uint32_t depth_ = 0;
  std::uint32_t passed_by_ = 0;  ///< how often the lock was freed while a thread waited for it
  std::uint32_t followers_ = 0;
  Thread turn_ = nullptr;  ///< the thread that polls for all
  bool asleep_ = false;    ///< it sleeps, and a call must wake it
  bool rung_ = false;
  bool* polling_ = nullptr;  ///< with `in_handler_`: what let_handlers_out was given; null before
  bool* in_handler_ = nullptr;

  alignas(64) std::atomic<std::uint32_t> news_{0};
  std::atomic<std::uint32_t> sleepers_{0};  ///< followers that sleep or are about to
};

/// Lets other threads in for as long as it lives.
class OthersIn {
 public:
  OthersIn(Guard& guard, Guard::Why why) noexcept : guard_(guard), depth_(guard.let_go(why)) {}
  ~OthersIn() { guard_.take_back(depth_); }
  OthersIn(const OthersIn&) = delete;
  OthersIn& operator=(const OthersIn&) = delete;

 private:
  Guard& guard_;
  std::uint32_t depth_;
};

/// For as long as it lives, this thread runs a handler of the guard's endpoint outside the lock.
class HandlerOutside {
 public:
  explicit HandlerOutside(const Guard& guard) noexcept;
  ~HandlerOutside();
  HandlerOutside(const HandlerOutside&) = delete;
  HandlerOutside& operator=(const HandlerOutside&) = delete;

 private:
  friend class Guard;
  const Guard& guard_;
  const HandlerOutside* const outer_;  ///< a handler may use another endpoint, and run a handler of that one
};

}  // namespace aqueduct::core
