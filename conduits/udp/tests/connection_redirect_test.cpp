#include "conduits/udp/tests/two_connections.hpp"

#include <gtest/gtest.h>

namespace aqueduct::conduits::udp::connection_tests {
namespace {

constexpr std::size_t kOffset = 64;
constexpr std::size_t kBytes = 300'000;

// The redirect begins at some time while the packets of a put arrive, over a network that loses, repeats and reorders them.
TEST(UdpConnectionRedirect, HasTheWholePutWhenItsSignalComes) {
  std::uint64_t at_once = 0, later = 0;
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 10u}) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    TwoConnections pair({.seed = seed});
    pair.both({.loss = 0.05, .duplicate = 0.05, .reorder = 0.1});
    Buffer from(kBytes), out(kBytes);
    for (std::size_t i = 0; i < kBytes; ++i) from[i] = static_cast<std::byte>(i * seed + i / 256);
    pair.b.upper.segments.assign(1, Buffer(kOffset + kBytes));
    const Signal signal{.slot = 1, .add = 1};
    ASSERT_EQ(pair.a.connection->put(0, kOffset, from, &signal, 1).kind, core::Post::Kind::posted);
    pair.run(seed * 100 * kMicrosecond);
    core::Redirect redirect;
    redirect.set(0, kOffset, pair.b.upper.segments[0].data() + kOffset, kBytes, out.data());
    pair.b.common.redirects = &redirect;
    ASSERT_TRUE(pair.run(10 * kSecond, [&] { return pair.b.upper.signals.size() == 1; }));
    pair.b.common.redirects = nullptr;
    const std::uint64_t rest = redirect.take_rest();
    at_once += kBytes - rest;
    later += rest;
    EXPECT_TRUE(out == from);
    std::fill(out.begin(), out.end(), std::byte{0});
    pair.run(kSecond);  // what comes twice is not stored again
    EXPECT_TRUE(out == Buffer(kBytes));
  }
  EXPECT_GT(at_once, 0u);
  EXPECT_GT(later, 0u);
}

TEST(UdpConnectionRedirect, LeavesOtherPutsAlone) {
  TwoConnections pair;
  Buffer from(2'000, std::byte{7}), out(1'000), other(1'000);
  pair.b.upper.segments.assign(1, Buffer(4'000));
  Buffer& segment = pair.b.upper.segments[0];
  core::Redirect first, second;
  first.set(0, 0, segment.data(), 1'000, out.data());
  second.set(0, 3'000, segment.data() + 3'000, 1'000, other.data());
  first.next = &second;
  pair.b.common.redirects = &first;
  ASSERT_EQ(pair.a.connection->put(0, 900, core::Bytes(from).first(1'000), nullptr, 1).kind,
            core::Post::Kind::posted);  // in part inside the first
  ASSERT_EQ(pair.a.connection->put(0, 3'000, core::Bytes(from).first(1'000), nullptr, 2).kind,
            core::Post::Kind::posted);
  ASSERT_TRUE(pair.run(kSecond, [&] { return pair.a.upper.completions.size() == 2; }));
  pair.b.common.redirects = nullptr;
  EXPECT_TRUE(out == Buffer(1'000));
  EXPECT_TRUE(other == Buffer(1'000, std::byte{7}));
  EXPECT_TRUE(std::all_of(segment.begin() + 900, segment.begin() + 1'900,
                          [](std::byte one) { return one == std::byte{7}; }));
  EXPECT_TRUE(
      std::all_of(segment.begin() + 3'000, segment.end(), [](std::byte one) { return one == std::byte{0}; }));
}

}  // namespace
}  // namespace aqueduct::conduits::udp::connection_tests
