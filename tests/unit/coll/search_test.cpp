// The search for the fastest of some candidates, with times that the test supplies.

#include "coll/tune/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>
#include <vector>

namespace aqueduct::coll {
namespace {

using namespace std::chrono_literals;

/// Candidates with a time each, and noise that only adds.
struct Field {
  std::vector<std::uint64_t> times;
  double noise = 0;
  std::mt19937_64 random{7};
  std::uint64_t calls = 0;
  std::vector<std::uint64_t> of_each = std::vector<std::uint64_t>(times.size());

  Result<std::vector<Samples>> measure(std::span<const std::size_t> who, std::uint32_t repetitions) {
    std::vector<Samples> out(who.size());
    std::exponential_distribution<double> more(1);
    for (std::uint32_t i = 0; i < repetitions; ++i) {
      for (std::size_t k = 0; k < who.size(); ++k) {
        const auto base = static_cast<double>(times[who[k]]);
        out[k].push_back(static_cast<std::uint64_t>(base * (1 + noise * more(random))));
        ++calls;
        ++of_each[who[k]];
      }
    }
    return out;
  }
  Result<Found> search(std::chrono::nanoseconds time = 1h) {
    return coll::search(times.size(), time,
                        [this](std::span<const std::size_t> who, std::uint32_t repetitions) {
                          return measure(who, repetitions);
                        });
  }
};

TEST(Search, FindsTheFastestAndTheNext) {
  Field field{.times = {500, 300, 900, 200, 250, 400, 800, 700}};
  const auto found = field.search();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->best, 3u);
  EXPECT_EQ(found->runner_up, 4u);
  EXPECT_EQ(found->best_time, 200u);
  EXPECT_EQ(found->runner_up_time, 250u);
  EXPECT_EQ(found->samples, 5u);
  EXPECT_TRUE(found->decided);
  // Without noise: 2 of each, 3 of the best four, 5 of the best two.
  EXPECT_EQ(field.of_each, (std::vector<std::uint64_t>{2, 3, 2, 5, 5, 3, 2, 2}));
}

TEST(Search, CallsMoreOftenWhatNoiseLeavesOpen) {
  const auto calls = [](double noise) {
    Field field{.times = {1000, 1020, 1040, 2000, 3000}, .noise = noise};
    EXPECT_TRUE(field.search());
    EXPECT_LE(*std::max_element(field.of_each.begin(), field.of_each.end()), kMostRepetitions);
    EXPECT_LE(field.of_each[4], 5u) << "three times as slow";
    return field.calls;
  };
  EXPECT_LE(calls(0.001), 5u * 5);
  EXPECT_GE(calls(0.5), 3u * 20);
}

// What a search costs by noise, and how much slower than the best what it finds is.
TEST(Search, OfNoiseFindsWhatIsGoodEnough) {
  std::mt19937_64 random(3);
  std::vector<double> regrets;
  std::uint64_t calls = 0;
  constexpr std::uint64_t kFields = 400;
  for (std::uint64_t seed = 0; seed < kFields; ++seed) {
    Field field{.times = std::vector<std::uint64_t>(8), .noise = 0.1};
    for (std::uint64_t& time : field.times) time = 10'000 + random() % 10'000;
    field.random.seed(seed);
    const auto found = field.search();
    ASSERT_TRUE(found);
    const auto best = static_cast<double>(*std::min_element(field.times.begin(), field.times.end()));
    regrets.push_back(static_cast<double>(field.times[found->best]) / best - 1);
    calls += field.calls;
  }
  std::sort(regrets.begin(), regrets.end());
  EXPECT_LE(regrets[kFields * 95 / 100], 0.05);
  EXPECT_LE(calls / kFields, 8u * kMostRepetitions / 5);
}

// The first call of each is longer than the others, as it makes what is kept.
TEST(Search, IsNotMisledByFirstCalls) {
  std::vector<std::uint64_t> calls(6);
  const std::vector<std::uint64_t> times{500, 300, 900, 200, 250, 400};
  const auto found = search(6, 1h, [&](std::span<const std::size_t> who, std::uint32_t repetitions) {
    std::vector<Samples> out(who.size());
    for (std::size_t k = 0; k < who.size(); ++k) {
      for (std::uint32_t i = 0; i < repetitions; ++i)
        out[k].push_back(times[who[k]] * (calls[who[k]]++ == 0 ? 10 : 1));
    }
    return Result<std::vector<Samples>>(std::move(out));
  });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->best, 3u);
  EXPECT_EQ(found->best_time, 200u);
  EXPECT_EQ(calls, (std::vector<std::uint64_t>{2, 3, 2, 5, 5, 3}));
}

TEST(Search, OfNoiseTwiceTheDifferenceStillFindsIt) {
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Field field{.times = {1000, 1150, 1300, 1500}, .noise = 0.3};
    field.random.seed(seed);
    const auto found = field.search();
    ASSERT_TRUE(found);
    if (found->best != 0) ++wrong;
  }
  EXPECT_LE(wrong, 2);
}

TEST(Search, SaysWhenNoiseLeavesOpenWhichOneIsFaster) {
  const auto decided = [](double noise) {
    int count = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      Field field{.times = {1000, 1000}, .noise = noise};
      field.random.seed(seed);
      count += field.search()->decided ? 1 : 0;
    }
    return count;
  };
  EXPECT_GE(decided(0.02), 45) << "either will do";
  EXPECT_LE(decided(0.3), 10) << "by chance, or as they are level";
}

// Of two that differ by 6 %: how often a result that is called decided is the wrong one.
TEST(Search, IsSeldomDecidedWrongly) {
  int decided = 0;
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Field field{.times = {1060, 1000}, .noise = 0.1};
    field.random.seed(seed);
    const auto found = field.search();
    ASSERT_TRUE(found);
    decided += found->decided ? 1 : 0;
    wrong += found->decided && found->best == 0 ? 1 : 0;
  }
  EXPECT_GE(decided, 300);
  EXPECT_LE(wrong, 12);
}

TEST(Search, WithoutTimeStillTakesTheBestOfFew) {
  Field field{.times = {500'000, 300'000, 400'000}};
  const auto found = field.search(1us);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->best, 1u);
  EXPECT_FALSE(found->decided) << "three repetitions decide nothing";
  EXPECT_LE(field.calls, 3u * 3);
}

TEST(Search, OfOneCandidateIsDecided) {
  Field field{.times = {500}};
  const auto found = field.search();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->best, 0u);
  EXPECT_EQ(found->runner_up, 0u);
  EXPECT_TRUE(found->decided);
}

TEST(Search, EndsWithAFailureOfItsMeasurement) {
  int calls = 0;
  const auto found = search(3, 1h, [&](std::span<const std::size_t> who, std::uint32_t times) {
    if (++calls == 2) return Result<std::vector<Samples>>(Status(ErrorCode::peer_lost, 4));
    return Result<std::vector<Samples>>(std::vector<Samples>(who.size(), Samples(times, 9)));
  });
  EXPECT_EQ(found.status(), Status(ErrorCode::peer_lost, 4));
  EXPECT_EQ(calls, 2);
}

TEST(Search, KnowsWhatChanceExplains) {
  EXPECT_FALSE(is_faster({1, 1, 1}, {2, 2, 2})) << "three of three";
  EXPECT_TRUE(is_faster({1, 1, 1, 1}, {2, 2, 2, 2}));
  EXPECT_FALSE(is_faster({}, {}));
  EXPECT_EQ(median_of({9, 1, 5}), 5u);
  EXPECT_EQ(median_of({}), 0u);
}

}  // namespace
}  // namespace aqueduct::coll
