// What `explain` says of calls on a board, beside what runs there.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include "coll/algorithms/algorithms.hpp"
#include "coll/shared/board_domains.hpp"
#include "core/endpoint_state.hpp"
#include "topology/host_topology.hpp"
#include "topology/machine.hpp"
#include "topology/placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace aqueduct::coll {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr Rank kOnMachine = 8;
constexpr const char* kMachineOfEight = "package:2 numa:2 core:2 pu:1";

/// A job of eight ranks on a pretended machine of four domains of memory. They share processors where there are fewer than eight.
void on_pretended_machine(const char* setting, const char* algorithm,
                          const std::function<void(Endpoint&)>& act) {
  if (!topology::read_machine(topology::Source::of(kMachineOfEight)).problem.empty())
    GTEST_SKIP() << "no hwloc, which reads pretended machines";
  Config config;
  for (const auto& [name, value] : {std::pair{"conduit", "smp"},
                                    {"segment_bytes", "64K"},
                                    {"topology", kMachineOfEight},
                                    {setting, algorithm}})
    ASSERT_TRUE(config.set(name, value));
  auto job = Job::in_process(kOnMachine, config);
  ASSERT_TRUE(job) << job.status().text();
  job->run_each([&](Endpoint& me) {
    act(me);
    ASSERT_TRUE(me.barrier());
  });
  EXPECT_TRUE(job->finish());
}

/// Edges on the longest way to the root of the tree in which the members are, as the engine places them.
std::uint32_t edges_in_tree(Endpoint& me, std::uint32_t radix) {
  std::vector<Rank> members(me.ranks());
  std::iota(members.begin(), members.end(), Rank{0});
  const topology::Placement placement =
      me.state().layer<topology::HostTopology>()->place(members, [](Rank member) { return member; });
  std::uint32_t most = 0;
  for (Rank member = 0; member < me.ranks(); ++member) {
    std::uint32_t edges = 0;
    for (Rank at = place_in_tree(placement, member, 0, radix).parent; at != kNoRank;
         at = place_in_tree(placement, at, 0, radix).parent)
      ++edges;
    most = std::max(most, edges);
  }
  return most;
}

std::uint64_t calls_of(Endpoint& me, std::string_view row) {
  for (const auto& one : me.state().statistics_rows) {
    if (one.name == row) return *one.counter;
  }
  ADD_FAILURE() << "there is no row " << row;
  return 0;
}

// Up to eight members, or with shared processors, nothing is chosen by domains; but a tree keeps to them.
TEST(ExplainBoard, SaysTheDepthOfTreesThatKeepToDomains) {
  struct Forced {
    const char* setting;
    const char* algorithm;
    Collective operation;
    std::uint64_t bytes;
    std::uint32_t radix;
    std::uint32_t ways;  ///< along the edges, and `more` steps
    std::uint32_t more;
  };
  for (const Forced& one : {Forced{"coll_broadcast", "flags-tree:radix=4", Collective::broadcast, 8, 4, 1, 0},
                            {"coll_broadcast", "mapped-tree:radix=4", Collective::broadcast, 8, 4, 2, 0},
                            {"coll_broadcast", "mapped-tree:radix=4", Collective::broadcast, 65536, 4, 2, 0},
                            {"coll_reduce", "flags-tree:radix=8", Collective::reduce, 8, 8, 1, 0},
                            {"coll_reduce", "mapped-tree:radix=8", Collective::reduce, 65536, 8, 1, 1},
                            {"coll_all_reduce", "flags-tree:radix=4", Collective::all_reduce, 8, 4, 2, 0}}) {
    on_pretended_machine(one.setting, one.algorithm, [&one](Endpoint& me) {
      const std::uint32_t edges = edges_in_tree(me, one.radix);
      EXPECT_GT(edges, levels_of_tree(me.ranks(), one.radix)) << "the domains do not matter";
      EXPECT_THAT(me.world().explain(one.operation, one.bytes, 8),
                  HasSubstr(" " + std::to_string(one.ways * edges + one.more) + " deep"))
          << one.algorithm;
    });
    if (testing::Test::HasFailure() || testing::Test::IsSkipped()) return;
  }
}

// Sums of half precision are added up as floats, and rounded once. Then tiles run where a setting asks for a tree.
TEST(ExplainBoard, SaysWhatRunsInPlaceOfATreeOfConvertedElements) {
  constexpr std::uint64_t kCount = 4096;
  on_pretended_machine("coll_all_reduce", "mapped-tree", [](Endpoint& me) {
    const std::uint64_t bytes = kCount * sizeof(Half);
    for (const ElementType type : {ElementType::half, ElementType::bfloat16}) {
      const std::string text = me.world().explain(Collective::all_reduce, bytes, type);
      EXPECT_THAT(text, HasSubstr("mapped-tree:radix=2 (a setting asks for it)\n  runs as mapped-tiles: "));
      EXPECT_THAT(text, HasSubstr(" 2 deep"));
      // Each contribution is read once, and each result copied to the others, as they are in the users' buffers.
      EXPECT_THAT(text, HasSubstr("moves " + std::to_string((2 * kOnMachine - 1) * bytes) + " bytes"));
    }
    EXPECT_THAT(me.world().explain(Collective::all_reduce, bytes, ElementType::f32),
                Not(HasSubstr("runs as")));

    std::vector<Half> half(kCount, Half{0x3c00});
    ASSERT_TRUE(all_reduce(me.world(), half, ReduceOp::sum));
    EXPECT_EQ(half.back().bits, 0x4800);  // 8
    EXPECT_EQ(calls_of(me, "all_reduce_mapped-tiles"), 1u);
    EXPECT_EQ(calls_of(me, "all_reduce_mapped-tree"), 0u);
    std::vector<float> full(kCount, 1.0f);
    ASSERT_TRUE(all_reduce(me.world(), full, ReduceOp::sum));
    EXPECT_EQ(calls_of(me, "all_reduce_mapped-tiles"), 1u);
    EXPECT_EQ(calls_of(me, "all_reduce_mapped-tree"), 1u);
  });
}

}  // namespace
}  // namespace aqueduct::coll
