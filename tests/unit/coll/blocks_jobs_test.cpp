// Whole jobs whose calls have blocks of different lengths.

#include <aqueduct/aqueduct.hpp>

#include "tests/conformance/collective_v.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace aqueduct::coll {
namespace {

using conformance::BlocksCase;
using conformance::kBlocksCollectives;

class BlocksJobs : public testing::Test {
 protected:
  void start(Rank ranks, std::initializer_list<std::pair<const char*, const char*>> settings = {}) {
    Config config;
    ASSERT_TRUE(config.set("conduit", "loop"));
    ASSERT_TRUE(config.set("near", "off"));
    ASSERT_TRUE(config.set("segment_bytes", "4K"));
    ASSERT_TRUE(config.set("log", "off"));
    for (const auto& [name, value] : settings) ASSERT_TRUE(config.set(name, value)) << name;
    auto made = Job::in_process(ranks, config);
    ASSERT_TRUE(made) << made.status().text();
    job_.emplace(*std::move(made));
  }
  static std::uint64_t messages(Endpoint& ep) {
    for (const StatisticsRow& one : ep.statistics_rows()) {
      if (one.name == "collective_messages") return *one.counter;
    }
    ADD_FAILURE() << "there is no such row";
    return 0;
  }

  std::optional<Job> job_;
};

TEST_F(BlocksJobs, OfSeventeenRanksEqualTheModel) {
  start(17);
  job_->run_each([](Endpoint& ep) {
    std::uint64_t number = 0;
    for (const Collective operation : kBlocksCollectives) {
      for (const std::uint64_t most : {0u, 1u, 9u, 400u}) {
        for (const Rank root : {0u, 16u, 5u}) {
          const BlocksCase made{.operation = operation,
                                .number = ++number,
                                .most = most,
                                .root = root,
                                .packed = number % 3 == 0,
                                .in_place = number % 5 == 0 && conformance::has_blocks_place(operation),
                                .known = number % 2 == 0};
          ASSERT_NO_FATAL_FAILURE(conformance::try_blocks<std::int64_t>(ep, ep.world(), made));
        }
      }
    }
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job_->finish());
}

// Pieces of a few bytes, with elements that are cut.
TEST_F(BlocksJobs, NeedLittleScratch) {
  start(6, {{"coll_team_scratch", "4K"}});
  job_->run_each([](Endpoint& ep) {
    auto team = ep.world().split(0, 6 - ep.rank());
    ASSERT_TRUE(team && *team);
    std::uint64_t number = 50;
    for (const Collective operation : kBlocksCollectives) {
      for (const std::uint64_t most : {1u, 31u, 500u, 1500u}) {
        BlocksCase made{.operation = operation, .number = ++number, .most = most, .root = 4};
        made.options.out = number % 2 == 0 ? Sync::all : Sync::mine;
        ASSERT_NO_FATAL_FAILURE(conformance::try_blocks<double>(ep, **team, made));
      }
    }
    ASSERT_TRUE((*team)->end());
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job_->finish());
}

// With Sync::all at the end, all messages of a call have been sent when all members have returned.
TEST_F(BlocksJobs, SendAMessageForEachBlockThatIsNotEmpty) {
  constexpr Rank kRanks = 5;
  constexpr std::uint64_t kPass = 3 * kRanks;  // the signals at the end
  start(kRanks);
  const auto sent_so_far = [&] {
    std::uint64_t sent = 0;
    for (Rank i = 0; i < kRanks; ++i) sent += messages(job_->endpoint(i));
    return sent;
  };
  const auto sent_by = [&](const BlocksCase& made) {
    const std::uint64_t before = sent_so_far();
    job_->run_each([&](Endpoint& ep) {
      ASSERT_NO_FATAL_FAILURE(conformance::try_blocks<std::int32_t>(ep, ep.world(), made));
    });
    return sent_so_far() - before;
  };
  for (const Collective operation : kBlocksCollectives) {
    BlocksCase made{.operation = operation, .number = 7, .most = 0, .root = 2};
    const std::uint64_t comparing = sent_by(made);
    made.most = 6;
    const conformance::BlocksModel model(made, kRanks);
    std::uint64_t blocks = 0;
    for (Rank from = 0; from < kRanks; ++from) {
      for (Rank to = 0; to < kRanks; ++to) blocks += from != to && model.length(from, to) != 0 ? 1 : 0;
    }
    EXPECT_EQ(sent_by(made), comparing + blocks + (blocks != 0 ? kPass : 0)) << text_of(made);
  }
  EXPECT_TRUE(job_->finish());
}

}  // namespace
}  // namespace aqueduct::coll
