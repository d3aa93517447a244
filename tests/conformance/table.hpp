#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace aqueduct::conformance {

/// Counts outcomes by suite and fabric while the kit runs, and prints them at the end:
///
///                       1      2
///     Put              10     10
///     LostPeer        6 ~      6     ~ skipped
///     Signals           8    7 1!    ! failed
///     1 loop-bare   2 smp-processes
///     203 passed, 1 failed, 6 skipped
class Table : public testing::EmptyTestEventListener {
 public:
  void OnTestEnd(const testing::TestInfo& test) override;
  std::string text() const;
  bool is_empty() const noexcept { return cells_.empty(); }
  bool all_passed() const noexcept { return total_.failed == 0 && total_.passed > 0; }

 private:
  struct Counts {
    int passed = 0;
    int failed = 0;
    int skipped = 0;
  };
  static std::string cell(const Counts& counts);

  std::vector<std::string> suites_;  // in the order of their first case
  std::vector<std::string> fabrics_;
  std::map<std::pair<std::string, std::string>, Counts> cells_;
  Counts total_;
};

}  // namespace aqueduct::conformance
