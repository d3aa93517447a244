// Every algorithm that a setting can ask for, against the naive model.

#include "coll/algorithms/algorithms.hpp"
#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forced_calls.hpp"
#include "tests/conformance/forced_jobs.hpp"
#include "topology/machine.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace aqueduct::conformance {
namespace {

/// Every algorithm that a setting can ask for, against the naive model. A shape that it cannot do is refused on all members.
///
/// The algorithms do not see the conduit: one fabric tries all of them, and the others some. With --brief, and under a
/// sanitizer, where a job takes twenty times as long, fewer still.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kFewest = true;
#else
constexpr bool kFewest = false;
#endif
bool runs_all(const Fabric& fabric) { return std::string_view(fabric.name) == "loop-native"; }

bool shares_memory(const Fabric& fabric) { return std::string_view(fabric.name).starts_with("smp-"); }

/// The settings hold for a job, but each operation has its own. So each job forces one algorithm of every operation.
class CollectiveAlgorithms : public FabricTest {
 protected:
  void run_jobs(const std::vector<ForcedJob>& jobs, std::size_t few, std::size_t fewest,
                const Settings& more = {}) {
    const std::size_t stride = runs_all(fabric()) ? 1 : kFewest || fabric().brief ? fewest : few;
    for (std::size_t i = 0; i < jobs.size() && !HasFailure() && !IsSkipped(); i += stride) {
      Settings settings = jobs[i].settings();
      settings.insert(settings.end(), more.begin(), more.end());
      settings.push_back({"log", "off"});  // each refused call is an error in the log
      // Half of them with little scratch, so that long calls are cut into pieces.
      if (i % 2 == 0) settings.push_back({"coll_scratch", "64K"});
      run({.ranks = ranks(), .segment_bytes = 4096, .settings = std::move(settings)},
          [job = jobs[i]](Endpoint& me) { play_forced_job(me, job); });
    }
  }
  /// Fewer where starting a job takes long.
  Rank ranks() const { return fabric().one_process() ? many() : std::min<Rank>(many(), 5); }
};

TEST_P(CollectiveAlgorithms, WithUsualParametersEqualTheModelOrRefuse) {
  run_jobs(forced_jobs(coll::all_algorithms(), ranks(), /*awkward=*/false), 3, 5);
}

TEST_P(CollectiveAlgorithms, WithAwkwardParametersEqualTheModelOrRefuse) {
  run_jobs(forced_jobs(coll::all_algorithms(), ranks(), /*awkward=*/true), 11, 31);
}

/// All algorithms that put into outputs which members announce, in one job.
ForcedJob announcing_job() {
  ForcedJob job;
  for (const coll::Algorithm* const algorithm : coll::all_algorithms()) {
    const auto operation = static_cast<std::size_t>(algorithm->operation);
    if (algorithm->direct && operation < kForcedOperations) job.choices[operation] = {algorithm, {}};
  }
  return job;
}

/// All algorithms that go by a tree of the team.
ForcedJob team_tree_job() {
  ForcedJob job;
  for (const coll::Algorithm* const algorithm : coll::all_algorithms()) {
    if (algorithm->team_tree) job.choices[static_cast<std::size_t>(algorithm->operation)] = {algorithm, {}};
  }
  return job;
}

// On every fabric. The last tree has the odd members before the even ones, so that few subtrees are ranges of the team: on
// smaller teams, for which it is not, the rules choose other algorithms; so they do for reductions in the team's order.
TEST_P(CollectiveAlgorithms, OnTreesOfTheTeamEqualTheModel) {
  std::string order;
  for (const Rank first : {1u, 0u}) {
    for (Rank i = first; i < ranks(); i += 2) order += (order.empty() ? "" : ",") + std::to_string(i);
  }
  for (const std::string& tree : {std::string("2-nomial over 2-ary portion=3"),
                                  std::string("chain over flat"), "fork:2x2 order=" + order})
    run_jobs({team_tree_job()}, 1, 1, {{"coll_tree", tree}});
}

// On every fabric: how memory is reached is the conduit's matter.
TEST_P(CollectiveAlgorithms, ThatAnnounceOutputsEqualTheModel) { run_jobs({announcing_job()}, 1, 1); }

// The segments of two teams have outputs of a call of all ranks: the other half cannot name such a place, or would name
// another one.
TEST_P(CollectiveAlgorithms, ThatAnnounceOutputsAnnounceNoSegmentOfSomeMembers) {
  run({.ranks = 4, .segment_bytes = 4096, .settings = announcing_job().settings()}, [](Endpoint& me) {
    constexpr std::size_t kCount = 96;
    auto half = me.world().split(me.rank() / 2, me.rank());
    ASSERT_TRUE(half && *half);
    {
      auto segment = Segment::create(**half, 4 * kCount * sizeof(std::uint64_t));
      ASSERT_TRUE(segment) << segment.status().text();
      const std::span<std::uint64_t> all(reinterpret_cast<std::uint64_t*>(segment->mine().data()),
                                         4 * kCount);
      std::vector<std::uint64_t> mine(kCount, me.rank() + 1), sum(4 * kCount);
      ASSERT_TRUE(all_gather(me.world(), mine, all));
      for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i / kCount + 1);
      ASSERT_TRUE(all_reduce(me.world(), all, sum, ReduceOp::sum));
      ASSERT_TRUE(all_reduce(me.world(), all, ReduceOp::sum));
      for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], 4 * (i / kCount + 1));
      EXPECT_EQ(std::vector<std::uint64_t>(all.begin(), all.end()), sum);
      ASSERT_TRUE(segment->release());
    }
    ASSERT_TRUE((*half)->end());
  });
}

