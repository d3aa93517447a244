#pragma once

#include "tests/conformance/fabric_test.hpp"

#include <array>
#include <cstddef>

namespace aqueduct::conformance {

inline constexpr std::size_t kVisSegment = 64 * 1024;

/// The base of suites about transfers of pieces.
class VisTest : public FabricTest {
 protected:
  /// Runs a case once for each plan that the setting `vis_plan` can force.
  void with_each_plan(Rank ranks, std::size_t segment_bytes, const Body& body) {
    static constexpr std::array kPlans = {"auto", "direct", "pieces", "packed", "box", "native"};
    for (const char* plan : kPlans) {
      SCOPED_TRACE(plan);
      run({ranks, segment_bytes, {{"vis_plan", plan}}}, body);
    }
  }
};

}  // namespace aqueduct::conformance
