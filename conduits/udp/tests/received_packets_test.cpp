#include "conduits/udp/protocol/received_packets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <vector>

namespace aqueduct::conduits::udp {
namespace {

using Verdict = ReceivedPackets::Verdict;
constexpr std::uint64_t kSpan = ReceivedPackets::kSpan;

std::vector<NumberRange> ranges_of(const ReceivedPackets& received, std::size_t most) {
  std::vector<NumberRange> ranges(most);
  ranges.resize(received.ranges(ranges));
  return ranges;
}

TEST(UdpReceivedPackets, InOrderLeavesNoGaps) {
  ReceivedPackets received;
  EXPECT_EQ(received.end(), 0U);
  for (std::uint64_t n = 0; n < 3 * kSpan; ++n) {
    ASSERT_EQ(received.check(n), Verdict::fresh);
    ASSERT_EQ(received.note(n), Verdict::fresh);
    ASSERT_EQ(received.next(), n + 1);
    ASSERT_EQ(received.end(), n + 1);
    ASSERT_FALSE(received.gaps());
    ASSERT_EQ(received.note(n), Verdict::duplicate);
  }
  EXPECT_TRUE(ranges_of(received, 4).empty());
}

TEST(UdpReceivedPackets, AFilledGapJoinsWhatIsAbove) {
  ReceivedPackets received;
  for (const std::uint64_t n : {0U, 1U, 3U, 4U, 6U}) EXPECT_EQ(received.note(n), Verdict::fresh);
  EXPECT_EQ(received.next(), 2U);
  EXPECT_EQ(received.end(), 7U);
  EXPECT_EQ(ranges_of(received, 4), (std::vector<NumberRange>{{3, 5}, {6, 7}}));
  EXPECT_EQ(received.note(2), Verdict::fresh);
  EXPECT_EQ(received.next(), 5U);
  EXPECT_EQ(ranges_of(received, 4), (std::vector<NumberRange>{{6, 7}}));
  EXPECT_EQ(received.note(5), Verdict::fresh);
  EXPECT_FALSE(received.gaps());
  EXPECT_EQ(received.next(), 7U);
}

TEST(UdpReceivedPackets, WhatDoesNotFitIsTheLowest) {
  ReceivedPackets received;
  for (std::uint64_t n = 1; n < 20; n += 2) ASSERT_EQ(received.note(n), Verdict::fresh);
  EXPECT_EQ(ranges_of(received, 2), (std::vector<NumberRange>{{17, 18}, {19, 20}}));
  EXPECT_TRUE(ranges_of(received, 0).empty());
}

TEST(UdpReceivedPackets, TheSpanHasBothSides) {
  for (const std::uint64_t begin : {0U, 1U, 63U, 64U, 65U, 100U}) {
    ReceivedPackets received;
    for (std::uint64_t n = 0; n < begin; ++n) ASSERT_EQ(received.note(n), Verdict::fresh);
    EXPECT_EQ(received.check(begin + kSpan), Verdict::beyond);
    EXPECT_EQ(received.note(begin + kSpan), Verdict::beyond);
    EXPECT_EQ(received.note(UINT64_MAX), Verdict::beyond);
    EXPECT_EQ(received.end(), begin);
    EXPECT_EQ(received.note(begin + kSpan - 1), Verdict::fresh);
    EXPECT_EQ(ranges_of(received, 3), (std::vector<NumberRange>{{begin + kSpan - 1, begin + kSpan}}));
  }
}

TEST(UdpReceivedPackets, AFullRingEmptiesAtOnce) {
  for (const std::uint64_t begin : {0U, 1U, 64U, 77U}) {
    ReceivedPackets received;
    for (std::uint64_t n = 0; n < begin; ++n) ASSERT_EQ(received.note(n), Verdict::fresh);
    for (std::uint64_t n = begin + 1; n < begin + kSpan; ++n) ASSERT_EQ(received.note(n), Verdict::fresh);
    EXPECT_EQ(ranges_of(received, 3), (std::vector<NumberRange>{{begin + 1, begin + kSpan}}));
    EXPECT_EQ(received.note(begin), Verdict::fresh);
    EXPECT_EQ(received.next(), begin + kSpan);
    EXPECT_FALSE(received.gaps());
    EXPECT_EQ(received.check(begin + kSpan), Verdict::fresh);  // uses the same bit as `begin`
    EXPECT_EQ(received.check(begin + 2 * kSpan - 1), Verdict::fresh);
  }
}

// Compares with a set of numbers, which is obviously correct.
TEST(UdpReceivedPackets, IsASet) {
  constexpr std::uint64_t kSeed = 20;
  SCOPED_TRACE(kSeed);
  std::mt19937_64 random(kSeed);
  ReceivedPackets received;
  std::set<std::uint64_t> model;  // numbers above next that have arrived
  std::uint64_t next = 0;
  for (int step = 0; step < 100'000; ++step) {
    const bool lowest = random() % 8 == 0;
    const std::uint64_t reach = step % 5000 < 4000 ? 200 : kSpan + 50;
    const std::uint64_t n = lowest ? next : next - std::min<std::uint64_t>(next, 20) + random() % reach;
    Verdict expected = Verdict::fresh;
    if (n < next || model.count(n) != 0) expected = Verdict::duplicate;
    if (n >= next + kSpan) expected = Verdict::beyond;
    ASSERT_EQ(received.check(n), expected) << "step " << step;
    ASSERT_EQ(received.note(n), expected) << "step " << step;
    if (expected == Verdict::fresh) model.insert(n);
    for (; !model.empty() && *model.begin() == next; model.erase(model.begin())) ++next;
    ASSERT_EQ(received.next(), next) << "step " << step;
    ASSERT_EQ(received.end(), model.empty() ? next : *model.rbegin() + 1) << "step " << step;
    if (step % 64 != 0) continue;
    std::vector<NumberRange> all;
    for (const std::uint64_t number : model) {
      if (!all.empty() && all.back().end == number)
        ++all.back().end;
      else
        all.push_back({number, number + 1});
    }
    constexpr std::size_t kMost = 16;
    if (all.size() > kMost) all.erase(all.begin(), all.end() - kMost);
    ASSERT_EQ(ranges_of(received, kMost), all) << "step " << step;
  }
  EXPECT_GT(next, kSpan);  // the ring wrapped around
}

}  // namespace
}  // namespace aqueduct::conduits::udp
