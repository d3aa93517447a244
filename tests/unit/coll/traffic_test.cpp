// What collectives in shared memory move inside and across domains, of ranks that settings put somewhere.

#include "coll/model/memory_forms.hpp"
#include "tests/unit/coll/traffic_of.hpp"

#include <algorithm>

namespace aqueduct::coll::traffic {
namespace {

class CollTrafficOf : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    // hwloc reads the pretended topology, and a build may lack it.
    if (!pretends_topology()) GTEST_SKIP() << "no hwloc";
  }
};

// The figures do not depend on which rank is where.
INSTANTIATE_TEST_SUITE_P(Places, CollTrafficOf,
                         testing::Values("0,1,2,3,4,5,6,7", "4,0,5,1,6,2,7,3", "7,1,2,4,0,3,5,6"),
                         [](const auto& each) { return std::to_string(each.index); });

TEST_P(CollTrafficOf, AOneStageBroadcastIsThatOfEveryMemberElsewhere) {
  const auto call = [](Team& team, TwoBuffers buffers) {
    return broadcast(team, words_of(buffers.out, kBytes), 3);
  };
  const CollTraffic sum = traffic_of("coll_broadcast", "mapped", GetParam(), true, call);
  EXPECT_EQ(sum.read_across, kAcross * kBytes);
  EXPECT_EQ(sum.read_inside, (kOfDomain - 1) * kBytes);
  EXPECT_EQ(sum.written_inside + sum.written_across, 0u);
  EXPECT_EQ(sum.staged, 0u) << "the buffers are in segments";
}

// Requirement HS-11.
TEST_P(CollTrafficOf, CopiesAreCountedApartFromReductions) {
  const auto send = [](Team& team, TwoBuffers buffers) {
    return broadcast(team, words_of(buffers.out, kBytes), 3);
  };
  EXPECT_EQ(traffic_of("coll_broadcast", "mapped", GetParam(), true, send).copied, (kRanks - 1) * kBytes)
      << "one copy for each reader";
  EXPECT_EQ(traffic_of("coll_broadcast", "flags-stream", GetParam(), true, send).copied, kRanks * kBytes)
      << "one into the board, and one out of it for each reader";
  const auto add = [](Team& team, TwoBuffers buffers) {
    return all_reduce(team, words_of(buffers.out, kBytes), ReduceOp::sum);
  };
  EXPECT_EQ(traffic_of("coll_all_reduce", "mapped-tiles", GetParam(), true, add).copied,
            (kRanks - 1) * kBytes)
      << "each tile of the result, to all other members";
}

// Requirement H-17: whatever the radix, each other member copies once, and one of the other domain from this one.
TEST_P(CollTrafficOf, ABroadcastDownATreeOfAnyRadixCopiesOnceForEachReader) {
  for (const char* tree :
       {"mapped-tree", "mapped-tree:radix=2", "mapped-tree:radix=3", "mapped-tree:radix=64"}) {
    const auto call = [tree](Team& team, TwoBuffers buffers) {
      const auto out = words_of(buffers.out, kBytes);
      std::ranges::fill(out, buffers.rank);
      const Status status = broadcast(team, out, 3);
      EXPECT_EQ(std::ranges::count(out, 3u), static_cast<std::ptrdiff_t>(out.size())) << tree;
      return status;
    };
    const CollTraffic sum = traffic_of("coll_broadcast", tree, GetParam(), true, call);
    EXPECT_EQ(sum.read_across, kBytes) << tree;
    EXPECT_EQ(sum.read_inside, (kRanks - 2) * kBytes) << tree;
    EXPECT_EQ(sum.copied, (kRanks - 1) * kBytes) << tree;
    EXPECT_EQ(sum.staged, 0u) << tree;
  }
}

// The kit has processes, whose buffers outside of segments go through the board, or are copied by the system.
TEST_P(CollTrafficOf, NothingIsCopiedInAmongThreads) {
  const auto call = [](Team& team, TwoBuffers buffers) {
    return broadcast(team, words_of(buffers.out, kBytes), 3);
  };
  const CollTraffic sum = traffic_of("coll_broadcast", "mapped", GetParam(), false, call);
  EXPECT_EQ(sum.staged, 0u);
  EXPECT_EQ(sum.read_across, kAcross * kBytes);
}

TEST_P(CollTrafficOf, AnAllReduceByTilesReadsAndWritesEachTileOfEachMember) {
  const auto call = [](Team& team, TwoBuffers buffers) {
    return all_reduce(team, words_of(buffers.out, kBytes), ReduceOp::sum);
  };
  const CollTraffic sum = traffic_of("coll_all_reduce", "mapped-tiles", GetParam(), true, call);
  EXPECT_EQ(sum.read_across, kAcross * kBytes);
  EXPECT_EQ(sum.written_across, kAcross * kBytes);
  EXPECT_EQ(sum.read_inside, (kOfDomain - 1) * kBytes);
  EXPECT_EQ(sum.written_inside, (kOfDomain - 1) * kBytes);
  EXPECT_EQ(sum.staged, 0u);
}

