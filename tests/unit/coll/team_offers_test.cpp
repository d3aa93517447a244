#include <aqueduct/aqueduct.hpp>

#include "coll/engine/team_offers.hpp"
#include "core/signals.hpp"
#include "tests/support/loop_job.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace aqueduct::coll {
namespace {

class TeamOffersOfARank : public testing::Test {
 protected:
  void start(Rank ranks, const support::Settings& settings = {}) {
    ASSERT_NO_FATAL_FAILURE(support::start_over_loop(job_, ranks, settings));
    offers_.emplace(state());
  }
  aqueduct::detail::EndpointState& state() { return job_->endpoint(0).state(); }
  core::HiddenLayout layout() { return core::my_hidden_layout(state()); }

  std::optional<Job> job_;
  std::optional<TeamOffers> offers_;
};

TEST(TeamOffers, TheLeastRoomServesSoManyMembers) {
  for (const Rank ranks : {1u, 2u, 3u, 63u, 64u, 65u, 99u, 1000u, 65'536u}) {
    const ScratchRoom room = least_room(ranks);
    EXPECT_TRUE(ScratchLayout::sizes_within(room.bytes, room.counters, ranks)) << ranks << " members";
    EXPECT_FALSE(ScratchLayout::sizes_within(room.bytes - 1, room.counters, ranks)) << ranks << " members";
    EXPECT_FALSE(ScratchLayout::sizes_within(room.bytes, room.counters - 1, ranks)) << ranks << " members";
  }
}

TEST(TeamOffers, TheLeastOfAllCounts) {
  const std::array<TeamOffer, 3> offers{TeamOffer{0, 0, 4000, 1 << 20}, TeamOffer{64, 64, 2000, 1 << 20},
                                        TeamOffer{8, 64, 4000, 1 << 18}};
  EXPECT_EQ(agreed_sizes(offers), ScratchLayout::sizes_within(1 << 18, 2000, 3));
  std::array<TeamOffer, 3> one_without = offers;
  one_without[1] = {};
  EXPECT_FALSE(agreed_sizes(one_without));
  EXPECT_FALSE(agreed_sizes({}));
}

TEST_F(TeamOffersOfARank, LieBehindThePlaceOfAllRanksAndApart) {
  ASSERT_NO_FATAL_FAILURE(start(4, {{"signals", "3"}}));
  const auto world = world_offers(state());
  ASSERT_EQ(world.size(), 4u);
  EXPECT_EQ(world[0], world[3]);
  EXPECT_EQ(world[0].first_counter, 8u);
  EXPECT_EQ(world[0].bytes, layout().scratch / 2);
  const auto sizes = agreed_sizes(world);
  ASSERT_TRUE(sizes);
  EXPECT_EQ(sizes, ScratchLayout::sizes_within(world[0].bytes, layout().counters, 4))
      << "no counter is missing";
  EXPECT_EQ(world[0].counters, ScratchLayout(*sizes, 4).counters()) << "nor left over";
  std::uint64_t next_counter = world[0].first_counter + world[0].counters;
  std::uint64_t next_byte = world[0].offset + world[0].bytes;
  for (int i = 0; i < 5; ++i) {
    const TeamOffer offer = offers_->take(4);
    EXPECT_EQ(offer.bytes, 64u << 10);
    EXPECT_EQ(offer.first_counter, next_counter);
    EXPECT_EQ(offer.offset, next_byte);
    EXPECT_TRUE(agreed_sizes({&offer, 1}));
    next_counter += offer.counters;
    next_byte += offer.bytes;
    const auto words = offers_->counters_of(offer);
    ASSERT_EQ(words.size(), offer.counters);
    EXPECT_TRUE(std::all_of(words.begin(), words.end(), [](std::uint64_t word) { return word == 0; }));
    std::fill(words.begin(), words.end(), 1);  // stays within the part: the sanitizer would see it
    std::fill_n(offers_->bytes_of(offer), offer.bytes, std::byte{1});
  }
  EXPECT_LE(next_counter, layout().slots());
  EXPECT_LE(next_byte, layout().scratch_at + layout().scratch);
}

TEST_F(TeamOffersOfARank, BecomeSmallerAndEndWithNone) {
  ASSERT_NO_FATAL_FAILURE(start(2));
  std::vector<TeamOffer> taken;
  for (;;) {
    const TeamOffer offer = offers_->take(2);
    if (offer.bytes == 0) {
      EXPECT_EQ(offer, TeamOffer{});
      break;
    }
    EXPECT_LE(offer.bytes, taken.empty() ? offer.bytes : taken.back().bytes);
    const std::array both{offer, offer};
    ASSERT_TRUE(agreed_sizes(both));
    taken.push_back(offer);
    ASSERT_LT(taken.size(), 10'000u);
  }
  EXPECT_GE(taken.size(), 1000u);
  EXPECT_EQ(taken.front().bytes, 64u << 10);
  EXPECT_EQ(taken.back().bytes, least_room(2).bytes);
  offers_->give_back({});  // nothing
  for (const TeamOffer& offer : taken) offers_->give_back(offer);
  EXPECT_EQ(offers_->memory().places(), 0u);
  EXPECT_EQ(offers_->take(2).bytes, 64u << 10);
}

// As the comment of `take` says.
TEST_F(TeamOffersOfARank, ServeAThousandTeamsOfUpTo16Members) {
  ASSERT_NO_FATAL_FAILURE(start(2));
  const std::array<std::pair<Rank, std::size_t>, 5> expected{
      {{2, 1000}, {4, 1000}, {8, 1000}, {16, 1000}, {64, 400}}};
  for (const auto& [members, teams] : expected) {
    std::vector<TeamOffer> taken;
    while (taken.size() < teams) {
      taken.push_back(offers_->take(members));
      ASSERT_NE(taken.back().bytes, 0u) << "team " << taken.size() << " of " << members << " members";
      const std::vector<TeamOffer> all(members, taken.back());
      ASSERT_TRUE(agreed_sizes(all));
    }
    for (const TeamOffer& offer : taken) offers_->give_back(offer);
  }
}

TEST_F(TeamOffersOfARank, ATeamOfOneTakesNothing) {
  ASSERT_NO_FATAL_FAILURE(start(2));
  EXPECT_EQ(offers_->take(1), TeamOffer{});
  EXPECT_EQ(offers_->memory().places(), 0u);
}

TEST_F(TeamOffersOfARank, WithTheLeastSettingsThereIsRoomForAllRanksAtLeast) {
  ASSERT_NO_FATAL_FAILURE(start(4, {{"coll_counters", "1024"}, {"coll_scratch", "64K"}}));
  EXPECT_TRUE(agreed_sizes(world_offers(state())));
  EXPECT_NE(offers_->take(4).bytes, 0u);
}

TEST_F(TeamOffersOfARank, ThePlaceOfAllRanksIsNotGivenBack) {
  ASSERT_NO_FATAL_FAILURE(start(2));
  const std::uint64_t free = offers_->memory().free_bytes();
  offers_->give_back(world_offers(state())[0]);
  EXPECT_EQ(offers_->memory().free_bytes(), free);
}

}  // namespace
}  // namespace aqueduct::coll
