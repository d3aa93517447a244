// The replay gives the times of trees that the requirements have a table of.

#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"
#include "coll/model/replay.hpp"
#include "coll/schedule/tree.hpp"
#include "tests/unit/coll/replay_machines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace aqueduct::coll::replays {
namespace {

constexpr Picoseconds kUs = 1'000'000;
/// Table 5.1 of the source. Its replay oracle (F-T2) lets the gap of a message pass before it, so a hop takes L + g.
Machine seed_machine() {
  return machine_of(
      {.latency = 4 * kUs, .overhead = kUs / 2, .gap = 2 * kUs, .femtoseconds_per_byte = 1'000'000});
}

/// A scatter down a k-ary tree whose root does not copy its own block, as in the table of the requirements.
std::uint32_t subtree_children(const Shape& shape, Rank position) {
  return Tree{Tree::Kind::k_ary, shape.parameters[0], shape.ranks}.children(position);
}
const Algorithm kAllBlocksOnKAry{
    .name = "k-ary",
    .operation = Operation::scatter,
    .parameters = {},
    .refusal = no_refusal,
    .needs =
        [](const Shape& shape) noexcept {
          return Needs{.scratch = shape.ranks * shape.bytes, .counters = 1};
        },
    .lanes = one_lane,
    .length = [](const Shape& shape, Rank position,
                 std::uint32_t) noexcept { return std::max(1U, subtree_children(shape, position)); },
    .step =
        [](const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
          const Tree tree{Tree::Kind::k_ary, shape.parameters[0], shape.ranks};
          Step step;
          if (index < tree.children(position)) {
            const Rank child = tree.child(position, index);
            step = put_to(child, at(Space::scratch, 0), at(Space::scratch, 0),
                          tree.subtree(child) * shape.bytes, 0);
          }
          return position != 0 && index == 0 ? after(step, 0, 1) : step;
        },
    .cost = [](const Shape&) noexcept { return Cost{}; },
};

double replayed_us(const Algorithm& algorithm, Rank ranks, std::uint64_t bytes, std::uint32_t radix) {
  Shape shape = shape_of(algorithm, ranks, bytes);
  shape.parameters = {radix, 1, 0};
  if (&algorithm == &kBroadcastFlat || &algorithm == &kScatterDirect) shape.parameters = {1, 0, 0};
  const Replayed out = replay(algorithm, shape, seed_machine());
  EXPECT_EQ(out.problem, "");
  return std::round(static_cast<double>(out.time) / 1e5) / 10;
}
std::vector<double> replayed_row(const Algorithm& ary, const Algorithm& nomial, const Algorithm& flat,
                                 Rank ranks, std::uint64_t bytes) {
  std::vector<double> out;
  for (const std::uint32_t radix : {2U, 4U, 8U, 16U}) out.push_back(replayed_us(ary, ranks, bytes, radix));
  for (const std::uint32_t radix : {2U, 4U, 8U, 16U}) out.push_back(replayed_us(nomial, ranks, bytes, radix));
  out.push_back(replayed_us(flat, ranks, bytes, 1));
  return out;
}

TEST(Replay, GivesTheTableOfTreesOfTheRequirements) {
  const auto broadcast = [](Rank ranks, std::uint64_t bytes) {
    return replayed_row(kBroadcastKAry, kBroadcastKNomial, kBroadcastFlat, ranks, bytes);
  };
  // 4 threads on a node.
  const auto scatter = [](std::uint64_t bytes) {
    return replayed_row(kAllBlocksOnKAry, kScatterKNomial, kScatterDirect, 256, bytes * 4);
  };
  using Row = std::vector<double>;
  EXPECT_EQ(broadcast(16, 8), (Row{19.5, 17.0, 21.1, 32.6, 18.0, 17.0, 21.1, 32.6, 32.6}));
  EXPECT_EQ(broadcast(64, 8), (Row{32.6, 27.6, 33.1, 41.1, 27.0, 25.6, 33.1, 41.1, 129.0}));
  EXPECT_EQ(broadcast(256, 8), (Row{45.6, 38.1, 43.6, 65.2, 36.1, 34.1, 41.6, 65.2, 514.5}));
  EXPECT_EQ(broadcast(256, 8192), (Row{160.2, 152.7, 191.0, 310.8, 101.5, 132.3, 180.8, 310.8, 2601.5}));
  EXPECT_EQ(scatter(8), (Row{61.3, 48.7, 52.7, 73.6, 44.2, 42.2, 49.7, 73.2, 520.7}));
  const Row large = scatter(8192);
  const Row expected{16266, 10950, 9448, 8880, 8392, 8390, 8397, 8421, 8868};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(std::round(large[i]), expected[i]) << i;
}

}  // namespace
}  // namespace aqueduct::coll::replays
