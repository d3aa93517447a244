#include <aqueduct/coll.hpp>

#include "tests/conformance/fabric_test.hpp"
#include "topology/machine.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace aqueduct::conformance {
namespace {

/// Short all-gathers whose members are in several domains of memory, which settings describe.
class CollectiveDomains : public FabricTest {
 protected:
  struct Machine {
    const char* text;
    Rank domains;
    Rank each;
  };
  /// Neighbours in different domains.
  static std::string scattered(const Machine& machine) {
    std::string places;
    for (Rank i = 0; i < machine.domains * machine.each; ++i)
      places +=
          (i == 0 ? "" : ",") + std::to_string(i % machine.domains * machine.each + i / machine.domains);
    return places;
  }
};

std::uint64_t word_of(Rank rank, std::uint64_t call, std::uint64_t i) {
  return (std::uint64_t{rank} << 32) + (call << 16) + i;
}

/// Calls in a row, some of which are in flight together. `words`: of a block.
void gather_often(Endpoint& me, Team& team, std::uint64_t words) {
  constexpr std::uint64_t kCalls = 24;
  std::vector<std::vector<std::uint64_t>> in(kCalls), out(kCalls);
  std::vector<Event> events;
  for (std::uint64_t call = 0; call < kCalls; ++call) {
    for (std::uint64_t i = 0; i < words; ++i) in[call].push_back(word_of(team.index(), call, i));
    out[call].resize(team.size() * words);
  }
  ASSERT_TRUE(team.barrier());  // Sync::none asks for it
  for (std::uint64_t call = 0; call < kCalls; ++call) {
    const Sync sync = static_cast<Sync>(call % 3);
    const CollOptions options{.in = sync, .out = sync};
    if (call % 4 == 0) {
      ASSERT_TRUE(all_gather(team, in[call], out[call], options));
    } else {
      events.push_back(all_gather_nb(team, in[call], out[call], options));
    }
  }
  for (Event& event : events) ASSERT_TRUE(me.wait(event));
  ASSERT_TRUE(team.barrier());
  std::size_t wrong = 0;
  for (std::uint64_t call = 0; call < kCalls; ++call) {
    for (std::uint64_t i = 0; i < out[call].size(); ++i)
      wrong += out[call][i] != word_of(static_cast<Rank>(i / words), call, i % words);
  }
  EXPECT_EQ(wrong, 0u) << "words of blocks of " << words;
}

TEST_P(CollectiveDomains, ShortAllGathersAreRightInAnyOrderOfRanks) {
  if (!std::string_view(fabric().name).starts_with("smp-")) GTEST_SKIP() << "the members do not share memory";
  constexpr Machine kMachines[] = {{"package:2 core:6 pu:1", 2, 6}, {"package:4 core:8 pu:1", 4, 8}};
  if (!topology::read_machine(topology::Source::of(kMachines[0].text)).problem.empty())
    GTEST_SKIP() << "no hwloc";
  for (const Machine& machine : kMachines) {
    for (const std::string& places : {std::string(), scattered(machine)}) {
      // As many ranks as the machine has processors, if the kit may start so many (--ranks).
      const Rank ranks = std::min<Rank>(machine.domains * machine.each, fabric().most_ranks);
      const bool apart = ranks > (places.empty() ? machine.each : machine.domains);  // and some not alone
      run({.ranks = ranks,
           .segment_bytes = 4096,
           .settings = {{"coll_all_gather", "flags-domains"},
                        {"topology", machine.text},
                        {"places", places}}},
          [apart](Endpoint& me) {
            const std::string text = me.world().explain(Collective::all_gather, 8);
            EXPECT_NE(text.find("\n  flags-domains"), text.npos) << text;
            EXPECT_EQ(text.find(" lines cross between ") != text.npos, apart) << text;
            for (const std::uint64_t words : {1u, 6u, 14u, 40u})
              ASSERT_NO_FATAL_FAILURE(gather_often(me, me.world(), words));
            // A team of some, in another order, whose slots are short.
            auto half = me.world().split(me.rank() % 2, me.ranks() - me.rank());
            ASSERT_TRUE(half && *half);
            ASSERT_NO_FATAL_FAILURE(gather_often(me, **half, 2));
            ASSERT_TRUE((*half)->end());
          });
      if (HasFailure() || IsSkipped()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, CollectiveDomains, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
