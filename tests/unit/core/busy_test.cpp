#include "core/busy.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace aqueduct::core {
namespace {

TEST(Busy, CountsOnceWhileSetAndNotAfterItsEnd) {
  std::uint32_t count = 0;
  {
    Busy first(count);
    Busy second(count);
    EXPECT_EQ(count, 0u);
    first.set(true);
    first.set(true);
    EXPECT_EQ(count, 1u);
    second.set(true);
    EXPECT_EQ(count, 2u);
    first.set(false);
    first.set(false);
    EXPECT_EQ(count, 1u);
  }
  EXPECT_EQ(count, 0u) << "the second one ended while it was set";
}

}  // namespace
}  // namespace aqueduct::core
