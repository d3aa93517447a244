#include "core/hidden_layout.hpp"

#include <gtest/gtest.h>

namespace aqueduct::core {
namespace {

constexpr HiddenSizes kSizes{.counters = 1024, .scratch = 65536};

TEST(HiddenLayout, FollowsFromThePartsSize) {
  for (const std::uint64_t user : {1u, 7u, 8u, 9u, 1023u, 1024u, 1048576u}) {
    const std::uint64_t bytes = HiddenLayout::bytes(user, kSizes);
    const HiddenLayout layout = HiddenLayout::of(bytes, kSizes);
    EXPECT_EQ(layout.user_slots, user);
    EXPECT_EQ(layout.first_counter % 8, 0u) << "the engine's counters share no line with the program's";
    EXPECT_GE(layout.first_counter, user);
    EXPECT_LT(layout.first_counter, user + 8);
    EXPECT_EQ(layout.counters, 1024u);
    EXPECT_EQ(layout.scratch_at, (layout.first_counter + 1024u) * 8);
    EXPECT_EQ(layout.scratch_at % 64, 0u);
    EXPECT_EQ(layout.table_at, layout.scratch_at + layout.scratch);
    EXPECT_EQ(layout.table_at % 64, 0u);
    EXPECT_LE(layout.table_at + layout.table, bytes);
    EXPECT_EQ(layout.slots() * 8, layout.scratch_at);
  }
}

TEST(HiddenLayout, OfARankWithoutAPartIsEmpty) {
  EXPECT_EQ(HiddenLayout::of(0, kSizes).slots(), 0u);
  EXPECT_EQ(HiddenLayout::of(HiddenLayout::beside_user(kSizes) - 1, kSizes).scratch, 0u);
}

TEST(HiddenLayout, TakesTheSettings) {
  Config config;
  ASSERT_TRUE(config.set("signals", "9"));
  ASSERT_TRUE(config.set("coll_counters", "1030"));
  ASSERT_TRUE(config.set("coll_scratch", "65600"));
  EXPECT_EQ(HiddenSizes::of(config).counters, 1024u);
  EXPECT_EQ(HiddenSizes::of(config).scratch, 65600u);
  EXPECT_EQ(hidden_slots(config), 16u + 1024u);
}

}  // namespace
}  // namespace aqueduct::core