// Requirements H-24, H-25 and HF-16: cyclic tiles move what tiles in team order do.
TEST_P(CollTrafficOf, CyclicTilesMoveAsMuchAndGiveTheSameToAll) {
  const auto call = [](Team& team, TwoBuffers buffers) {
    const auto out = words_of(buffers.out, kBytes);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = i + buffers.rank;
    const Status status = all_reduce(team, out, ReduceOp::sum);
    for (std::size_t i = 0; i < out.size(); ++i)
      EXPECT_EQ(out[i], kRanks * i + kRanks * (kRanks - 1) / 2)
          << "word " << i << " of rank " << buffers.rank;
    return status;
  };
  const CollTraffic sum = traffic_of("coll_all_reduce", "mapped-cyclic-tiles", GetParam(), true, call);
  EXPECT_EQ(sum.read_across, kAcross * kBytes);
  EXPECT_EQ(sum.written_across, kAcross * kBytes);
  EXPECT_EQ(sum.read_inside, (kOfDomain - 1) * kBytes);
  EXPECT_EQ(sum.touched, (3 * kRanks - 1) * kBytes);
  EXPECT_EQ(sum.staged, 0u);
}

TEST_P(CollTrafficOf, AnAllGatherIsThatOfEveryBlockElsewhere) {
  const auto call = [](Team& team, TwoBuffers buffers) {
    return all_gather(team, words_of(buffers.in, kBytes), words_of(buffers.out, kRanks * kBytes));
  };
  const CollTraffic sum = traffic_of("coll_all_gather", "mapped", GetParam(), true, call);
  EXPECT_EQ(sum.read_across, kRanks * kAcross * kBytes);
  EXPECT_EQ(sum.read_inside, kRanks * (kOfDomain - 1) * kBytes);
}

// Requirements H-03 and HF-17: the baseline, in which all that is given is copied in, and out again by each that takes it.
TEST_P(CollTrafficOf, WhatIsForcedThroughTheBoardIsCopiedInAndOut) {
  const auto gather = [](Team& team, TwoBuffers buffers) {
    return all_gather(team, words_of(buffers.in, kBytes), words_of(buffers.out, kRanks * kBytes));
  };
  const CollTraffic gathered = traffic_of("coll_all_gather", "flags-stream", GetParam(), true, gather);
  EXPECT_EQ(gathered.staged, kRanks * kBytes);
  EXPECT_EQ(gathered.read_across, kRanks * kAcross * kBytes);
  EXPECT_EQ(gathered.read_inside, kRanks * (kOfDomain - 1) * kBytes);

  const auto add = [](Team& team, TwoBuffers buffers) {
    return all_reduce(team, words_of(buffers.out, kBytes), ReduceOp::sum);
  };
  const CollTraffic added = traffic_of("coll_all_reduce", "flags-stream", GetParam(), true, add);
  EXPECT_EQ(added.staged, (kRanks + 1) * kBytes) << "the contributions, and the result";
  EXPECT_EQ(added.read_across, 2 * kAcross * kBytes);
  EXPECT_EQ(added.read_inside, 2 * (kOfDomain - 1) * kBytes);
  EXPECT_EQ(added.written_across + added.written_inside, 0u);

  const auto exchange = [](Team& team, TwoBuffers buffers) {
    return all_to_all(team, words_of(buffers.in, kRanks * kBytes), words_of(buffers.out, kRanks * kBytes));
  };
  const CollTraffic exchanged = traffic_of("coll_all_to_all", "flags-stream", GetParam(), true, exchange);
  EXPECT_EQ(exchanged.staged, kRanks * kRanks * kBytes);
  EXPECT_EQ(exchanged.read_inside, kRanks * (kOfDomain - 1) * kBytes);
  EXPECT_EQ(exchanged.read_across, kRanks * kAcross * kBytes);
}

// Requirements HF-16 and HT-01. Wherever the ranks are, and however many are in a domain.

constexpr Host kHosts[] = {{2, 4}, {2, 6}, {4, 8}, {8, 16}};

class CollTrafficByDomains : public testing::Test {
 protected:
  void SetUp() override {
    // hwloc reads the description, and a build may lack it.
    if (!pretends_topology()) GTEST_SKIP() << "no hwloc";
  }
  static void check(const std::string& setting, const std::string& algorithm,
                    const std::function<Status(Team&, TwoBuffers)>& call, std::uint64_t blocks_across,
                    std::uint64_t blocks_inside_of_domain) {
    for (const Host& host : kHosts) {
      for (const std::string& places : {std::string(), scattered(host)}) {
        SCOPED_TRACE(host.text() + " " + places);
        const CollTraffic sum = traffic_of(setting, algorithm, places, true, call, host);
        EXPECT_EQ(sum.read_across, blocks_across * (host.domains - 1) * kBytes);
        EXPECT_EQ(sum.read_inside, blocks_inside_of_domain * host.domains * (host.each - 1) * kBytes);
        EXPECT_EQ(sum.written_across, 0u);
      }
    }
  }
};

