#include <aqueduct/am.hpp>
#include <aqueduct/vis.hpp>

#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/pattern.hpp"

#include <array>
#include <cstdint>

namespace aqueduct::conformance {
namespace {

/// Strided shapes of more dimensions than one step has.
class VisDimensions : public FabricTest {};

constexpr std::size_t kBits = 17;
constexpr std::size_t kBytes = std::size_t{1} << kBits;

/// 2^17 bytes in 20 dimensions, three of them of one element: byte i lies where the bits of i are in the reverse order. No
/// two dimensions merge.
Strided reversed() {
  std::vector<Dimension> dims;
  for (std::size_t bit = 0; bit < kBits; ++bit) {
    dims.push_back({2, std::int64_t{1} << bit});
    if (bit % 6 == 3) dims.push_back({1, 12'345});
  }
  return {1, dims};
}

/// The same bytes in 17 dimensions, with neighbouring bits of i swapped.
Strided swapped() {
  std::vector<Dimension> dims{{2, kBytes / 2}};
  for (std::size_t bit = 0; bit + 1 < kBits; bit += 2) {
    const std::int64_t high = std::int64_t{1} << (kBits - 2 - bit);
    dims.push_back({2, high / 2});
    dims.push_back({2, high});
  }
  return {1, dims};
}

std::size_t reverse_of(std::size_t i) {
  std::size_t out = 0;
  for (std::size_t bit = 0; bit < kBits; ++bit) out |= (i >> bit & 1) << (kBits - 1 - bit);
  return out;
}

std::size_t swap_of(std::size_t i) {
  std::size_t out = i & (kBytes / 2);
  for (std::size_t bit = 0; bit + 1 < kBits; bit += 2)
    out |= (i >> bit & 1) << (bit + 1) | (i >> (bit + 1) & 1) << bit;
  return out;
}

/// Seventeen dimensions that do not merge have at least 2^17 pieces. In the smallest packets they take half a minute.
bool takes_too_long(Endpoint& me) { return am_limits(me, next(me)).medium < 512; }

TEST_P(VisDimensions, NullHereIsRefused) {
  run({2, kBytes, {{"log", "off"}}}, [](Endpoint& me) {
    std::byte* const nowhere = nullptr;
    const auto there = pieces(GlobalPtr<std::byte>{next(me), 0}, reversed());
    EXPECT_EQ(put(me, there, pieces(static_cast<const std::byte*>(nowhere), swapped())).code(),
              ErrorCode::invalid_argument);
    EXPECT_EQ(get(me, pieces(nowhere, swapped()), there).code(), ErrorCode::invalid_argument);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(VisDimensions, TwentyThatDoNotMergeOnTheRemoteSide) {
  if (fabric().brief) GTEST_SKIP() << kShownInFull;
  as_each_of(2, kBytes, [](Endpoint& me) {
    if (takes_too_long(me)) return;
    const auto sent = pattern(me.rank(), kBytes);
    const GlobalPtr<std::byte> there{next(me), 0};
    ASSERT_TRUE(put(me, pieces(there, reversed()), contiguous(sent.data(), kBytes)));
    ASSERT_TRUE(me.barrier());
    const auto expected = pattern(previous(me), kBytes);
    for (std::size_t i = 0; i < kBytes; ++i)
      ASSERT_EQ(me.segment()[reverse_of(i)], expected[i]) << "byte " << i;
    std::vector<std::byte> read(kBytes);
    ASSERT_TRUE(me.wait(get_nb(me, contiguous(read.data(), kBytes), pieces(there, reversed()))));
    ASSERT_TRUE(holds(read, sent));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(VisDimensions, ManyOnBothSidesInEveryForm) {
  if (fabric().brief) GTEST_SKIP() << kShownInFull;
  as_each_of(2, kBytes, [](Endpoint& me) {
    if (takes_too_long(me)) return;
    const auto sent = pattern(10 + me.rank(), kBytes);
    const GlobalPtr<std::byte> there{next(me), 0};
    ASSERT_TRUE(put_nbi(me, pieces(there, reversed()), pieces(sent.data(), swapped())));
    ASSERT_TRUE(me.wait_implicit());
    ASSERT_TRUE(me.barrier());
    const auto expected = pattern(10 + previous(me), kBytes);
    for (std::size_t i = 0; i < kBytes; ++i)
      ASSERT_EQ(me.segment()[reverse_of(i)], expected[swap_of(i)]) << "byte " << i;
    std::vector<std::byte> read(kBytes);
    ASSERT_TRUE(get_nbi(me, pieces(read.data(), swapped()), pieces(there, reversed())));
    ASSERT_TRUE(me.wait_implicit());
    ASSERT_TRUE(holds(read, sent));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(VisDimensions, ASignalFollowsAllOfTheBytes) {
  as_each_of(2, kBytes, [](Endpoint& me) {
    auto sent = pattern(20 + me.rank(), kBytes);
    const GlobalPtr<std::byte> there{next(me), 0};
    Event free;
    Event done = put_signal_nb(me, pieces(there, reversed()), contiguous(std::as_const(sent).data(), kBytes),
                               {3, 1}, {.source = SourceReuse::on_event, .source_event = &free});
    ASSERT_TRUE(me.wait(free));
    std::ranges::fill(sent, std::byte{0});
    ASSERT_TRUE(wait_until(me, 3, 1, previous(me), std::chrono::seconds(20)));
    const auto expected = pattern(20 + previous(me), kBytes);
    for (std::size_t i = 0; i < kBytes; ++i)
      ASSERT_EQ(me.segment()[reverse_of(i)], expected[i]) << "byte " << i;
    ASSERT_TRUE(me.wait(done));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(VisDimensions, ThatMergeAreOneStep) {
  as_each_of(2, 64 * 1024, [](Endpoint& me) {
    // 20 dimensions of a row-major array, of which every second row is taken: they merge to two.
    std::vector<Dimension> dims;
    for (std::int64_t bytes = 8192; bytes >= 64; bytes /= 2) dims.push_back({2, 2 * bytes});
    for (std::int64_t bytes = 32; bytes >= 4; bytes /= 2) dims.push_back({2, bytes});
    while (dims.size() < 20) dims.push_back({1, 7});
    const Strided rows(4, dims);
    EXPECT_EQ(rows.slowest, nullptr);
    EXPECT_EQ(rows.shape.dimensions, 1u);
    constexpr std::size_t kRows = 256;
    const auto sent = pattern(30 + me.rank(), 64 * kRows);
    ASSERT_TRUE(
        put(me, pieces(GlobalPtr<std::byte>{next(me), 0}, rows), contiguous(sent.data(), sent.size())));
    ASSERT_TRUE(me.barrier());
    const auto expected = pattern(30 + previous(me), 64 * kRows);
    for (std::size_t row = 0; row < kRows; ++row) {
      ASSERT_TRUE(holds(me.segment().subspan(128 * row, 64), std::span(expected).subspan(64 * row, 64)))
          << "row " << row;
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(VisDimensions, WrongOnesAreRefusedBeforeAnythingMoves) {
  as_each_of(2, kBytes, [](Endpoint& me) {
    const std::vector<std::byte> own(kBytes, std::byte{1});
    const auto code = [&](std::uint64_t offset, Rank rank, std::size_t bytes) {
      const GlobalPtr<std::byte> at{rank, offset};
      return put(me, pieces(at, reversed()), contiguous(own.data(), bytes)).code();
    };
    EXPECT_EQ(code(0, next(me), kBytes - 1), ErrorCode::invalid_argument) << "the sums differ";
    EXPECT_EQ(code(1, next(me), kBytes), ErrorCode::out_of_range) << "the last byte is outside";
    EXPECT_EQ(code(0, me.ranks(), kBytes), ErrorCode::out_of_range) << "no such rank";
    const std::array<Piece, 2> list{Piece{0, kBytes / 2}, Piece{kBytes / 2, kBytes / 2}};
    EXPECT_EQ(put(me, pieces(GlobalPtr<std::byte>{next(me), 0}, reversed()), pieces(own.data(), Vector{list}))
                  .code(),
              ErrorCode::invalid_argument)
        << "a list on the other side";
    std::vector<Dimension> none(20, {2, 3});
    none[5].count = 0;
    EXPECT_TRUE(
        put(me, pieces(GlobalPtr<std::byte>{next(me), 0}, Strided(1, none)), contiguous(own.data(), 0)));
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(all_are(me.segment(), std::byte{0}));
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, VisDimensions, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
