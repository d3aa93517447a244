// The lines that aqtune prints.

#include "tools/aqtune/found_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aqueduct::aqtune {
namespace {

using std::chrono::microseconds;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

Tuned tuned(const char* runner_up, bool decided) {
  Tuned one;
  one.operation = Collective::all_reduce;
  one.bytes = 8;
  one.algorithm = "tree:radix=8";
  one.runner_up = runner_up;
  one.median = microseconds(12);
  one.runner_up_median = microseconds(13);
  one.decided = decided;
  return one;
}

TEST(FoundLine, NamesTheFastestAndTheRunnerUp) {
  const std::string line = found_line(tuned("ring:segments=2", true));
  EXPECT_THAT(line, StartsWith("all_reduce "));
  EXPECT_THAT(line, HasSubstr(" tree:radix=8 "));
  EXPECT_THAT(line, EndsWith("12.00 us   then ring:segments=2 in 13.00 us"));
  EXPECT_THAT(found_line(tuned("ring:segments=2", false)),
              EndsWith("then ring:segments=2 in 13.00 us (undecided)"));
  EXPECT_THAT(found_line(tuned("", false)), EndsWith("   nothing else was tried"));
}

TEST(FoundLine, SaysThatTheRunnerUpIsTheSameAlgorithm) {
  EXPECT_THAT(found_line(tuned("tree:radix=4", true)), EndsWith("then tree with radix=4 in 13.00 us"));
  EXPECT_THAT(found_line(tuned("tree:radix=4", false)),
              EndsWith("then tree with radix=4 in 13.00 us (which parameters are faster is undecided)"));
}

}  // namespace
}  // namespace aqueduct::aqtune