TEST_F(CollTrafficByDomains, ABroadcastCrossesOnceForEachDomain) {
  check(
      "coll_broadcast", "mapped-domains",
      [](Team& team, TwoBuffers buffers) { return broadcast(team, words_of(buffers.out, kBytes), 3); }, 1, 1);
}

TEST_F(CollTrafficByDomains, AReduceCrossesOnceForEachDomain) {
  check(
      "coll_reduce", "mapped-domain-tiles",
      [](Team& team, TwoBuffers buffers) {
        return reduce(team, words_of(buffers.in, kBytes), words_of(buffers.out, kBytes), ReduceOp::sum, 5);
      },
      1, 1);
}

TEST_F(CollTrafficByDomains, AnAllReduceCrossesTwiceForEachDomain) {
  check(
      "coll_all_reduce", "mapped-domain-tiles",
      [](Team& team, TwoBuffers buffers) {
        return all_reduce(team, words_of(buffers.out, kBytes), ReduceOp::sum);
      },
      2, 2);
}

// Requirements HF-17 and HT-02.
TEST_F(CollTrafficByDomains, AnAllReduceTouchesAsManyBytesAsTheFormSays) {
  for (const Host& host : {Host{2, 6}, Host{4, 8}}) {
    const MemoryMachine machine{.inside = {},
                                .across = {},
                                .domains = static_cast<std::uint32_t>(host.domains),
                                .members = static_cast<std::uint32_t>(host.each)};
    const Touches expected = touches(machine, 0);
    const auto touched = [&](const char* algorithm, bool in_place) {
      const auto call = [in_place](Team& team, TwoBuffers buffers) {
        const auto out = words_of(buffers.out, kBytes);
        return in_place ? all_reduce(team, out, ReduceOp::sum)
                        : all_reduce(team, words_of(buffers.in, kBytes), out, ReduceOp::sum);
      };
      const CollTraffic sum = traffic_of("coll_all_reduce", algorithm, scattered(host), true, call, host);
      EXPECT_EQ(sum.touched % kBytes, 0u);
      return sum.touched / kBytes;
    };
    SCOPED_TRACE(host.text());
    for (const bool in_place : {false, true}) {
      EXPECT_EQ(touched("mapped-tiles", in_place), expected.tiles);
      EXPECT_EQ(touched("mapped-claims", in_place), expected.tiles);
      EXPECT_EQ(touched("mapped-domain-tiles", in_place), expected.domain_tiles);
      EXPECT_EQ(touched("flags-stream", in_place), expected.copied_tiles);
    }
  }
}

/// Of an operation in which each member has a block: what crosses and what does not, by blocks.
struct BlocksMoved {
  std::uint64_t read_across;
  std::uint64_t read_inside;
  std::uint64_t written_across;
  std::uint64_t staged;
};
constexpr std::uint64_t kOneBlock = 4096;  // 128 ranks have a place for one of each

class CollTrafficOfBlocks : public CollTrafficByDomains {
 protected:
  static void check(const std::string& setting, const std::string& algorithm,
                    const std::function<Status(Team&, TwoBuffers)>& call,
                    const std::function<BlocksMoved(const Host&)>& moved) {
    for (const Host& host : kHosts) {
      for (const std::string& places : {std::string(), scattered(host)}) {
        SCOPED_TRACE(host.text() + " " + places);
        const CollTraffic sum = traffic_of(setting, algorithm, places, true, call, host);
        const BlocksMoved blocks = moved(host);
        EXPECT_EQ(sum.read_across, blocks.read_across * kOneBlock);
        EXPECT_EQ(sum.read_inside, blocks.read_inside * kOneBlock);
        EXPECT_EQ(sum.written_across, blocks.written_across * kOneBlock);
        EXPECT_EQ(sum.staged, blocks.staged * kOneBlock);
      }
    }
  }
  /// The words of a member's block for another one.
  static std::uint64_t word(std::uint64_t member, std::uint64_t block) { return 1000 * member + block; }
  static constexpr std::size_t kWordsOfBlock = kOneBlock / sizeof(std::uint64_t);
  static void fill(std::span<std::uint64_t> words, Rank member) {
    for (std::size_t i = 0; i < words.size(); i += kWordsOfBlock)
      std::ranges::fill(words.subspan(i, kWordsOfBlock), word(member, i / kWordsOfBlock));
  }
  /// `expected`: of the block of a number.
  static void hold(std::span<const std::uint64_t> words,
                   const std::function<std::uint64_t(std::uint64_t)>& expected) {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < words.size(); i += kWordsOfBlock) {
      const auto block = words.subspan(i, kWordsOfBlock);
      wrong +=
          block.size() - static_cast<std::size_t>(std::ranges::count(block, expected(i / kWordsOfBlock)));
    }
    EXPECT_EQ(wrong, 0u) << "words";
  }
};

