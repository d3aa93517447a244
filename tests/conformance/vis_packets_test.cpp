#include "tests/conformance/pattern.hpp"
#include "tests/conformance/vis_test.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

namespace aqueduct::conformance {
namespace {

/// How many packets and operations a transfer takes.
class VisPackets : public FabricTest {};

TEST_P(VisPackets, PackedTakesNoMorePacketsThanTheDataFills) {
  run({2, kVisSegment, {{"vis_plan", "packed"}}}, [](Endpoint& me) {
    std::vector<double> sent(1000);
    std::iota(sent.begin(), sent.end(), me.rank());
    const GlobalPtr<double> to{next(me), 0};
    const Strided regular(8, {{1000, 24}});
    const auto packets = [&](std::size_t bytes) {
      return (bytes + am_limits(me, next(me)).medium - 1) / am_limits(me, next(me)).medium;
    };
    const auto before = me.statistics();
    ASSERT_TRUE(put(me, pieces(to, regular), contiguous(sent.data(), sent.size())));
    const auto put_done = me.statistics();
    ASSERT_EQ(put_done.vis_packed, before.vis_packed + 1);
    EXPECT_LE(put_done.vis_messages - before.vis_messages, packets(8000)) << "1,000 pieces of 8 bytes";
    std::vector<double> back(1000);
    ASSERT_TRUE(get(me, contiguous(back.data(), back.size()), pieces(to, regular)));
    EXPECT_LE(me.statistics().vis_messages - put_done.vis_messages, packets(8000));
    EXPECT_EQ(back, sent);
    EXPECT_GT(me.statistics().vis_as_strides, 0u);
    // A regular list is recognised as strides; others are sent as offsets, or as offsets and lengths.
    std::vector<std::int64_t> offsets(1000);
    for (std::int64_t i = 0; i < 1000; ++i) offsets[static_cast<std::size_t>(i)] = i * 24;
    const auto regular_done = me.statistics();
    ASSERT_TRUE(put(me, pieces(to, Indexed{offsets, 8}), contiguous(sent.data(), sent.size())));
    EXPECT_EQ(me.statistics().vis_as_offsets, regular_done.vis_as_offsets);
    offsets[500] += 8;
    ASSERT_TRUE(put(me, pieces(to, Indexed{offsets, 8}), contiguous(sent.data(), sent.size())));
    EXPECT_GT(me.statistics().vis_as_offsets, regular_done.vis_as_offsets);
    const Piece parts[] = {{0, 9}, {100, 23}};
    ASSERT_TRUE(put(me, pieces(to, Vector{parts}), contiguous(sent.data(), 4)));
    EXPECT_EQ(me.statistics().vis_as_pieces, regular_done.vis_as_pieces + 1);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(VisPackets, ASignalTravelsInThePacketOfItsPut) {
  constexpr int kRounds = 20;
  for (const int count : {4, 5'000}) {  // one packet, and several
    run({2, kVisSegment, {{"vis_plan", "packed"}}}, [=](Endpoint& me) {
      std::vector<int> sent(static_cast<std::size_t>(count));
      const Strided there(4, {{static_cast<std::uint64_t>(count), 12}});
      const auto* const mine = reinterpret_cast<const int*>(me.segment().data());
      std::uint64_t packets = 0;
      for (int round = 1; round <= kRounds; ++round) {
        std::iota(sent.begin(), sent.end(), round);
        if (me.rank() == 0) {
          const auto before = me.statistics();
          const GlobalPtr<int> to{1, 0};
          ASSERT_TRUE(put_signal(me, pieces(to, there), contiguous(sent.data(), sent.size()), {.slot = 2}));
          EXPECT_EQ(me.statistics().vis_packed, before.vis_packed + 1);
          packets += me.statistics().packets_sent - before.packets_sent;
          ASSERT_TRUE(signal(me, 1, {.slot = 3}));
        } else {
          ASSERT_TRUE(wait_until(me, 2, static_cast<std::uint64_t>(round)));
          for (std::size_t i = 0; i < sent.size(); ++i) ASSERT_EQ(mine[3 * i], sent[i]);
          // What this rank sends for the barrier would be answered, and counted, while the other still waits.
          ASSERT_TRUE(wait_until(me, 3, static_cast<std::uint64_t>(round)));
        }
        ASSERT_TRUE(me.barrier());
      }
      if (count == 4) {
        EXPECT_LT(packets, kRounds * 3 / 2) << "a signal is no second packet";
      }
      EXPECT_EQ(signal_value(me, 2), me.rank() == 1 ? kRounds : 0u) << "each once";
    });
  }
}

TEST_P(VisPackets, OneStretchToAnotherIsOneOperation) {
  run({2, kVisSegment}, [](Endpoint& me) {
    const GlobalPtr<int> to{next(me), 0};
    if (me.local(to) != nullptr) return;
    const std::array<int, 4> sent{1, 2, 3, 4};
    const auto* const mine = reinterpret_cast<const int*>(me.segment().data());
    const auto put_and_see = [&](const RemotePieces& there, std::uint64_t round,
                                 std::array<int, 4> expected) {
      const auto before = me.statistics();
      ASSERT_TRUE(put_signal(me, there, contiguous(sent.data(), 4), {.slot = 2}));
      const auto after = me.statistics();
      if (expected == sent) {
        EXPECT_EQ(after.vis_pieces, before.vis_pieces + 1);
        EXPECT_EQ(after.vis_packed, before.vis_packed);
      }
      ASSERT_TRUE(wait_until(me, 2, round));
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), mine));
      ASSERT_TRUE(me.barrier());
    };
    const Piece rising[] = {{0, 8}, {8, 0}, {8, 8}};
    put_and_see(pieces(to, Strided(4, {{2, 8}, {2, 4}})), 1, sent);
    put_and_see(pieces(to, Vector{rising}), 2, sent);
    // The same length, but in another order.
    const Piece falling[] = {{8, 8}, {0, 8}};
    put_and_see(pieces(to, Vector{falling}), 3, {3, 4, 1, 2});
    put_and_see(pieces(to + 3, Strided(4, {{4, -4}})), 4, {4, 3, 2, 1});
    std::array<int, 4> back{};
    ASSERT_TRUE(get(me, contiguous(back.data(), 4), contiguous(to, 4)));
    EXPECT_EQ(back, (std::array{4, 3, 2, 1}));
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(Every, VisPackets, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
