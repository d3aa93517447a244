#include <aqueduct/global_ptr.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <type_traits>

namespace aqueduct {
namespace {

TEST(GlobalPtr, ThatIsDefaultPointsNowhere) {
  constexpr GlobalPtr<int> nowhere;
  static_assert(!nowhere);
  EXPECT_EQ(nowhere.rank(), kNoRank);
  EXPECT_TRUE((GlobalPtr<int>{0, 0}));
}

TEST(GlobalPtr, MovesByElementsAndCountsOffsetsInBytes) {
  constexpr GlobalPtr<double> p{2, 64, 1};
  static_assert((p + 3).offset() == 64 + 24);
  static_assert((3 + p).offset() == 64 + 24);
  static_assert((p - 8).offset() == 0);
  EXPECT_EQ((p + 3).rank(), 2u);
  EXPECT_EQ((p + 3).segment(), 1u);

  GlobalPtr<double> q = p;
  EXPECT_EQ((++q).offset(), 72u);
  EXPECT_EQ((--q).offset(), 64u);
  EXPECT_EQ((q += -2).offset(), 48u);
  EXPECT_EQ((q -= -2).offset(), 64u);
}

// No segment has an offset of 2^63 or more.
constexpr bool is_outside(std::uint64_t offset) { return offset >= std::uint64_t{1} << 63; }

TEST(GlobalPtr, StepsThatAreTooLargeLeadOutsideAndDoNotWrap) {
  constexpr std::int64_t kWraps = std::int64_t{1} << 61;  // times 8 is 2^64
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr GlobalPtr<double> p{2, 64, 1};
  for (const std::int64_t far : {kWraps, kWraps + 5, kWraps / 2, -kWraps, 3 - kWraps, kLeast, ~kLeast}) {
    SCOPED_TRACE(far);
    EXPECT_TRUE(is_outside((p + far).offset()));
    EXPECT_TRUE(is_outside((p - far).offset()));
    // Not even with a step back.
    EXPECT_TRUE(is_outside((p + far + 5).offset()));
    EXPECT_TRUE(is_outside((p + far - 100).offset()));
  }
  static_assert(is_outside((p + kWraps).offset()));
  // Steps that are possible one by one.
  EXPECT_TRUE(is_outside((p + kWraps / 4 + kWraps / 4).offset()));
}

TEST(GlobalPtr, BelowTheSegmentIsOutsideAndComesBack) {
  constexpr GlobalPtr<double> p{2, 64, 1};
  EXPECT_EQ(p + 5 - 5, p);
  EXPECT_TRUE(is_outside((p - 9).offset()));
  EXPECT_EQ(p - 9 + 9, p);
  constexpr GlobalPtr<std::byte> bytes{0, 0};
  EXPECT_TRUE(is_outside((bytes - 1).offset()));
  EXPECT_EQ(bytes + std::numeric_limits<std::int64_t>::max() - std::numeric_limits<std::int64_t>::max(),
            bytes);
}

TEST(GlobalPtr, PointsToATypeThatIsNotCompleteYet) {
  struct Node {
    GlobalPtr<Node> following;
  };
  EXPECT_EQ((GlobalPtr<Node>{0, 0} + 1).offset(), sizeof(Node));
}

TEST(GlobalPtr, DifferenceIsInElementsAndHasASign) {
  constexpr GlobalPtr<std::uint32_t> p{0, 400};
  EXPECT_EQ((p + 7) - p, 7);
  EXPECT_EQ(p - (p + 7), -7);
  EXPECT_EQ(p - p, 0);
}

TEST(GlobalPtr, StepsOverStructsWholeSizes) {
  struct Cell {
    char name[12];
  };
  EXPECT_EQ((GlobalPtr<Cell>{0, 0} + 5).offset(), 60u);
}

TEST(GlobalPtr, AsKeepsThePlaceAndMovesInBytes) {
  constexpr GlobalPtr<double> p{4, 128, 3};
  constexpr auto bytes = p.as<std::byte>();
  static_assert(std::is_same_v<decltype(bytes), const GlobalPtr<std::byte>>);
  EXPECT_EQ(bytes, (GlobalPtr<std::byte>{4, 128, 3}));
  EXPECT_EQ(p.as<int>(4).offset(), 132u);
  EXPECT_EQ(p.as<int>(-4).offset(), 124u);
}

TEST(GlobalPtr, OnNamesTheSamePlaceOfAnotherRank) {
  constexpr GlobalPtr<int> p{4, 128, 3};
  EXPECT_EQ(p.on(9), (GlobalPtr<int>{9, 128, 3}));
}

TEST(GlobalPtr, BecomesPointerToConstButNotBack) {
  static_assert(std::is_convertible_v<GlobalPtr<int>, GlobalPtr<const int>>);
  static_assert(!std::is_convertible_v<GlobalPtr<const int>, GlobalPtr<int>>);
  static_assert(!std::is_convertible_v<GlobalPtr<int>, GlobalPtr<const float>>);
  const GlobalPtr<const int> p = GlobalPtr<int>{1, 8, 2};
  EXPECT_EQ(p, (GlobalPtr<const int>{1, 8, 2}));
}

TEST(GlobalPtr, ComparesByRankSegmentAndOffset) {
  const GlobalPtr<int> p{1, 8, 2};
  EXPECT_NE(p, (GlobalPtr<int>{2, 8, 2}));
  EXPECT_NE(p, (GlobalPtr<int>{1, 8, 3}));
  EXPECT_NE(p, (GlobalPtr<int>{1, 12, 2}));
  EXPECT_LT(p, p + 1);
  EXPECT_LT(p, p.on(2) - 1);
}

TEST(GlobalPtr, TravelsAsSixteenBytes) {
  const GlobalPtr<int> sent{7, 4096, 1};
  std::byte wire[16];
  std::memcpy(wire, &sent, sizeof(sent));
  GlobalPtr<int> received;
  std::memcpy(static_cast<void*>(&received), wire, sizeof(wire));
  EXPECT_EQ(received, sent);
}

}  // namespace
}  // namespace aqueduct
