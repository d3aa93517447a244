#include "coll/algorithms/algorithms.hpp"
#include "coll/schedule/schedule.hpp"
#include "coll/scratch/banks.hpp"
#include "coll/scratch/layout.hpp"
#include "coll/scratch/team_scratch.hpp"
#include "coll/tune/operation_word.hpp"
#include "coll/tune/table.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

namespace aqueduct::coll {
namespace {

constexpr ScratchSizes kSmall{.banks = 3, .counters = 10, .bytes = 256};

TEST(ScratchBanks, GiveOnePortionAfterTheOther) {
  const ScratchLayout layout(kSmall, 4);
  ScratchBanks banks(layout);
  const Portion first = banks.open({.scratch = 1, .counters = 3});
  EXPECT_EQ(first.epoch, 0u);
  EXPECT_EQ(first.offset, 0u);
  EXPECT_EQ(first.bytes, kScratchLine);
  EXPECT_EQ(first.first_counter, 0u);
  const Portion second = banks.open({.scratch = 192, .counters = 7});
  EXPECT_EQ(second.epoch, 0u) << "it fits exactly";
  EXPECT_EQ(second.offset, 64u);
  EXPECT_EQ(second.first_counter, 3u);
  EXPECT_EQ(banks.open({}).epoch, 0u) << "nothing fits everywhere";
  const Portion third = banks.open({.counters = 1});
  EXPECT_EQ(third.epoch, 1u) << "no counter is left";
  EXPECT_EQ(third.offset, 256u);
  EXPECT_EQ(third.first_counter, 10u);
  const Portion fourth = banks.open({.scratch = 256});
  EXPECT_EQ(fourth.epoch, 1u);
  const Portion fifth = banks.open({.scratch = 1});
  EXPECT_EQ(fifth.epoch, 2u) << "no byte is left";
  EXPECT_EQ(fifth.offset, 512u);
  const Portion sixth = banks.open({.scratch = 256});
  EXPECT_EQ(sixth.epoch, 3u);
  EXPECT_EQ(sixth.offset, 0u) << "the first bank again";
  EXPECT_EQ(sixth.first_counter, 0u);
}

TEST(ScratchBanks, GiveTheSamePortionsToOperationsThatAreOpenedAgain) {
  const ScratchLayout layout(kSmall, 4);
  ScratchBanks all(layout);
  ScratchBanks again(layout);
  const Needs needs{.scratch = 100, .counters = 3};
  Portion portion = again.open(needs);
  EXPECT_EQ(portion.offset, all.open(needs).offset);
  int opened_again = 0;
  for (int i = 0; i < 50; ++i) {
    if (i % 7 == 0) {
      EXPECT_EQ(all.open({.counters = 1}).offset, again.open({.counters = 1}).offset);
    }
    const Portion expected = all.open(needs);
    if (again.open_again(portion))
      ++opened_again;
    else
      portion = again.open(needs);
    EXPECT_EQ(portion.epoch, expected.epoch) << i;
    EXPECT_EQ(portion.offset, expected.offset) << i;
    EXPECT_EQ(portion.first_counter, expected.first_counter) << i;
    EXPECT_EQ(portion.bytes, 128u);
    EXPECT_EQ(portion.counters, 3u);
  }
  EXPECT_GT(opened_again, 10);
}

TEST(ScratchBanks, RefuseWhatIsLargerThanABank) {
  const ScratchLayout layout(kSmall, 4);
  const ScratchBanks banks(layout);
  EXPECT_EQ(layout.refusal({.scratch = 256, .counters = 10}), nullptr);
  EXPECT_STRNE(layout.refusal({.scratch = 257}), nullptr);
  EXPECT_STRNE(layout.refusal({.counters = 11}), nullptr);
  EXPECT_STRNE(layout.refusal({.scratch = ~std::uint64_t{0}}), nullptr) << "whole lines of it wrap around";
}

TEST(ScratchLayout, CountersHaveNumbersOfTheirOwn) {
  for (const Rank ranks : {1u, 2u, 5u, 64u, 65u, 1000u}) {
    const ScratchLayout layout(kSmall, ranks);
    std::set<std::uint32_t> numbers;
    std::uint32_t expected = 0;
    const auto add = [&](std::uint32_t first, std::uint32_t count) {
      for (std::uint32_t i = 0; i < count; ++i) numbers.insert(first + i);
      expected += count;
    };
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) add(layout.bank_counter(epoch), 10);
    EXPECT_EQ(layout.operation_counters(), 30u);
    EXPECT_EQ(layout.clears(), ranks <= kMostCleared);
    if (layout.clears()) add(layout.clear_counter(0), ranks);
    add(layout.round_counter(0), layout.rounds());
    EXPECT_EQ(numbers.size(), expected) << ranks << " members";
    EXPECT_EQ(layout.counters(), expected) << ranks << " members";
    EXPECT_EQ(layout.bytes(), 3 * 256);
  }
}

TEST(ScratchLayout, FitsIntoWhatATeamIsGiven) {
  for (const Rank ranks : {1u, 4u, 64u, 300u}) {
    const ScratchLayout least(least_scratch(ranks), ranks);
    EXPECT_FALSE(ScratchLayout::sizes_within(least.bytes() - 1, 65536, ranks)) << ranks << " members";
    EXPECT_FALSE(ScratchLayout::sizes_within(8 << 20, least.counters() - 1, ranks)) << ranks << " members";
    for (std::uint64_t bytes = least.bytes(); bytes < least.bytes() + (4 << 20); bytes += 1 + bytes / 7) {
      for (std::uint64_t counters = least.counters(); counters < 8192; counters += 1 + counters / 5) {
        const auto sizes = ScratchLayout::sizes_within(bytes, counters, ranks);
        ASSERT_TRUE(sizes);
        const ScratchLayout layout(*sizes, ranks);
        EXPECT_LE(layout.bytes(), bytes);
        EXPECT_GT(layout.bytes() + sizes->banks * kScratchLine, bytes) << "memory is left over";
        EXPECT_LE(layout.counters(), counters);
        EXPECT_EQ(sizes->bytes % kScratchLine, 0u);
        EXPECT_GE(sizes->bytes, least_scratch(ranks).bytes);
        EXPECT_GE(sizes->counters, least_scratch(ranks).counters);
      }
    }
  }
}

TEST(ScratchLayout, TheLeastServesEveryOperation) {
  for (const Rank ranks : {1u, 2u, 3u, 7u, 16u, 64u, 129u, 1000u, 32768u}) {
    const ScratchLayout layout(least_scratch(ranks), ranks);
    for (const Algorithm* const algorithm : all_algorithms()) {
      Shape shape{.operation = algorithm->operation};
      shape.ranks = ranks;
      shape.element = 16;
      shape.bytes = shape.pitch = algorithm->operation == Operation::barrier ? 0 : 16;
      const Choice choice = TableChooser().choose(shape, {.ranks = ranks}, layout);
      EXPECT_NE(choice.algorithm, nullptr)
          << operation_word(algorithm->operation) << ", " << ranks << " members: " << choice.why;
    }
  }
}

// A program may have a thousand teams, and a job a hundred thousand ranks.
TEST(ScratchLayout, TheLeastIsLittle) {
  const auto least = [](Rank ranks) { return ScratchLayout(least_scratch(ranks), ranks); };
  EXPECT_EQ(least(2).bytes(), 1024u);
  EXPECT_EQ(least(2).counters(), 39u);
  EXPECT_EQ(least(16).bytes(), 1024u);
  EXPECT_EQ(least(16).counters(), 56u);
  EXPECT_EQ(least(131056).bytes(), 4u << 20) << "all that a rank has with the default settings";
  EXPECT_LT(least(131056).counters(), 150u);
}

}  // namespace
}  // namespace aqueduct::coll
