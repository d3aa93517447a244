#include <aqueduct/expect.hpp>

#include <gtest/gtest.h>

namespace aqueduct {
namespace detail {
// In every build of the library, though only checked programs see it declared.
[[noreturn]] void misuse(const char* file, int line, const char* why) noexcept;
}  // namespace detail

namespace {

TEST(Misuse, EndsTheProgramWithThePlaceAndTheReason) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(detail::misuse("heat.cpp", 42, "a live Event was dropped"), testing::KilledBySignal(SIGABRT),
              "aqueduct: misuse at heat.cpp:42: a live Event was dropped");
}

TEST(Misuse, IsLookedForInCheckedBuildsOnly) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
#ifdef AQUEDUCT_CHECKED
  EXPECT_DEATH(AQUEDUCT_EXPECT(2 + 2 == 5, "sums differ"), "misuse at .*misuse_test.cpp:.*: sums differ");
#else
  int evaluated = 0;
  AQUEDUCT_EXPECT(++evaluated == 5, "sums differ");
  EXPECT_EQ(evaluated, 0);
#endif
  AQUEDUCT_EXPECT(2 + 2 == 4, "sums differ");
}

}  // namespace
}  // namespace aqueduct
