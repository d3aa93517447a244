// Which candidate the calls of a key use, on members that see different times.

#include "coll/tune/bandit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

namespace aqueduct::coll {
namespace {

/// The same key on some members. Each call takes on each member what `time(candidate, call)` says, and up to `noise` of it more.
class BanditMembers {
 public:
  using Time = std::function<std::uint64_t(std::size_t candidate, std::uint64_t call)>;
  BanditMembers(std::size_t members, std::size_t candidates, Time time, double noise = 0)
      : members_(members, Bandit(candidates)), time_(std::move(time)), noise_(noise) {}

  void call() {
    const Bandit::Due due = members_[0].due();
    for (Bandit& one : members_) ASSERT_EQ(one.due(), due);
    if (due == Bandit::Due::combine) {
      ASSERT_FALSE(combined_) << "combined twice before going on";
      combined_ = true;
      ++combinings_;
      all_ = {};
      for (Bandit& one : members_) {
        const Bandit::Words words = one.words(cost_);
        for (std::size_t i = 0; i < words.size(); ++i) all_[i] = std::max(all_[i], words[i]);
      }
      since_combined_ = 0;
    } else if (due == Bandit::Due::go_on) {
      ASSERT_TRUE(combined_);
      EXPECT_GE(since_combined_, 13u) << "no time to combine";
      judged_.push_back(calls_);
      combined_ = false;
      bool changes = false;
      for (Bandit& one : members_) changes = one.go_on(all_);
      if (changes) ++changes_;
    }
    const std::size_t candidate = members_[0].next();
    for (std::size_t i = 1; i < members_.size(); ++i) ASSERT_EQ(members_[i].next(), candidate);
    std::uniform_real_distribution<double> more(1, 1 + noise_);
    for (Bandit& one : members_) {
      const auto took =
          static_cast<std::uint64_t>(static_cast<double>(time_(candidate, calls_)) * more(random_));
      one.took(candidate, took);
    }
    spent_ += time_(candidate, calls_);
    used_.push_back(candidate);
    if (candidate != members_[0].best()) tried_.push_back(calls_);
    ++calls_;
    ++since_combined_;
  }
  void calls(int count) {
    for (int i = 0; i < count && !testing::Test::HasFatalFailure(); ++i) call();
  }

  /// Calls take so long from now on.
  void take(Time time) { time_ = std::move(time); }
  /// What combining takes from now on.
  void combining_costs(std::uint64_t cost) { cost_ = cost; }
  /// All members know from before that candidate 0 is the fastest.
  void settle() {
    for (Bandit& one : members_) one.settle();
  }

  const Bandit& first() const { return members_[0]; }
  const std::vector<std::size_t>& used() const { return used_; }
  std::uint64_t spent() const { return spent_; }
  std::uint64_t combinings() const { return combinings_; }
  std::uint64_t changes() const { return changes_; }
  /// The calls before which the members went on by what they had combined.
  const std::vector<std::uint64_t>& judged() const { return judged_; }
  /// The calls that used another candidate than the best one.
  const std::vector<std::uint64_t>& tried() const { return tried_; }

