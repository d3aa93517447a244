// Pieces: how an algorithm does a long block with little scratch.

#include "coll/algorithms/algorithms.hpp"
#include "coll/schedule/schedule.hpp"
#include "coll/scratch/banks.hpp"
#include "coll/tune/fit.hpp"
#include "coll/tune/operation_word.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace aqueduct::coll {
namespace {

constexpr std::uint64_t kLongBlock = 160 << 10;

/// Whether `times` pieces of this many bytes fit into a bank.
bool fits_times(const Algorithm& algorithm, const Fit& like, std::uint64_t piece, unsigned times,
                const ScratchLayout& scratch) {
  Needs needs = portion_of(algorithm, piece_of(like.shape, piece));
  needs.scratch = whole_lines(needs.scratch) * times;
  needs.counters *= times;
  return scratch.refusal(needs) == nullptr;
}

/// The largest power of two of which `times` pieces fit; 0 if none does.
std::uint64_t largest_times(const Algorithm& algorithm, const Fit& like, unsigned times,
                            const ScratchLayout& scratch) {
  std::uint64_t piece = std::uint64_t{1} << 17;
  while (piece >= 8 && !fits_times(algorithm, like, piece, times, scratch)) piece /= 2;
  return piece >= 8 ? piece : 0;
}

TEST(Fit, TakesTwoPiecesInABankUnlessTheyAreMuchShorterThanOne) {
  int twice = 0, alone = 0;
  for (const Algorithm* const each : all_algorithms()) {
    const Algorithm& algorithm = *each;
    if (!algorithm.parameters.empty() || algorithm.operation == Operation::barrier) continue;
    for (const Rank ranks : {2u, 6u, 16u}) {
      for (std::uint64_t bytes = 128; bytes <= 65536; bytes *= 2) {
        Shape shape;
        shape.operation = algorithm.operation;
        shape.ranks = ranks;
        shape.element = 8;
        shape.bytes = shape.pitch = kLongBlock;
        const ScratchLayout scratch({.banks = 3, .counters = 4096, .bytes = bytes}, ranks);
        const TeamTraits team{.ranks = ranks, .one_host = false, .mapped = false};
        const Fit made = fit(algorithm, {}, shape, team, scratch);
        if (made.refusal != nullptr || made.piece >= kLongBlock) continue;
        SCOPED_TRACE(testing::Message() << operation_word(algorithm.operation) << ' ' << algorithm.name
                                        << ", " << ranks << " members, " << bytes << " bytes");
        EXPECT_EQ(made.piece % 8, 0u);
        ASSERT_TRUE(fits_times(algorithm, made, made.piece, 1, scratch)) << made.piece;
        EXPECT_GE(3 * made.piece, largest_times(algorithm, made, 1, scratch));
        if (fits_times(algorithm, made, made.piece, 2, scratch)) {
          ++twice;
        } else {  // then two of a third would not fit
          ++alone;
          EXPECT_FALSE(fits_times(algorithm, made, (made.piece + 23) / 24 * 8 + 8, 2, scratch)) << made.piece;
        }
      }
    }
  }
  EXPECT_GT(twice, 20);
  EXPECT_GT(alone, 5);
}

}  // namespace
}  // namespace aqueduct::coll