TEST_F(CollTrafficOfBlocks, AnAllGatherCrossesOnceForEachDomainAndBlock) {
  check(
      "coll_all_gather", "mapped-domain-blocks",
      [](Team& team, TwoBuffers buffers) {
        const auto mine = words_of(buffers.in, kOneBlock);
        const auto all = words_of(buffers.out, team.size() * kOneBlock);
        for (std::uint64_t& each : mine) each = word(buffers.rank, 0);
        const Status status = all_gather(team, mine, all);
        hold(all, [](std::uint64_t block) { return word(block, 0); });
        return status;
      },
      [](const Host& host) {
        const std::uint64_t across = host.ranks() * (host.domains - 1);
        return BlocksMoved{across, host.ranks() * (host.ranks() - 1) - across, 0, 0};
      });
}

TEST_F(CollTrafficOfBlocks, AReduceScatterCrossesOnceForEachDomainAndBlock) {
  check(
      "coll_reduce_scatter", "mapped-domain-tiles",
      [](Team& team, TwoBuffers buffers) {
        const auto all = words_of(buffers.in, team.size() * kOneBlock);
        const auto mine = words_of(buffers.out, kOneBlock);
        fill(all, buffers.rank);
        const Status status = reduce_scatter(team, all, mine, ReduceOp::sum);
        std::uint64_t sum = 0;
        for (Rank r = 0; r < team.size(); ++r) sum += word(r, buffers.rank);
        hold(mine, [sum](std::uint64_t) { return sum; });
        return status;
      },
      [](const Host& host) {
        const std::uint64_t across = host.ranks() * (host.domains - 1);
        return BlocksMoved{across, host.ranks() * host.domains * (host.each - 1), 0, across};
      });
}

// Each block of these has to cross once, and crosses once, whatever the order.
TEST_F(CollTrafficOfBlocks, AnAllToAllCrossesOnceForEachBlockThatMust) {
  for (const char* const algorithm : {"mapped", "mapped-domain-blocks"}) {
    check(
        "coll_all_to_all", algorithm,
        [](Team& team, TwoBuffers buffers) {
          const auto in = words_of(buffers.in, team.size() * kOneBlock);
          const auto out = words_of(buffers.out, team.size() * kOneBlock);
          fill(in, buffers.rank);
          const Status status = all_to_all(team, in, out);
          hold(out, [&](std::uint64_t block) { return word(block, buffers.rank); });
          return status;
        },
        [](const Host& host) {
          return BlocksMoved{host.ranks() * (host.ranks() - host.each), host.ranks() * (host.each - 1), 0, 0};
        });
  }
}

TEST_F(CollTrafficOfBlocks, AScatterAndAGatherCrossOnceForEachBlockElsewhere) {
  check(
      "coll_scatter", "mapped",
      [](Team& team, TwoBuffers buffers) {
        return scatter(team, words_of(buffers.in, team.size() * kOneBlock), words_of(buffers.out, kOneBlock),
                       5);
      },
      [](const Host& host) {
        return BlocksMoved{host.ranks() - host.each, host.each - 1, 0, 0};
      });
  check(
      "coll_gather", "mapped",
      [](Team& team, TwoBuffers buffers) {
        return gather(team, words_of(buffers.in, kOneBlock), words_of(buffers.out, team.size() * kOneBlock),
                      5);
      },
      [](const Host& host) {
        return BlocksMoved{0, 0, host.ranks() - host.each, 0};
      });
}

TEST(CollTraffic, OfNoLevelOrOfATeamThatHasEndedIsAnError) {
  Config config;
  ASSERT_TRUE(config.set("conduit", "smp"));
  auto job = Job::in_process(2, config);
  ASSERT_TRUE(job);
  job->run_each([](Endpoint& me) {
    EXPECT_EQ(coll_traffic(me.world(), 99).status().code(), ErrorCode::out_of_range);
    auto team = me.world().dup();
    ASSERT_TRUE(team);
    EXPECT_EQ(coll_traffic(*team, 0)->read_inside, 0u);
    ASSERT_TRUE(team->end());
    EXPECT_EQ(coll_traffic(*team, 0).status().code(), ErrorCode::closed);
  });
  EXPECT_TRUE(job->finish());
}

}  // namespace
}  // namespace aqueduct::coll::traffic
