#include "tests/conformance/pattern.hpp"
#include "tests/conformance/property.hpp"

#include <algorithm>
#include <numeric>

namespace aqueduct::conformance {
namespace {

/// Ranks notify one after the other, in random order. No rank passes before the last one has notified.
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
      barriers[order[arrived]]->notify(phase);
    }
    ASSERT_TRUE(bench.poll_until([&] {
      return std::ranges::all_of(barriers, [&](const auto& barrier) { return barrier->reached(phase); });
    })) << "phase "
        << phase << " does not end";
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

}  // namespace
}  // namespace aqueduct::conformance