 private:
  std::vector<Bandit> members_;
  Time time_;
  double noise_;
  std::mt19937_64 random_{7};
  Bandit::Words all_{};
  bool combined_ = false;
  std::uint64_t calls_ = 0;
  std::uint64_t since_combined_ = 0;
  std::uint64_t spent_ = 0;
  std::uint64_t cost_ = 0;
  std::uint64_t combinings_ = 0;
  std::uint64_t changes_ = 0;
  std::vector<std::size_t> used_;
  std::vector<std::uint64_t> judged_;
  std::vector<std::uint64_t> tried_;
};

BanditMembers::Time constant(std::vector<std::uint64_t> times) {
  return [times = std::move(times)](std::size_t candidate, std::uint64_t) { return times[candidate]; };
}

TEST(Bandit, WithOneCandidateCombinesNothing) {
  Bandit only(1);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(only.due(), Bandit::Due::nothing);
    ASSERT_EQ(only.next(), 0u);
    only.took(0, 5);
  }
}

TEST(Bandit, FindsTheFastestAndStaysWithIt) {
  BanditMembers members(4, 8, constant({1000, 1400, 900, 2000, 700, 800, 5000, 1100}), 0.02);
  members.calls(2000);
  EXPECT_EQ(members.first().best(), 4u);
  EXPECT_EQ(members.first().runner_up(), 5u);
  EXPECT_TRUE(members.first().is_settled());
  EXPECT_NEAR(static_cast<double>(members.first().time_of(4)), 700, 21);
}

// One member's calls find no room now and then, and its program makes them again.
// An earlier job has found the fastest one: what is known is not found out again at the cost of this one.
TEST(Bandit, ThatIsSettledTriesTheOthersSeldomAndStillLeavesOneThatBecomesSlow) {
  for (const bool settled : {false, true}) {
    BanditMembers members(3, 8, [](std::size_t candidate, std::uint64_t) { return 1000 + 100 * candidate; });
    if (settled) members.settle();
    EXPECT_EQ(members.first().is_settled(), settled);
    members.calls(1000);
    EXPECT_EQ(members.first().best(), 0u);
    if (settled) {
      EXPECT_LE(members.first().trials(), 4u);
    } else {
      EXPECT_GE(members.first().trials(), 7u);
    }
    members.take([](std::size_t candidate, std::uint64_t) { return candidate == 0 ? 9000 : 1000; });
    members.calls(200);
    EXPECT_NE(members.first().best(), 0u);
  }
}

TEST(Bandit, DoesNotCountACallThatIsTakenBack) {
  Bandit smooth(3), rough(3);
  for (int call = 0; call < 2000; ++call) {
    ASSERT_EQ(smooth.due(), rough.due()) << call;
    if (smooth.due() == Bandit::Due::combine) {
      smooth.words();
      rough.words();
    } else if (smooth.due() == Bandit::Due::go_on) {
      const Bandit::Words all{100, 90};
      ASSERT_EQ(smooth.go_on(all), rough.go_on(all));
    }
    if (call % 3 == 0) {
      rough.next();
      rough.take_back();
    }
    ASSERT_EQ(smooth.next(), rough.next()) << call;
    ASSERT_EQ(smooth.trials(), rough.trials()) << call;
  }
}

TEST(Bandit, TriesOneCallInSeventeenAtMost) {
  BanditMembers members(2, 8, constant({1000, 1050, 1050, 1050, 1050, 1050, 1050, 1050}));
  members.calls(5000);
  const auto& used = members.used();
  const std::ptrdiff_t trials =
      std::count_if(used.begin(), used.end(), [](std::size_t one) { return one != 0; });
  EXPECT_LE(trials, 5000 * 6 / 100);
  EXPECT_GE(trials, 7 * 3) << "each of the others is close enough for three trials";
  std::ptrdiff_t last = -17;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i] == 0) continue;
    EXPECT_GE(static_cast<std::ptrdiff_t>(i) - last, 17);
    last = static_cast<std::ptrdiff_t>(i);
  }
}

// At the beginning, when the best one has become slow, and where combining is dear, so that the members seldom do it.
TEST(Bandit, GoesOnByEachTrialAfterSixteenCalls) {
  for (const std::uint64_t cost : {0, 800}) {
    BanditMembers members(2, 6, constant({1000, 1050, 900, 1100, 2000, 950}));
    members.combining_costs(cost);
    members.calls(3000);
    ASSERT_EQ(members.first().best(), 2u);
    members.take(constant({1000, 1050, 9000, 1100, 2000, 950}));
    members.calls(3000);
    EXPECT_NE(members.first().best(), 2u);
    ASSERT_GE(members.tried().size(), 5u * 3);
    std::uint64_t longest = 0;
    for (std::size_t i = 0; i + 1 < members.tried().size(); ++i) {
      const std::uint64_t trial = members.tried()[i];
      const auto next = std::ranges::upper_bound(members.judged(), trial);
      ASSERT_NE(next, members.judged().end());
      ASSERT_EQ(*next - trial, 16u) << "after the trial of call " << trial;
      ASSERT_GE(members.tried()[i + 1] - trial, 17u);
      longest = std::max(longest, members.tried()[i + 1] - trial);
    }
    EXPECT_GT(longest, 100u) << "trials become rare";
  }
}