/// Whether ranks are on several hosts, or pretend to be, with several on some.
bool has_shared_hosts(const Fabric& fabric) {
  const std::string_view name = fabric.name;
  return name.find("-hosts") != name.npos && name.find("-alone") == name.npos;
}

// Every one of them, with usual and awkward radixes, on teams of any number of ranks in both orders.
TEST_P(CollectiveAlgorithms, ThatGoByHostsEqualTheModelOrRefuse) {
  if (!has_shared_hosts(fabric())) GTEST_SKIP() << "the ranks share one host, or each has its own";
  std::vector<const coll::Algorithm*> all;
  for (const coll::Algorithm* const one : coll::all_algorithms())
    if (one->hosts) all.push_back(one);
  run_jobs(forced_jobs(all, ranks(), /*awkward=*/false), 1, 1);
  run_jobs(forced_jobs(all, ranks(), /*awkward=*/true), 2, 5);
}

/// The algorithms of a team's board: all of them where members share memory, else one job in which they are refused.
std::vector<const coll::Algorithm*> algorithms_of_boards() {
  std::vector<const coll::Algorithm*> all;
  for (const coll::Algorithm& algorithm : coll::board_algorithms()) all.push_back(&algorithm);
  return all;
}

TEST_P(CollectiveAlgorithms, OnBoardsEqualTheModelOrRefuse) {
  const auto all = algorithms_of_boards();
  const std::size_t stride = shares_memory(fabric()) ? 1 : all.size();
  run_jobs(forced_jobs(all, ranks(), /*awkward=*/false), stride, stride);
}

TEST_P(CollectiveAlgorithms, OnBoardsWithAwkwardParametersEqualTheModel) {
  if (!shares_memory(fabric())) GTEST_SKIP() << "the members do not share memory";
  run_jobs(forced_jobs(algorithms_of_boards(), ranks(), /*awkward=*/true), 1, 1);
}

// Unequal domains, whose members are scattered over the team.
TEST_P(CollectiveAlgorithms, ThatGoByDomainsOfMemoryEqualTheModel) {
  if (!shares_memory(fabric())) GTEST_SKIP() << "the members do not share memory";
  constexpr const char* kMachine = "package:2 numa:2 core:4 pu:1";
  // hwloc reads the description, and a build may lack it.
  if (!topology::read_machine(topology::Source::of(kMachine)).problem.empty()) GTEST_SKIP() << "no hwloc";
  std::vector<const coll::Algorithm*> all;
  for (const coll::Algorithm* const one : algorithms_of_boards()) {
    if (one->board == coll::BoardMethod::domain_lines || one->board == coll::BoardMethod::domains ||
        one->board == coll::BoardMethod::domain_blocks || one->board == coll::BoardMethod::domain_tiles ||
        one->board == coll::BoardMethod::tree || one->board == coll::BoardMethod::large_tree)
      all.push_back(one);
  }
  for (const char* const places : {"0,8,1,9,4", "0,1,8,9,10,2,12"}) {
    run_jobs(forced_jobs(all, ranks(), /*awkward=*/false), 1, 1,
             {{"topology", kMachine}, {"places", places}});
  }
}

INSTANTIATE_TEST_SUITE_P(On, CollectiveAlgorithms, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
