#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include "coll/engine/collectives.hpp"
#include "coll/schedule/shape.hpp"
#include "coll/shared/board_domains.hpp"
#include "topology/machine.hpp"
#include "topology/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::coll {
namespace {

/// Members of a host with packages of NUMA nodes: member i is on node nodes[i], of which each package has `numas`.
topology::Placement on_nodes(const std::vector<std::uint32_t>& nodes, std::uint32_t numas) {
  std::vector<Rank> members(nodes.size());
  std::iota(members.begin(), members.end(), Rank{0});
  const std::vector<topology::Level> levels{{"host", 1, false}, {"package", 8, true}, {"numa", 64, true}};
  return topology::Placement::of(members, levels, [&](Rank member, std::size_t level) {
    return level == 0 ? 0 : level == 1 ? nodes[member] / numas : nodes[member];
  });
}

std::vector<std::uint32_t> random_nodes(std::mt19937& dice) {
  std::vector<std::uint32_t> nodes(3 + dice() % 40);
  const std::uint32_t most = 1 + dice() % 8;
  for (std::uint32_t& node : nodes) node = dice() % most;
  return nodes;
}

TEST(BoardDomains, ATreeReachesEverybodyAndCrossesEachBorderOnce) {
  std::mt19937 dice(5);
  for (int i = 0; i < 300; ++i) {
    const auto nodes = random_nodes(dice);
    const auto placement = on_nodes(nodes, 2);
    const auto ranks = static_cast<Rank>(nodes.size());
    const Rank root = dice() % ranks;
    const std::uint32_t radix = 2 + dice() % 4;
    std::vector<Rank> parent(ranks, kNoRank);
    std::vector<int> heard(ranks);
    for (Rank me = 0; me < ranks; ++me) {
      const TreePlace place = place_in_tree(placement, me, root, radix);
      parent[me] = place.parent;
      EXPECT_EQ(place.parent == kNoRank, me == root);
      for (const Rank child : place.children) {
        ++heard[child];
        EXPECT_EQ(place_in_tree(placement, child, root, radix).parent, me);
      }
    }
    for (Rank me = 0; me < ranks; ++me) {
      EXPECT_EQ(heard[me], me == root ? 0 : 1);
      Rank at = me;
      for (Rank steps = 0; at != root; ++steps, at = parent[at]) ASSERT_LT(steps, ranks) << "a ring";
    }
    for (const std::uint32_t numas : {1u, 2u}) {  // nodes, and packages
      std::set<std::uint32_t> domains;
      std::size_t crossings = 0;
      for (Rank me = 0; me < ranks; ++me) {
        domains.insert(nodes[me] / numas);
        if (me != root && nodes[me] / numas != nodes[parent[me]] / numas) ++crossings;
      }
      EXPECT_EQ(crossings, domains.size() - 1);
    }
  }
}

TEST(BoardDomains, EachTileHasOneOwnerInEachDomainAndPartnersKnowEachOther) {
  std::mt19937 dice(6);
  for (int i = 0; i < 300; ++i) {
    const auto nodes = random_nodes(dice);
    const auto placement = on_nodes(nodes, 2);
    if (placement.cuts().empty()) continue;
    const auto ranks = static_cast<Rank>(nodes.size());
    for (Rank me = 0; me < ranks; ++me) {
      const BoardDomains mine = domains_of(placement, me);
      EXPECT_EQ(mine.mates()[mine.index], me);
      std::uint32_t owned = 0;
      for (std::uint32_t tile = 0; tile < mine.tiles; ++tile) {
        if (mine.owner(mine.mine, tile) != me) continue;
        ++owned;
        for (std::uint32_t domain = 0; domain < mine.count; ++domain) {
          const Rank owner = mine.owner(domain, tile);
          if (owner == me) continue;
          EXPECT_TRUE(std::ranges::count(mine.partners, owner) == 1);
          const BoardDomains its = domains_of(placement, owner);
          EXPECT_TRUE(std::ranges::count(its.partners, me) == 1);
        }
      }
      EXPECT_GE(owned, 1u);
      EXPECT_LE(owned, mine.most_tiles());
    }
  }
}

TEST(BoardDomains, EachBlockIsInTheCareOfOneMemberOfEachOtherDomain) {
  std::mt19937 dice(8);
  for (int i = 0; i < 300; ++i) {
    const auto placement = on_nodes(random_nodes(dice), 2);
    if (placement.cuts().empty()) continue;
    const Rank ranks = placement.size();
    std::vector<std::vector<Rank>> blocks(ranks);  // [member] in its care, in order
    std::uint32_t most = 0;
    for (Rank me = 0; me < ranks; ++me) {
      domains_of(placement, me).each_in_care([&](Rank block) { blocks[me].push_back(block); });
      most = std::max(most, static_cast<std::uint32_t>(blocks[me].size()));
    }
    for (Rank me = 0; me < ranks; ++me) {
      const BoardDomains mine = domains_of(placement, me);
      EXPECT_EQ(mine.most_blocks(), most);
      for (const Rank block : blocks[me]) EXPECT_EQ(std::ranges::count(mine.partners, block), 1);
      std::ptrdiff_t cared = 0;
      for (Rank other = 0; other < ranks; ++other) cared += std::ranges::count(blocks[other], me);
      EXPECT_EQ(cared, static_cast<std::ptrdiff_t>(mine.count) - 1);
      for (std::uint32_t domain = 0; domain < mine.count; ++domain) {
        if (domain == mine.mine) continue;
        const Rank carer = mine.owner(domain, mine.index);
        ASSERT_LT(mine.place[domain], blocks[carer].size());
        EXPECT_EQ(blocks[carer][mine.place[domain]], me);
        EXPECT_EQ(std::ranges::count(mine.partners, carer), 1);
      }
    }
  }
}

// Requirements H-20 to H-22: rounds of a power of two of members, of which few cross.
TEST(BoardDomains, RoundsBringEverythingToEverybody) {
  std::mt19937 dice(7);
  for (int i = 0; i < 300; ++i) {
    const auto nodes = random_nodes(dice);
    const auto placement = on_nodes(nodes, 2);
    const auto ranks = static_cast<Rank>(nodes.size());
    std::vector<RoundsPlace> places;
    for (Rank me = 0; me < ranks; ++me)
      places.push_back(place_in_rounds(i % 4 == 0 ? nullptr : &placement, ranks, me));
    std::vector<std::vector<int>> has(ranks, std::vector<int>(ranks));
    const auto add = [&](Rank to, const std::vector<int>& what) {
      for (Rank r = 0; r < ranks; ++r) has[to][r] += what[r];
    };
    for (Rank me = 0; me < ranks; ++me) has[me][me] = 1;
    for (Rank me = 0; me < ranks; ++me) {
      EXPECT_EQ(places[me].helper == kNoRank, !places[me].partners.empty());
      for (const Rank helped : places[me].helped) {
        EXPECT_EQ(places[helped].helper, me);
        add(me, has[helped]);
      }
    }
    for (std::uint32_t round = 0; round < places[0].rounds; ++round) {
      const auto before = has;
      for (Rank me = 0; me < ranks; ++me) {
        if (places[me].partners.empty()) continue;
        const Rank partner = places[me].partners[round];
        EXPECT_EQ(places[partner].partners[round], me);
        add(me, before[partner]);
      }
    }
    for (Rank me = 0; me < ranks; ++me) {
      const Rank from = places[me].helper == kNoRank ? me : places[me].helper;
      EXPECT_EQ(has[from], std::vector<int>(ranks, 1));
    }
  }
}
TEST(BoardDomains, OnlyTheLastRoundsCross) {
  const auto placement = on_nodes({0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}, 1);
  for (Rank me = 0; me < 16; ++me) {
    const RoundsPlace place = place_in_rounds(&placement, 16, me);
    ASSERT_EQ(place.partners.size(), 4u);
    for (std::uint32_t round = 0; round < 4; ++round)
      EXPECT_EQ(place.partners[round] % 4 == me % 4, round < 2)
          << "the node of a member is its number modulo 4";
  }
}

TEST(BoardDomains, PartialResultsAreCombinedOnlyInTeamOrderIfThatCounts) {
  Shape shape;
  shape.operation = Operation::all_reduce;
  const auto in_order = on_nodes({0, 0, 1, 1}, 1);
  const auto scattered = on_nodes({0, 1, 0, 1}, 1);
  EXPECT_FALSE(may_go_by_domains(nullptr, shape));
  const auto together = on_nodes({0, 0, 0}, 1);
  EXPECT_FALSE(may_go_by_domains(&together, shape));
  EXPECT_TRUE(may_go_by_domains(&scattered, shape));
  shape.commutative = false;
  EXPECT_FALSE(may_go_by_domains(&scattered, shape));
  EXPECT_TRUE(may_go_by_domains(&in_order, shape));
  shape.order = Order::exact;
  EXPECT_FALSE(may_go_by_domains(&in_order, shape));
  shape.operation = Operation::broadcast;
  EXPECT_TRUE(may_go_by_domains(&scattered, shape));
}

// Members that ask for an explanation, or do not, must try the same algorithms when they learn.
TEST(BoardDomains, WhatIsTriedDoesNotDependOnWhatAMemberHasAsked) {
  constexpr Rank kRanks = 8;
  Config config;
  for (const auto& [name, value] :
       {std::pair{"conduit", "smp"}, {"topology", "package:4 core:2 pu:1"}, {"coll_learn", "on"}})
    ASSERT_TRUE(config.set(name, value)) << name;
  // hwloc reads the description, and a build may lack it.
  if (!topology::read_machine(topology::Source::of("package:4 core:2 pu:1")).problem.empty())
    GTEST_SKIP() << "no hwloc";
  auto job = Job::in_process(kRanks, config);
  ASSERT_TRUE(job) << job.status().text();
  std::array<std::string, kRanks> now;
  std::array<std::vector<std::string>, kRanks> field;
  job->run_each([&](Endpoint& me) {
    me.state().crowded.assign(kRanks, false);  // as with a processor for each
    auto team = me.world().split(0, me.rank());
    ASSERT_TRUE(team && *team);
    if (me.rank() == 3) static_cast<void>((*team)->explain(Collective::all_reduce, 1 << 20));
    TeamEngine* const engine = Collectives::engine_of((*team)->state());
    Request request;
    Shape& shape = request.shape;
    shape.operation = Operation::all_reduce;
    shape.ranks = kRanks;
    shape.element = 4;
    shape.bytes = shape.pitch = 1 << 20;
    const Learning::Key* const key = engine->key_to_learn(request);
    ASSERT_NE(key, nullptr);
    for (const Timed& one : key->field) field[me.rank()].push_back(std::string(one.algorithm->name));
    now[me.rank()] = engine->choice(shape).algorithm->name;
    EXPECT_TRUE((*team)->end());
  });
  EXPECT_TRUE(job->finish());
  for (Rank rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(field[rank], field[0]) << rank;
    EXPECT_EQ(now[rank], "mapped-domain-tiles") << rank;
    EXPECT_EQ(field[rank].front(), now[rank]) << "what runs without learning comes first";
  }
}

}  // namespace
}  // namespace aqueduct::coll
