#pragma once

#include <aqueduct/am_raw.hpp>
#include <aqueduct/job.hpp>
#include <aqueduct/rma.hpp>
#include <aqueduct/team.hpp>
#include <aqueduct/wait_on.hpp>

#include "tests/layer/heap.hpp"
#include "tests/layer/report.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace aqueduct::layer {

/// A processing element, as OpenSHMEM calls a rank: what every part of the program works with.
struct Pe {
  Pe(Job& its_job, Endpoint& its_endpoint)
      : job(its_job),
        ep(its_endpoint),
        report(job, ep.rank()),
        heap(ep, report, kHeapBytes),
        messages(report.need(HandlerSpace::create(ep, "layer"), "create the handler space")) {}
  Pe(const Pe&) = delete;
  Pe& operator=(const Pe&) = delete;

  Rank me() const { return ep.rank(); }
  Rank ranks() const { return ep.ranks(); }
  Rank next() const { return (me() + 1) % ranks(); }
  Rank previous() const { return (me() + ranks() - 1) % ranks(); }

  /// Completes the implicit operations of this rank.
  void quiet() { report.need(ep.wait_implicit(), "quiet"); }
  /// Completes them, and waits for all ranks.
  void barrier() {
    quiet();
    report.need(ep.barrier(), "barrier of all ranks");
  }
  template <class T>
  void wait_on(T& word, Comparison how, std::type_identity_t<T> value, const char* what) {
    report.need(aqueduct::wait_on(ep, word, how, value, kPatience), what);
  }
  template <class Predicate>
  void wait_until(Predicate predicate, const char* what) {
    report.need(ep.wait_until(predicate, kPatience), what);
  }

  /// Far longer than any wait takes, so that a lost wake-up or word is reported with its name.
  static constexpr std::chrono::seconds kPatience{20};
  static constexpr std::size_t kHeapBytes = 4 << 20;

  Job& job;
  Endpoint& ep;
  Report report;
  Heap heap;
  HandlerSpace messages;
};

/// A word that other ranks write, by an acquire load.
template <class T>
T seen(T& word) {
  return std::atomic_ref<T>(word).load(std::memory_order_acquire);
}

/// Byte `index` of what a rank writes.
inline std::byte pattern(Rank writer, std::size_t index) {
  return static_cast<std::byte>(writer * 37 + index * 7 + (index >> 8) + 1);
}
inline void fill_pattern(std::span<std::byte> bytes, Rank writer) {
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = pattern(writer, i);
}

}  // namespace aqueduct::layer
