#include <aqueduct/coll.hpp>
#include <aqueduct/coll_traffic.hpp>

#include "tests/conformance/fabric_test.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace aqueduct::conformance {
namespace {

/// What collectives in shared memory count.
class Traffic : public FabricTest {};

TEST_P(Traffic, OfABroadcastFromABufferInNoSegmentIsCopiedInOnceAtMost) {
  const Rank ranks = std::min<Rank>(many(), 4);
  run({.ranks = ranks, .segment_bytes = 4096}, [ranks](Endpoint& me) {
    constexpr std::uint64_t kBytes = 96 << 10;
    std::vector<std::byte> block(kBytes, std::byte(me.rank() == 1 ? 7 : 0));
    auto team = me.world().dup();
    ASSERT_TRUE(team);
    ASSERT_TRUE(broadcast(*team, block, 1));
    EXPECT_EQ(std::ranges::count(block, std::byte{7}), static_cast<std::ptrdiff_t>(kBytes));
    const auto mine = coll_traffic(*team, 0);
    ASSERT_TRUE(mine);
    EXPECT_EQ(mine->read_across, 0u) << "a board is that of members on one host";
    std::array<std::uint64_t, 2> sums{mine->read_inside, mine->staged};
    ASSERT_TRUE(all_reduce(*team, sums, ReduceOp::sum));
    if (sums[0] == 0) {
      EXPECT_EQ(sums[1], 0u) << "the team has no board";
    } else {
      EXPECT_EQ(sums[0], (ranks - 1) * kBytes);
      EXPECT_TRUE(sums[1] == 0 || sums[1] == kBytes) << sums[1];
    }
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, Traffic, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
