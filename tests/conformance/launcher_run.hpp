#pragma once

#include "tests/conformance/fabric_test.hpp"

#include <string>

namespace aqueduct::conformance {

// With --launcher, the kit does not fork the ranks of a launch: a launcher starts them, perhaps on other hosts. Each of
// its processes is this program again, with the option --as-rank: it runs the same case, up to the same launch, as one of
// the ranks. So a body may use everything that its case has prepared, as in a forked child.

/// Runs launch `number` (from 1) of the current case by the launcher, and reports the failures of all ranks. Ends the
/// launcher when the fabric's time limit is over.
void run_by_launcher(const Fabric& fabric, const Launch& launch, const std::string& where, int number);

/// In a process that the launcher has started: runs the launch as one of its ranks. Returns the exit code.
int run_as_rank(const Fabric& fabric, const Launch& launch, const Body& body, const std::string& where);

/// In such a process: sends what GoogleTest finds to the kit instead of printing it.
class TellingListener : public testing::EmptyTestEventListener {
 public:
  void OnTestPartResult(const testing::TestPartResult& result) override;
  bool has_told() const noexcept { return has_told_; }

 private:
  bool has_told_ = false;
};

/// The launcher's command line with `ranks` in the place of {ranks}.
std::string with_ranks(std::string launcher, Rank ranks);
inline constexpr const char* kRanksPlace = "{ranks}";

}  // namespace aqueduct::conformance
