#pragma once

#include "tests/fault/launch.hpp"
#include "tests/support/scratch_folder.hpp"

#include <memory>
#include <string>
#include <vector>

namespace aqueduct::fault {

/// A Slurm of this machine alone: munged, slurmctld and slurmd of the test's own, which end with it. Needs root.
class Slurm {
 public:
  /// Whether it can be had here; if not, why, for GTEST_SKIP.
  static bool usable(std::string& why);

  /// What goes wrong is a failure of the test, and in `problem`.
  Slurm();
  ~Slurm();
  Slurm(const Slurm&) = delete;
  Slurm& operator=(const Slurm&) = delete;

  const std::string& problem() const noexcept { return problem_; }
  /// What srun needs in its environment to find it.
  std::vector<std::string> variables() const;

 private:
  void write_files();
  /// Runs a command in this Slurm until it succeeds; false at the bound.
  bool comes_to_pass(const std::vector<std::string>& command);

  const support::ScratchFolder folder_;
  std::string problem_;
  std::vector<std::unique_ptr<Launch>> daemons_;  // ended in reverse order
};

}  // namespace aqueduct::fault
