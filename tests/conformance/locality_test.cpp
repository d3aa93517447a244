#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/pattern.hpp"

#include <algorithm>

namespace aqueduct::conformance {
namespace {

class Locality : public FabricTest {};

TEST_P(Locality, NeighboursAreThoseOnMyHost) {
  as_each_of(3, 64, [](Endpoint& me) {
    std::vector<Rank> same_host;
    for (Rank rank = 0; rank < me.ranks(); ++rank) {
      const bool same = me.host_of(rank) == me.host_of(me.rank());
      if (same) same_host.push_back(rank);
      EXPECT_EQ(me.is_neighbour(rank), same) << "rank " << rank;
      EXPECT_FALSE(me.is_lost(rank));
      EXPECT_FALSE(me.conduit_of(rank).empty());
    }
    const auto neighbours = me.neighbours();
    EXPECT_TRUE(std::ranges::equal(neighbours, same_host));
    EXPECT_TRUE(me.is_neighbour(me.rank()));
    EXPECT_FALSE(me.is_neighbour(me.ranks()));
    EXPECT_FALSE(me.is_neighbour(kNoRank));
    EXPECT_EQ(me.host_of(me.ranks()), kNoRank);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Locality, AllRanksSeeTheSameHosts) {
  as_each_of(3, 64, [](Endpoint& me) {
    std::vector<std::uint32_t> hosts;
    for (Rank rank = 0; rank < me.ranks(); ++rank) hosts.push_back(me.host_of(rank));
    ASSERT_TRUE(put(me, GlobalPtr<std::uint32_t>{next(me), 0}, hosts));
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(holds(me.segment().first(4 * me.ranks()), std::as_bytes(std::span(hosts))));
  });
}

TEST_P(Locality, MyOwnMemoryIsLocal) {
  as_each_of(2, 64, [](Endpoint& me) {
    const GlobalPtr<std::byte> mine{me.rank(), 8};
    ASSERT_NE(me.local(mine), nullptr);
    EXPECT_EQ(me.local(mine), me.segment().data() + 8);
    EXPECT_EQ(me.local(mine, 56), me.segment().data() + 8);
    EXPECT_EQ(me.local(mine, 57), nullptr);
    EXPECT_EQ(me.local(GlobalPtr<std::uint64_t>{me.rank(), 57}), nullptr);
    EXPECT_EQ(me.local(GlobalPtr<std::byte>{me.ranks(), 0}), nullptr);
    EXPECT_EQ(me.local(GlobalPtr<std::byte>{}), nullptr);
    EXPECT_EQ(me.local(GlobalPtr<std::byte>{me.rank(), 0, 5}), nullptr);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Locality, ALocalPointerIsTheSameMemoryThatPutsReach) {
  as_each_of(3, 4096, [](Endpoint& me) {
    for (Rank rank = 0; rank < me.ranks(); ++rank) {
      const GlobalPtr<std::byte> slot{rank, 64 * me.rank()};
      std::byte* memory = me.local(slot, 64);
      if (memory == nullptr) continue;  // not mapped here, which is allowed for every rank but me
      const auto sent = pattern(10 * me.rank() + rank, 64);
      ASSERT_TRUE(put(me, slot, sent));
      EXPECT_TRUE(holds({memory, 64}, sent));
      const auto stored = pattern(1000 + 10 * me.rank() + rank, 64);
      std::ranges::copy(stored, memory);
      std::vector<std::byte> read(64);
      ASSERT_TRUE(get(me, read, slot));
      EXPECT_TRUE(holds(read, stored));
      EXPECT_TRUE(me.is_neighbour(rank)) << "mapped, but not on my host";
    }
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, Locality, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
