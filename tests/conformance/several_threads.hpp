#pragma once

#include "tests/conformance/fabric_test.hpp"

#include <cstddef>
#include <thread>
#include <vector>

namespace aqueduct::conformance {

/// The base of suites in which several threads of each rank use its endpoint.
class SeveralThreads : public FabricTest {
 protected:
  void as_each_of(Rank ranks, std::size_t segment_bytes, const Body& body) {
    run({.ranks = ranks, .segment_bytes = segment_bytes, .settings = {{"threads", "multiple"}}}, body);
  }
};

/// Runs `body(0)` … `body(count - 1)`, each on a thread of its own.
template <class F>
void on_threads(std::size_t count, const F& body) {
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < count; ++t) threads.emplace_back([&body, t] { body(t); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace aqueduct::conformance
