#include <aqueduct/copy_bytes.hpp>

#include "kernels/quicker_way.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace aqueduct {
namespace {

using detail::QuickerWay;

/// Does so many things, of which the timed ones take these times. How many went by the other way.
int things(QuickerWay& quicker, int times, std::uint32_t usual, std::uint32_t other) {
  int by_other = 0;
  for (int i = 0; i < times; ++i) {
    QuickerWay::Way way = quicker.way();
    if (quicker.is_timed()) {
      way = quicker.timed_way();
      quicker.took(way == QuickerWay::usual ? usual : other, 1000);
    }
    by_other += way == QuickerWay::other ? 1 : 0;
  }
  return by_other;
}

TEST(QuickerWay, StaysWithTheUsualOneUnlessTheOtherIsClearlyQuicker) {
  QuickerWay slower;
  EXPECT_LT(things(slower, 100'000, 100, 200), 500);
  EXPECT_EQ(slower.way(), QuickerWay::usual);
  QuickerWay hardly;
  things(hardly, 100'000, 100, 95);
  EXPECT_EQ(hardly.way(), QuickerWay::usual);
}

TEST(QuickerWay, TakesTheQuickerOneWithinAHundredThings) {
  QuickerWay quicker;
  things(quicker, 100, 100, 50);
  EXPECT_EQ(quicker.way(), QuickerWay::other);
  EXPECT_GT(things(quicker, 100'000, 100, 50), 99'500);
}

TEST(QuickerWay, FollowsAChangeBothWays) {
  QuickerWay quicker;
  things(quicker, 10'000, 29, 16);
  EXPECT_EQ(quicker.way(), QuickerWay::other);
  things(quicker, 1'000, 255, 860);
  EXPECT_EQ(quicker.way(), QuickerWay::usual);
  things(quicker, 10'000, 29, 16);
  EXPECT_EQ(quicker.way(), QuickerWay::other);
}

TEST(QuickerWay, CountsADisturbanceAsTheMostThatAThingTakes) {
  QuickerWay quicker;
  things(quicker, 10'000, 100, 50);
  // An interrupt of some seconds, in one thing of the quicker way.
  while (!quicker.is_timed() || quicker.timed_way() != QuickerWay::other) {
  }
  quicker.took(UINT32_MAX, 160);
  EXPECT_EQ(quicker.way(), QuickerWay::other);
}

TEST(QuickerWay, FirstThingsAreColdAndTheirLeastCounts) {
  QuickerWay quicker;
  int timed = 0;
  for (int i = 0; i < 100; ++i) {
    if (!quicker.is_timed()) continue;
    const bool is_other = quicker.timed_way() == QuickerWay::other;
    quicker.took(timed++ < 2 ? 1000 : is_other ? 50 : 100, 1000);
  }
  EXPECT_EQ(quicker.way(), QuickerWay::other);
}

TEST(PutBytes, PutsAllBytesByEachWay) {
  constexpr std::size_t kMost = 20'000;
  constexpr std::byte kRest{0xee};
  std::vector<std::byte> from(kMost + 64);
  std::vector<std::byte> to(kMost + 64);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + i / 251);
  for (const std::size_t bytes : {0, 1, 63, 64, 65, 1023, 1024, 1025, 2047, 2048, 2049, 4096, 8191, 8193,
                                  16'383, 16'384, 16'385, 20'000}) {
    for (int i = 0; i < 300; ++i) {  // both ways, and timed ones
      const std::size_t shift = static_cast<std::size_t>(i) % 61;
      std::fill(to.begin(), to.end(), kRest);
      detail::put_bytes(to.data() + shift, from.data() + 3, bytes);
      ASSERT_TRUE(std::equal(from.data() + 3, from.data() + 3 + bytes, to.data() + shift))
          << bytes << " bytes, time " << i;
      const auto is_rest = [&](std::byte byte) { return byte == kRest; };
      ASSERT_TRUE(std::all_of(to.data(), to.data() + shift, is_rest));
      ASSERT_TRUE(std::all_of(to.data() + shift + bytes, to.data() + to.size(), is_rest));
    }
  }
}

}  // namespace
}  // namespace aqueduct
