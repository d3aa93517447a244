#pragma once

#include <aqueduct/aqueduct.hpp>

#include "tests/conformance/fabric.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace aqueduct::conformance {

/// What every rank of a launch runs.
///
/// If each rank is a process, ranks share no variables: what a body captures is copied.
/// Communicate through the library, or Shared.
using Body = std::function<void(Endpoint& me)>;

/// One job, from start to finish.
struct Launch {
  Rank ranks = 2;
  std::size_t segment_bytes = 4096;
  Settings settings = {};
  /// Ranks that exit or die on purpose. The `finish` of the others may then return peer_lost.
  std::vector<Rank> leaving = {};
};

/// Why a case is skipped with --brief.
inline constexpr const char* kShownInFull = "--brief: this does not depend on the conduit";

/// The base of every suite: runs bodies as ranks of the fabric that is the parameter.
///
/// Ranks always run in child processes, in as many as the fabric says. So a case that crashes or hangs
/// fails alone, within the fabric's time limit, and the next case runs. Failures in a child are
/// reported here with the child's file and line.
///
/// With --launcher a launcher starts the ranks, perhaps on other hosts. Each of its processes runs the case once more up
/// to its launch, so a case makes the same launches in each of them. Cases that use Shared, or whose ranks leave, are
/// skipped.
class FabricTest : public testing::TestWithParam<Fabric> {
 protected:
  /// Skips the case if the fabric is not available here.
  void SetUp() override;
  const Fabric& fabric() const { return GetParam(); }
  /// Skips the case if the fabric does not allow that many ranks.
  void as_each_of(Rank ranks, std::size_t segment_bytes, const Body& body) {
    run({ranks, segment_bytes}, body);
  }
  void run(const Launch& launch, const Body& body);
  /// Runs `body` in one child of this process that starts no job, for cases below the level of a job.
  void run_alone(const std::function<void(const Config&)>& body);
  /// The number of ranks for cases with many: 8, or as many as the fabric allows.
  Rank many() const { return fabric().most_ranks < 8 ? fabric().most_ranks : 8; }
  /// `times` repetitions, or a quarter of them with --brief.
  template <class N>
  N often(N times) const {
    return fabric().brief ? (times + 3) / 4 : times;
  }
  /// The sizes of teams for cases with teams of many sizes: 1 to `most`, or with --brief the least three and the largest.
  std::vector<Rank> team_sizes(Rank most) const;
  /// A seed for this case, derived from --seed and equal on every rank.
  std::uint64_t seed() const;

 private:
  std::string where() const;

  int launches_ = 0;  // of this case, so far
};

/// The last part of a case's name: the fabric's.
std::string fabric_name(const testing::TestParamInfo<Fabric>& info);

}  // namespace aqueduct::conformance
