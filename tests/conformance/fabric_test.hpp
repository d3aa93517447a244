#pragma once

#include <aqueduct/aqueduct.hpp>

#include "tests/conformance/fabric.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace aqueduct::conformance {

/// What every rank of a launch does.
///
/// With a process each, ranks share no variable: what they capture is a copy. Use the library, or Shared.
using Body = std::function<void(Endpoint& me)>;

/// One job, from start to finish.
struct Launch {
  Rank ranks = 2;
  std::size_t segment_bytes = 4096;
  Settings settings = {};
  /// Ranks that leave or die on purpose. The others' `finish` may say peer_lost then.
  std::vector<Rank> leaving = {};
};

/// The base of every suite: runs bodies as ranks of the fabric that is the parameter.
///
/// Ranks always run in child processes, one or several as the fabric says, so that a case that crashes or
/// hangs fails by itself, within the fabric's limit, and the next one goes on. Failures inside a child are
/// reported here with their own file and line.
class FabricTest : public testing::TestWithParam<Fabric> {
 protected:
  /// Skips the case if the fabric cannot be had here.
  void SetUp() override;
  const Fabric& fabric() const { return GetParam(); }
  /// Skips the case if the fabric cannot have that many ranks.
  void as_each_of(Rank ranks, std::size_t segment_bytes, const Body& body) {
    run({ranks, segment_bytes}, body);
  }
  void run(const Launch& launch, const Body& body);
  /// Runs `body` in one child that starts no job: for what lies below one.
  void run_alone(const std::function<void(const Config&)>& body);
  /// For cases that want a crowd: 8, or as many as the fabric has.
  Rank many() const { return fabric().most_ranks < 8 ? fabric().most_ranks : 8; }
  /// A seed of this case's own, the same on every rank, from --seed.
  std::uint64_t seed() const;

 private:
  std::string where() const;
};

/// The end of a case's name: the fabric.
std::string fabric_name(const testing::TestParamInfo<Fabric>& info);

}  // namespace aqueduct::conformance
