// What teams have learned, on its way to files.

#include "coll/algorithms/algorithms.hpp"
#include "coll/tune/learned_decisions.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace aqueduct::coll {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const TuningPlace kNear{"a processor", "smp"};
const TuningPlace kFar{"a processor", "udp"};

Decision learned(Rank ranks, const Algorithm& algorithm) {
  Decision one;
  one.key.operation = algorithm.operation;
  one.key.ranks = ranks;
  one.key.size = size_class(1024);
  one.best = {&algorithm, {}, 1000};
  return one;
}

TEST(LearnedDecisions, GoToTheFileOfTheirPlaceAndTheLastOfAKeyCounts) {
  const support::ScratchFolder folder;
  LearnedDecisions all;
  all.add(kFar, std::vector{learned(4, kBroadcastChain), learned(8, kBroadcastChain)});
  LearnedDecisions later;
  later.add(kFar, std::vector{learned(4, kBroadcastCirculant)});
  later.add(kNear, std::vector{learned(4, kAllReduceRing)});
  all.add(later);
  EXPECT_THAT(all.save(folder.path()), IsEmpty());
  EXPECT_THAT(load_tuning(folder.path(), kFar).decisions,
              ElementsAre(learned(4, kBroadcastCirculant), learned(8, kBroadcastChain)));
  EXPECT_THAT(load_tuning(folder.path(), kNear).decisions, ElementsAre(learned(4, kAllReduceRing)));
}

TEST(LearnedDecisions, OfAFileThatCannotBeChangedAreLeftOutAndTheOthersAreNot) {
  const support::ScratchFolder folder;
  const std::string locked = tuning_file(folder.path(), kNear) + ".lock";
  const int held = ::open(locked.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  ASSERT_GE(held, 0);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  LearnedDecisions all;
  all.add(kNear, std::vector{learned(4, kAllReduceRing)});
  all.add(kFar, std::vector{learned(4, kBroadcastChain)});
  EXPECT_THAT(all.save(folder.path(), 20ms), ElementsAre(HasSubstr("locked by another process")));
  ::close(held);
  EXPECT_THAT(load_tuning(folder.path(), kFar).decisions, ElementsAre(learned(4, kBroadcastChain)));
}

}  // namespace
}  // namespace aqueduct::coll
