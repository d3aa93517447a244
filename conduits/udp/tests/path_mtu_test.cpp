#include "conduits/udp/carrier/path_mtu.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace aqueduct::conduits::udp {
namespace {

constexpr std::size_t kBase = 1200;
constexpr std::size_t kLimit = 65507;
constexpr Time kTimeout = 10 * kMillisecond;
constexpr Time kStep = 20 * kMillisecond;

// Probes over a path that carries `carries` bytes until no probe is due. Returns the sizes that were probed.
std::vector<std::size_t> search(PathMtu& mtu, std::size_t carries, Time& now) {
  std::vector<std::size_t> probes;
  for (int i = 0; i < 200; ++i, now += kStep) {
    const std::size_t bytes = mtu.probe_due(now);
    if (bytes == 0) return probes;
    EXPECT_EQ(bytes % 8, 0U);
    EXPECT_GT(bytes, mtu.size());
    probes.push_back(bytes);
    mtu.probe_sent(now, bytes);
    EXPECT_EQ(mtu.probe_due(now), 0U) << "two in flight";
    EXPECT_NE(mtu.deadline(), kNever);
    if (bytes <= carries) mtu.probe_arrived(now + kMillisecond, bytes);
    mtu.expire(now + kTimeout, kTimeout);
    EXPECT_EQ(mtu.deadline(), kNever);
  }
  ADD_FAILURE() << "the search does not end";
  return probes;
}

TEST(UdpPathMtu, FindsWhatAPathCarries) {
  struct Case {
    std::size_t carries, hint, least;
    std::size_t most_probes;
  };
  const Case cases[] = {
      {65507, 65508, 65504, 1},  // loopback: the hint holds
      {65507, 0, 65504, 1},      //
      {1472, 1472, 1472, 1},     // Ethernet
      {8972, 8972, 8968, 1},     // jumbo
      {1472, 8972, 1472, 40},    // a jumbo interface, an Ethernet path
      {1472, 0, 1472, 50},       // nothing known
      {1400, 1472, 1400, 20},    // a tunnel
      {1337, 1472, 1320, 40},    // an odd tunnel
      {1280, 0, 1264, 60},       //
      {1200, 1472, 1200, 40},    // no more than the base
      {1200, 900, 1200, 60},     // a hint that makes no sense
      {5000, 0, 4984, 60},       // between well-known sizes
      {40000, 0, 39984, 60},     //
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(testing::Message() << "carries " << c.carries << ", hint " << c.hint);
    PathMtu mtu(kBase, kLimit, c.hint);
    EXPECT_EQ(mtu.size(), kBase);
    Time now = 0;
    const auto probes = search(mtu, c.carries, now);
    EXPECT_GE(mtu.size(), c.least);
    EXPECT_LE(mtu.size(), c.carries);
    EXPECT_LE(probes.size(), c.most_probes);
    if (c.hint > kBase) {
      EXPECT_EQ(probes.at(0), std::min<std::size_t>(c.hint, kLimit) / 8 * 8);
    }
  }
}

TEST(UdpPathMtu, ALimitBelowTheBaseHolds) {
  PathMtu mtu(kBase, 1001, 1472);
  EXPECT_EQ(mtu.size(), 1000U);
  EXPECT_EQ(mtu.probe_due(0), 0U);
}

TEST(UdpPathMtu, NothingAboveAHintThatIsTheBaseIsProbedAtFirst) {
  PathMtu mtu(972, kLimit, 972);
  EXPECT_EQ(mtu.base(), 968U);
  EXPECT_EQ(mtu.size(), 968U);
  EXPECT_EQ(mtu.probe_due(0), 0U);
  EXPECT_GT(mtu.probe_due(600 * kSecond), 968U) << "the interface may carry more now";
}

TEST(UdpPathMtu, ASizeHasThreeChances) {
  PathMtu mtu(kBase, kLimit, 1472);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(mtu.probe_due(i * kStep), 1472U) << i;
    mtu.probe_sent(i * kStep, 1472);
    mtu.expire(i * kStep + kTimeout - 1, kTimeout);
    ASSERT_EQ(mtu.deadline(), i * kStep + kTimeout);  // not yet
    mtu.expire(i * kStep + kTimeout, kTimeout);
  }
  EXPECT_LT(mtu.probe_due(3 * kStep), 1472U);
}

TEST(UdpPathMtu, ALateAnswerCounts) {
  PathMtu mtu(kBase, kLimit, 1472);
  for (int i = 0; i < 3; ++i) {
    mtu.probe_sent(0, 1472);
    mtu.expire(kTimeout, kTimeout);
  }
  mtu.probe_arrived(kTimeout + 1, 1472);
  EXPECT_EQ(mtu.size(), 1472U);
  mtu.probe_arrived(kTimeout + 2, 9000);  // never asked
  EXPECT_EQ(mtu.size(), 1472U);
}

TEST(UdpPathMtu, LooksAgainAfterTenMinutes) {
  PathMtu mtu(kBase, kLimit, 8972);
  Time now = 0;
  search(mtu, 1472, now);
  EXPECT_EQ(mtu.size(), 1472U);
  now += 599 * kSecond;
  EXPECT_EQ(mtu.probe_due(now), 0U);
  now += 2 * kSecond;
  const auto probes = search(mtu, 8972, now);
  EXPECT_EQ(mtu.size(), 8968U);
  for (const std::size_t bytes : probes) EXPECT_GT(bytes, 1472U);  // upwards only
}

TEST(UdpPathMtu, ABlackHoleStartsAgainBelow) {
  PathMtu mtu(kBase, kLimit, 8972);
  Time now = 0;
  search(mtu, 8972, now);
  ASSERT_EQ(mtu.size(), 8968U);
  mtu.black_hole(now, 8968);
  EXPECT_EQ(mtu.size(), kBase);
  for (const std::size_t bytes : search(mtu, 1472, now)) EXPECT_LT(bytes, 8968U);
  EXPECT_EQ(mtu.size(), 1472U);
}

// A connected socket may report an earlier packet's error at a later send.
TEST(UdpPathMtu, SizesUpToTheBaseAreNeverToBlame) {
  PathMtu mtu(kBase, kLimit, 8972);
  Time now = 0;
  search(mtu, 1472, now);
  mtu.black_hole(now, 100);
  mtu.black_hole(now, kBase);
  EXPECT_EQ(mtu.size(), 1472U);
}

TEST(UdpPathMtu, ARefusedProbeCostsNothing) {
  PathMtu mtu(kBase, kLimit, 8972);
  ASSERT_EQ(mtu.probe_due(0), 8968U);
  mtu.probe_sent(0, 8968);
  mtu.black_hole(0, 8968);  // EMSGSIZE
  EXPECT_EQ(mtu.size(), kBase);
  EXPECT_EQ(mtu.deadline(), kNever);
  const std::size_t next = mtu.probe_due(0);
  EXPECT_LT(next, 8968U);
  mtu.probe_sent(0, next);
  mtu.probe_arrived(1, next);
  EXPECT_EQ(mtu.size(), next);
  mtu.black_hole(2, 8000);
  EXPECT_EQ(mtu.size(), next);
}

}  // namespace
}  // namespace aqueduct::conduits::udp
