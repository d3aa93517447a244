#include "tests/conformance/vis_test.hpp"

#include "tests/conformance/pattern.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

namespace aqueduct::conformance {
namespace {

/// Many transfers at once, the kinds of lists, and transfers of no bytes.
class Vis : public VisTest {};

TEST_P(Vis, ManyAtOnceOfManyPacketsAllArrive) {
  // Each rank takes a cube of doubles apart in three ways: rows, columns and single elements.
  with_each_plan(2, 1 << 20, [brief = fabric().brief](Endpoint& me) {
    const std::int64_t n = brief || reasonable(me, 24 * 24 * 24 * 8) < 24 * 24 * 24 * 8 ? 12 : 24;
    const std::int64_t cells = n * n * n;
    std::vector<double> cube(static_cast<std::size_t>(cells));
    std::iota(cube.begin(), cube.end(), 1000.0 * me.rank());
    std::vector<std::int64_t> scattered(static_cast<std::size_t>(cells));
    for (std::int64_t i = 0; i < cells; ++i) scattered[static_cast<std::size_t>(i)] = (i * 7919 % cells) * 8;
    const GlobalPtr<double> target{next(me), 0};
    const auto there = view(target, {n, n, n});
    const auto here = view(cube.data(), {n, n, n});
    EventSet events;
    for (std::int64_t k = 0; k < n; ++k) {
      const Slice all{0, n};
      const Slice one{k, k + 1};
      events.add(put_nb(me, section(there, {all, all, one}), section(here, {all, all, one})));
    }
    ASSERT_TRUE(events.wait_all(me));
    ASSERT_TRUE(me.barrier());
    const auto* mine = reinterpret_cast<const double*>(me.segment().data());
    for (std::int64_t i = 0; i < cells; ++i)
      ASSERT_EQ(mine[i], 1000.0 * previous(me) + static_cast<double>(i));
    ASSERT_TRUE(me.barrier());
    // Shuffling there and back restores the original order.
    const Indexed shuffled{scattered, 8};
    ASSERT_TRUE(put(me, pieces(target, shuffled), contiguous(cube.data(), cube.size())));
    std::vector<double> back(cube.size());
    ASSERT_TRUE(get(me, contiguous(back.data(), back.size()), pieces(target, shuffled)));
    ASSERT_EQ(back, cube);
    ASSERT_TRUE(get(me, pieces(back.data(), shuffled), contiguous(target, back.size())));
    for (std::int64_t i = 0; i < cells; ++i) {
      const std::int64_t there = scattered[static_cast<std::size_t>(i)] / 8;  // where element i is now
      const std::int64_t again = scattered[static_cast<std::size_t>(there)] / 8;
      ASSERT_EQ(back[static_cast<std::size_t>(again)], cube[static_cast<std::size_t>(i)]) << i;
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Vis, ListsOfAddressesAndToItselfAndOverlappingSources) {
  with_each_plan(2, 4096, [](Endpoint& me) {
    std::array<int, 4> a{1, 2, 3, 4};
    const std::array<const int*, 5> twice{&a[3], &a[1], &a[1], &a[0], &a[2]};
    const std::array<LocalConstPiece, 3> parts{{{&a[0], 8}, {&a[1], 0}, {&a[1], 12}}};
    for (const Rank to : {me.rank(), next(me)}) {
      const GlobalPtr<int> target{to, 100};
      ASSERT_TRUE(put(me, pieces(target, Strided(4, {{5, 16}})), pieces(std::span<const int* const>(twice))));
      std::array<int, 5> found{};
      ASSERT_TRUE(get(me, contiguous(found.data(), 5), pieces(target, Strided(4, {{5, 16}}))));
      EXPECT_EQ(found, (std::array{4, 2, 2, 1, 3}));
      ASSERT_TRUE(put(me, contiguous(target, 5), pieces(std::span<const LocalConstPiece>(parts))));
      ASSERT_TRUE(get(me, contiguous(found.data(), 5), contiguous(target, 5)));
      EXPECT_EQ(found, (std::array{1, 2, 2, 3, 4}));
      ASSERT_TRUE(get(me, contiguous(found.data(), 5), pieces(target, Strided(4, {{5, 0}}))))
          << "one element, five times";
      EXPECT_EQ(found, (std::array{1, 1, 1, 1, 1}));
      ASSERT_TRUE(me.barrier());
    }
  });
}

TEST_P(Vis, NothingIsLegal) {
  with_each_plan(2, 4096, [](Endpoint& me) {
    const GlobalPtr<int> to{next(me), 0};
    std::array<int, 4> a{1, 2, 3, 4};
    ASSERT_TRUE(put(me, pieces(to, Vector{}), pieces(a.data(), Indexed{})));
    ASSERT_TRUE(get(me, pieces(a.data(), Strided(4, {{0, 4}, {10, 8}})), pieces(to, Strided(0, {{5, 4}}))));
    ASSERT_TRUE(put_signal(me, contiguous(to, 0), contiguous(a.data(), 0), {.slot = 1, .add = 5}));
    ASSERT_TRUE(wait_until(me, 1, 5));
    const Piece empty[] = {{4000, 0}, {0, 4}, {-5, 0}, {8, 4}, {1 << 20, 0}};
    ASSERT_TRUE(put(me, pieces(to, Vector{empty}), contiguous(a.data(), 2)));
    ASSERT_TRUE(me.barrier());
    int mine[3];
    std::memcpy(mine, me.segment().data(), sizeof mine);
    EXPECT_EQ(mine[0], 1);
    EXPECT_EQ(mine[1], 0);
    EXPECT_EQ(mine[2], 2);
  });
}

INSTANTIATE_TEST_SUITE_P(Every, Vis, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
