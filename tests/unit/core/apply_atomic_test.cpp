#include "core/apply_atomic.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace aqueduct::core {
namespace {

TEST(ApplyAtomic, GivesTheOldValueOfAStoreToo) {
  alignas(8) std::byte place[8] = {};
  for (const AtomicOp op : {AtomicOp::store, AtomicOp::swap}) {
    const std::uint64_t before = 5;
    std::memcpy(place, &before, sizeof before);
    EXPECT_EQ(apply_atomic(op, AtomicType::u64, 7, 0, place), 5u);
    std::uint64_t now = 0;
    std::memcpy(&now, place, sizeof now);
    EXPECT_EQ(now, 7u);
  }
}

}  // namespace
}  // namespace aqueduct::core
