// Locks of many ranks: by compare-swap, and by a queue in which each rank waits on a word of its own.

#include <aqueduct/atomics.hpp>

#include "tests/layer/parts.hpp"

#include <chrono>

namespace aqueduct::layer {
namespace {

/// 0, or the holder's rank + 1, at rank 0.
class CompareSwapLock {
 public:
  explicit CompareSwapLock(Pe& pe) : pe_(pe), word_(pe.heap.allocate<std::uint64_t>().on(0)) {}

  bool try_lock() {
    const auto old = compare_swap(pe_.ep, word_, 0, std::uint64_t{pe_.me()} + 1);
    return pe_.report.need(old, "compare_swap of a lock") == 0;
  }
  void lock() {
    const auto until = std::chrono::steady_clock::now() + Pe::kPatience;
    while (!try_lock()) {
      if (std::chrono::steady_clock::now() > until)
        pe_.report.wrong("wait for a compare-swap lock: timed out");
      const Status idle = pe_.ep.progress_for(std::chrono::microseconds(50));  // chosen: a few round trips
      if (!idle) pe_.report.code(idle, ErrorCode::timed_out, "progress while the lock is taken");
    }
  }
  void unlock() {
    pe_.quiet();
    pe_.report.need(store(pe_.ep, word_, 0), "release a lock");
  }

 private:
  Pe& pe_;
  GlobalPtr<std::uint64_t> word_;
};

/// Each rank has a place in the queue. The tail, at rank 0, is the last waiting rank + 1; 0: nobody holds the lock.
///
/// Source: Mellor-Crummey and Scott, ACM Trans. Comput. Syst. 9(1), 1991.
class QueueLock {
 public:
  explicit QueueLock(Pe& pe)
      : pe_(pe),
        tail_(pe.heap.allocate<std::uint64_t>().on(0)),
        successor_(pe.heap.allocate<std::uint64_t>()),
        waits_(pe.heap.allocate<std::uint64_t>()) {}

  void lock() {
    std::atomic_ref(successor_[0]).store(0, std::memory_order_relaxed);
    std::atomic_ref(waits_[0]).store(1, std::memory_order_relaxed);
    // What I stored above is seen by the rank that finds me in the tail: it reads the tail by an atomic.
    const auto before = pe_.report.need(swap(pe_.ep, tail_, name()), "swap the tail of a queue");
    if (before == 0) return;
    tell(successor_.on(static_cast<Rank>(before - 1)), name());
    pe_.wait_on(waits_[0], Comparison::equal, 0, "wait for the predecessor's release");
  }
  void unlock() {
    pe_.quiet();
    if (seen(successor_[0]) == 0) {
      const auto last = compare_swap(pe_.ep, tail_, name(), 0);
      if (pe_.report.need(last, "leave the queue") == name()) return;
      pe_.wait_on(successor_[0], Comparison::not_equal, 0, "wait for the successor's name");
    }
    tell(waits_.on(static_cast<Rank>(seen(successor_[0]) - 1)), 0);
  }

 private:
  std::uint64_t name() const { return std::uint64_t{pe_.me()} + 1; }
  void tell(GlobalPtr<std::uint64_t> word, std::uint64_t value) {
    PutOptions options;
    options.notify = true;
    pe_.report.need(pe_.ep.wait(put_value_nb(pe_.ep, word, value, options)), "put to a queue's word");
  }

  Pe& pe_;
  GlobalPtr<std::uint64_t> tail_;
  Symmetric<std::uint64_t> successor_;
  Symmetric<std::uint64_t> waits_;
};

/// Under the lock, get, add, put is not disturbed.
template <class Lock>
void count_under(Pe& pe, const char* what) {
  constexpr std::uint64_t kTimes = 4;
  Lock lock(pe);
  const auto counter = pe.heap.allocate<std::uint64_t>();
  const auto at = counter.on(pe.ranks() - 1);
  pe.barrier();
  for (std::uint64_t i = 0; i < kTimes; ++i) {
    lock.lock();
    const std::uint64_t before = pe.report.need(get_value(pe.ep, at), "get the counter");
    pe.report.need(put_value_nbi(pe.ep, at, before + 1), "put the counter");
    lock.unlock();
  }
  pe.barrier();
  pe.report.equal<std::uint64_t>(pe.report.need(get_value(pe.ep, at), "get the counter"), kTimes * pe.ranks(),
                                 what);
}

}  // namespace

void locks(Pe& pe) {
  count_under<CompareSwapLock>(pe, "the counter under a compare-swap lock");
  count_under<QueueLock>(pe, "the counter under a queue lock");
}

}  // namespace aqueduct::layer