TEST(Bandit, LosesHalfAPercentAndSomeCallsToWhatIsFarSlower) {
  constexpr std::uint64_t kCalls = 20'000;
  BanditMembers members(2, 8, constant({1000, 50'000, 60'000, 70'000, 80'000, 90'000, 100'000, 110'000}));
  members.calls(kCalls);
  EXPECT_EQ(members.first().best(), 0u);
  const std::uint64_t lost = members.spent() - kCalls * 1000;
  // Ten calls at the beginning, and the last trial that was still allowed.
  EXPECT_LE(lost, members.spent() / 200 + 10 * 1000 + 110'000);
}

TEST(Bandit, DoesNotChangeForNoise) {
  BanditMembers members(3, 4, constant({1000, 990, 1000, 1010}), 0.3);
  members.calls(20'000);
  std::size_t changes = 0;
  std::size_t best = 0;
  // Two calls in succession with the same candidate are no trials.
  for (std::size_t i = 1; i < members.used().size(); ++i) {
    if (members.used()[i] != members.used()[i - 1] || members.used()[i] == best) continue;
    best = members.used()[i];
    ++changes;
  }
  EXPECT_LE(changes, 20u) << "of some 400 comparisons";
}

/// How many calls still use the best candidate if it takes ten times as long from now on.
std::uint64_t calls_until_left(BanditMembers members, const std::vector<std::uint64_t>& times) {
  const std::size_t slow = members.first().best();
  members.take(
      [&](std::size_t candidate, std::uint64_t) { return times[candidate] * (candidate == slow ? 10 : 1); });
  for (std::uint64_t calls = 0; calls < 3000; ++calls) {
    members.call();
    if (members.first().best() != slow) return calls;  // this call has used another one
  }
  return 3000;
}

// Wherever in an epoch it becomes slow, while the team still learns and long after.
TEST(Bandit, LeavesOneThatHasBecomeSlowWithin64Calls) {
  const std::vector<std::vector<std::uint64_t>> fields{
      {1000, 500, 700, 900}, {1000, 500, 510, 520, 530, 540, 550, 560}, {1000, 500, 5000, 6000, 700}};
  for (const auto& times : fields) {
    BanditMembers members(2, times.size(), constant(times));
    members.calls(600);
    for (int call = 600; call < 5000; ++call) {
      ASSERT_EQ(members.first().best(), 1u);
      ASSERT_LE(calls_until_left(members, times), 64u) << call << ", " << times.size() << " candidates";
      members.call();
    }
  }
}

// Two epochs of a trial are the rule. If the runner-up becomes the best one just then, it has 64 calls of its own.
TEST(Bandit, TriesTheNextOneIfTheRunnerUpHasBecomeSlowToo) {
  BanditMembers members(2, 4, constant({1000, 500, 600, 700}));
  members.calls(4000);
  for (int call = 4000; call < 4560; ++call) {
    BanditMembers slowed = members;
    slowed.take(constant({1000, 5000, 6000, 700}));
    slowed.calls(64 + 64);
    ASSERT_EQ(slowed.first().best(), 3u) << call;
    members.call();
  }
}

// Each disturbance begins and ends at another place in an epoch.
TEST(Bandit, StaysWithTheBestOneIfAllBecomeSlowForAWhile) {
  const auto time = [](std::size_t candidate, std::uint64_t call) -> std::uint64_t {
    constexpr std::uint64_t kTimes[] = {1000, 500, 700, 900, 1200, 800};
    return kTimes[candidate] * (call > 3000 && call / 307 % 3 == 0 ? 4 : 1);
  };
  BanditMembers members(2, 6, time);
  members.calls(3000);
  ASSERT_EQ(members.first().best(), 1u);
  const std::uint64_t before = members.changes();
  members.calls(100'000);
  EXPECT_EQ(members.first().best(), 1u);
  EXPECT_EQ(members.changes(), before);
}

TEST(Bandit, CombinesLessOftenWhereCombiningIsDear) {
  BanditMembers cheap(2, 4, constant({1000, 500, 700, 900}));
  BanditMembers dear(2, 4, constant({1000, 500, 700, 900}));
  for (BanditMembers* const one : {&cheap, &dear}) one->calls(5000);  // all have been tried, trials are rare
  dear.combining_costs(250);
  const std::uint64_t before = dear.combinings();
  ASSERT_EQ(cheap.combinings(), before);
  for (BanditMembers* const one : {&cheap, &dear}) one->calls(20'000);
  EXPECT_GE(cheap.combinings() - before, 20'000u / 20);
  // Half of a call's time, once in 200 calls: 1 in 400. Trials, and what is tried again, come in addition.
  EXPECT_LE(dear.combinings() - before, 20'000u / 200 + 3 * 20'000 / 512 + 2);
  EXPECT_EQ(dear.first().best(), 1u);
}

TEST(Bandit, AMemberWithoutTimesLearnsLikeTheOthers) {
  // What fails is not told: here all calls of one member.
  Bandit told(3);
  Bandit silent(3);
  constexpr std::uint64_t kTimes[] = {100, 10, 50};
  Bandit::Words all{};
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(told.due(), silent.due());
    if (told.due() == Bandit::Due::combine) {
      const Bandit::Words a = told.words();
      const Bandit::Words b = silent.words();
      for (std::size_t w = 0; w < all.size(); ++w) all[w] = std::max(a[w], b[w]);
    } else if (told.due() == Bandit::Due::go_on) {
      EXPECT_FALSE(told.go_on(all)) << "nothing is known of the silent member";
      EXPECT_FALSE(silent.go_on(all));
    }
    const std::size_t candidate = told.next();
    ASSERT_EQ(silent.next(), candidate);
    told.took(candidate, kTimes[candidate]);
  }
}

}  // namespace
}  // namespace aqueduct::coll
