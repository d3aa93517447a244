#pragma once

#include "tests/fault/launch.hpp"
#include "tests/support/scratch_folder.hpp"

#include <memory>
#include <string>
#include <vector>

namespace aqueduct::fault {

/// A Slurm on this machine only: the test starts munged, slurmctld and slurmd, and ends them. Needs root.
class Slurm {
 public:
  /// Whether this machine can run it; if not, `why` is text for GTEST_SKIP.
  static bool usable(std::string& why);

  /// Errors are failures of the test, and are in `problem`.
  Slurm();
  ~Slurm();
  Slurm(const Slurm&) = delete;
  Slurm& operator=(const Slurm&) = delete;

  const std::string& problem() const noexcept { return problem_; }
  /// The environment variables with which srun finds it.
  std::vector<std::string> variables() const;

 private:
  void write_files();
  /// Repeats a command in this Slurm until it succeeds; false at the time limit.
  bool comes_to_pass(const std::vector<std::string>& command);

  const support::ScratchFolder folder_;
  std::string problem_;
  std::vector<std::unique_ptr<Launch>> daemons_;  // stopped in reverse order
};

}  // namespace aqueduct::fault
