#include "tests/conformance/pattern.hpp"
#include "tests/conformance/property.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

namespace aqueduct::conformance {
namespace {

/// What a rank says in a phase: nothing, the phase's number, or with little probability something else.
core::BarrierVote random_vote(Random& random, std::uint64_t phase) {
  const std::uint64_t choice = random.below(8);
  if (choice < 3) return {};
  return core::BarrierVote(static_cast<std::uint32_t>(choice < 7 ? phase : random.below(phase)));
}

/// Ranks notify one after the other, in random order. No rank passes before the last one has notified. Every rank gets
/// the merged votes of all.
void pass_phases(ConduitBench& bench, Random& random) {
  std::vector<Rank> members(bench.ranks());
  std::iota(members.begin(), members.end(), Rank{0});
  std::vector<std::unique_ptr<core::NativeBarrier>> barriers;
  for (const Rank rank : members) {
    core::NativeCollectives* const collectives = bench.conduit(rank).collectives();
    barriers.push_back(collectives != nullptr ? collectives->make_barrier(members) : nullptr);
    ASSERT_EQ(barriers[rank] != nullptr, barriers[0] != nullptr) << "all members have one, or none";
  }
  if (barriers[0] == nullptr) return;  // messages do it
  std::vector<Rank> order = members;
  for (std::uint64_t phase = 1; phase <= 100; ++phase) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    core::BarrierVote all;
    for (std::size_t arrived = 0; arrived < order.size(); ++arrived) {
      for (int i = 0; i < 3; ++i) bench.poll();
      for (std::size_t i = 0; i < arrived; ++i) {
        ASSERT_FALSE(barriers[order[i]]->reached(phase))
            << "phase " << phase << ": rank " << order[i] << " passes before rank " << order[arrived]
            << " notifies";
        for (const Rank missing : barriers[order[i]]->missing(phase)) {
          ASSERT_EQ(std::find(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(arrived), missing),
                    order.begin() + static_cast<std::ptrdiff_t>(arrived))
              << "rank " << missing << " has notified phase " << phase;
        }
      }
      const core::BarrierVote vote = random_vote(random, phase);
      all.merge(vote);
      barriers[order[arrived]]->notify(phase, vote);
    }
    ASSERT_TRUE(bench.poll_until([&] {
      return std::ranges::all_of(barriers, [&](const auto& barrier) { return barrier->reached(phase); });
    })) << "phase "
        << phase << " does not end";
    for (const Rank rank : members)
      ASSERT_EQ(barriers[rank]->result(phase).bits(), all.bits()) << "phase " << phase << ", rank " << rank;
  }
}

/// Barriers of the same ranks, one after the other: each gives back what it has used. The next one counts its phases
/// from 1 again.
void pass_and_give_back(ConduitBench& bench) {
  std::vector<Rank> members(bench.ranks());
  std::iota(members.begin(), members.end(), Rank{0});
  std::optional<bool> first_has;
  for (std::uint64_t round = 1; round <= 4; ++round) {
    std::vector<std::unique_ptr<core::NativeBarrier>> barriers;
    for (const Rank rank : members) {
      core::NativeCollectives* const collectives = bench.conduit(rank).collectives();
      barriers.push_back(collectives != nullptr ? collectives->make_barrier(members) : nullptr);
      ASSERT_EQ(barriers[rank] != nullptr, first_has.value_or(barriers[0] != nullptr))
          << "round " << round << ", rank " << rank;
      first_has = barriers[rank] != nullptr;
    }
    if (!*first_has) return;
    for (std::uint64_t phase = 1; phase <= round; ++phase) {
      for (const Rank rank : members) {
        for (Rank waiting = 0; waiting < rank; ++waiting)
          ASSERT_FALSE(barriers[waiting]->reached(phase)) << "round " << round << ", phase " << phase;
        barriers[rank]->notify(phase, core::BarrierVote(7));
      }
      ASSERT_TRUE(bench.poll_until([&] {
        return std::ranges::all_of(barriers, [&](const auto& barrier) { return barrier->reached(phase); });
      })) << "round "
          << round << ", phase " << phase << " does not end";
      for (const auto& barrier : barriers)
        ASSERT_EQ(barrier->result(phase).bits(), core::BarrierVote(7).bits());
    }
    for (const auto& barrier : barriers) barrier->give_back();
  }
}

TEST_P(Property, NativeBarriersHoldEveryRankUntilTheLastHasNotified) {
  on_bench(3, [seed = seed()](ConduitBench& bench) {
    Random random(seed);
    pass_phases(bench, random);
  });
}

TEST_P(Property, NativeBarriersOfTwoDoSo) {
  on_bench(2, [seed = seed()](ConduitBench& bench) {
    Random random(seed);
    pass_phases(bench, random);
  });
}

TEST_P(Property, NativeBarriersThatAreGivenBackServeTheNextTeam) {
  for (const Rank ranks : {Rank{2}, Rank{3}})
    on_bench(ranks, [](ConduitBench& bench) { pass_and_give_back(bench); });
}

}  // namespace
}  // namespace aqueduct::conformance
