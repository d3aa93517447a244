#include "core/segment_table.hpp"
#include "tests/support/forked.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace aqueduct::core {
namespace {

std::vector<SegmentPart> parts(std::initializer_list<std::uint64_t> sizes) {
  std::vector<SegmentPart> made;
  for (const std::uint64_t bytes : sizes) made.emplace_back().bytes = bytes;
  return made;
}

std::size_t at(const SegmentTable& table, SegmentId id, Rank rank) {
  return (std::size_t{id} << table.shift()) | rank;
}

TEST(SegmentTable, ChecksEveryBoundWithoutOverflow) {
  SegmentTable table(2, 4);
  std::vector<std::byte> mine(100);
  ASSERT_EQ(table.add(mine, parts({100, 0})), 0u);
  struct Case {
    Rank rank;
    SegmentId segment;
    std::uint64_t offset, bytes;
    bool ok;
  };
  for (const Case& c :
       {Case{0, 0, 0, 100, true}, Case{0, 0, 100, 0, true}, Case{0, 0, 99, 1, true}, Case{0, 0, 99, 2, false},
        Case{0, 0, 101, 0, false}, Case{0, 0, 0, 101, false}, Case{0, 0, UINT64_MAX, 1, false},
        Case{0, 0, 1, UINT64_MAX, false}, Case{0, 0, UINT64_MAX, UINT64_MAX, false}, Case{1, 0, 0, 0, true},
        Case{1, 0, 0, 1, false}, Case{2, 0, 0, 0, false}, Case{kNoRank, 0, 0, 0, false},
        Case{0, 1, 0, 0, false}, Case{0, ~SegmentId{0}, 0, 0, false}}) {
    const auto found = table.check({c.rank, c.offset, c.segment}, c.bytes);
    EXPECT_EQ(found.ok(), c.ok) << c.rank << ' ' << c.segment << ' ' << c.offset << ' ' << c.bytes;
    EXPECT_EQ(found.status().code(), c.ok ? ErrorCode::ok : ErrorCode::out_of_range);
  }
}

TEST(SegmentTable, HasAWindowForPutsAndNoneForValuesWhereTheProcessorIsNeeded) {
  SegmentTable table(2, 4);
  std::vector<std::byte> mine(64), theirs(64);
  const SegmentId id = table.add(mine, parts({64, 64}));
  table.set_window(id, 0, mine.data(), mine.size(), /*for_values=*/false);
  table.set_window(id, 1, theirs.data(), theirs.size());
  EXPECT_EQ(table.windows()[at(table, id, 0)].base, mine.data());
  EXPECT_EQ(table.value_windows()[at(table, id, 0)].base, nullptr);
  EXPECT_EQ(table.value_windows()[at(table, id, 0)].bytes, 0u);
  EXPECT_EQ(table.windows()[at(table, id, 1)].base, theirs.data());
  EXPECT_EQ(table.value_windows()[at(table, id, 1)].base, theirs.data());
  table.forget(1);
  EXPECT_EQ(table.windows()[at(table, id, 1)].base, nullptr);
  EXPECT_EQ(table.value_windows()[at(table, id, 1)].base, nullptr);
}

// A key's handle is valid only for the network that has returned it.
TEST(SegmentTable, KnowsAPartForANetworkByThatNetworksKeyOnly) {
  SegmentTable table(3, 4);
  auto* const near = reinterpret_cast<NativeRma*>(8);
  auto* const far = reinterpret_cast<NativeRma*>(16);
  std::vector<SegmentPart> made = parts({64, 64, 64});
  made[0].has_key = true;
  made[0].rma = near;
  made[1].has_key = true;
  made[1].rma = near;
  made[1].far = std::make_unique<SegmentPart>();
  made[1].far->bytes = 64;
  made[1].far->has_key = true;
  made[1].far->rma = far;
  made[1].far->key = 7;
  made[2].has_key = true;
  made[2].rma = far;
  const SegmentId id = table.add({}, std::move(made));
  const auto at = [&](Rank rank, std::uint64_t offset) { return GlobalPtr<std::byte>{rank, offset, id}; };
  EXPECT_EQ(table.of_network(far, at(0, 0), 8), nullptr);
  ASSERT_NE(table.of_network(far, at(1, 56), 8), nullptr);
  EXPECT_EQ(table.of_network(far, at(1, 56), 8)->key, 7u);
  EXPECT_NE(table.of_network(far, at(2, 56), 8), nullptr);
  EXPECT_EQ(table.of_network(far, at(1, 60), 8), nullptr) << "beyond its end";
  EXPECT_EQ(table.of_network(far, at(3, 0), 8), nullptr);
}

TEST(SegmentTable, ArraysOfTheInlineCodeDoNotMoveAsItGrows) {
  SegmentTable table(2, 3);
  const auto* const windows = table.windows();
  std::vector<std::byte> memory(64);
  for (SegmentId id = 0; id < 3; ++id) {
    ASSERT_EQ(table.add(memory, parts({64, 64})), id);
    table.set_window(id, 1, memory.data() + id, 1);
    for (SegmentId old = 0; old <= id; ++old) {
      EXPECT_EQ(table.windows()[at(table, old, 0)].base, nullptr);
      EXPECT_EQ(table.windows()[at(table, old, 1)].base, memory.data() + old);
    }
  }
  EXPECT_EQ(table.windows(), windows);
  EXPECT_EQ(table.size(), table.capacity());
  EXPECT_EQ(table[2].mine.data(), memory.data());
}

TEST(SegmentTable, HasPartsOfThoseThatBelongToItOnly) {
  SegmentTable table(8, 4);
  const SegmentId id = table.add({}, parts({10, 0, 20}), /*first=*/3);
  for (Rank rank = 0; rank < 9; ++rank) {
    const bool belongs = rank >= 3 && rank <= 5;
    EXPECT_EQ(table.check({rank, 0, id}, 0).ok(), belongs) << rank;
    EXPECT_EQ(table.bytes_of(id, rank), rank == 3 ? 10u : rank == 5 ? 20u : 0u);
    table.forget(rank);
  }
}

TEST(SegmentTable, RefusesWhatWasReleasedAndNeverGivesItsNumberAgain) {
  SegmentTable table(2, 4);
  std::vector<std::byte> memory(64);
  const SegmentId id = table.add(memory, parts({64, 64}));
  table.set_window(id, 0, memory.data(), 64);
  table.set_window(id, 1, memory.data(), 64);
  const SegmentRecord ended = table.release(id);
  EXPECT_EQ(ended.mine.data(), memory.data());
  EXPECT_EQ(ended.parts.size(), 2u);
  for (Rank rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(table.windows()[at(table, id, rank)].find(0, 0), nullptr);
    EXPECT_EQ(table.value_windows()[at(table, id, rank)].find(0, 0), nullptr);
    EXPECT_EQ(table.check({rank, 0, id}, 0).status().code(), ErrorCode::closed);
    EXPECT_EQ(table.native({rank, 0, id}, 8), nullptr);
    EXPECT_EQ(table.bytes_of(id, rank), 0u);
    table.forget(rank);
  }
  EXPECT_EQ(table.add(memory, parts({64, 64})), id + 1);
  EXPECT_EQ(table.check({0, 0, id}, 0).status().code(), ErrorCode::closed);
}

TEST(SegmentTable, LeavesOutNumbersThatOthersHaveUsed) {
  SegmentTable table(2, 1000);
  table.skip_to(700);
  EXPECT_EQ(table.size(), 700u);
  table.skip_to(3);
  EXPECT_EQ(table.add({}, parts({8, 8})), 700u);
  EXPECT_EQ(table.check({0, 0, 699}, 0).status().code(), ErrorCode::out_of_range);
  EXPECT_EQ(table.check({0, 0, 0}, 0).status().code(), ErrorCode::out_of_range);
  EXPECT_TRUE(table.check({0, 0, 700}, 8).ok());
  EXPECT_EQ(table.windows()[at(table, 699, 1)].bytes, 0u);
}

// Where the system counts only what can be written, room for many costs nothing.
TEST(SegmentTable, OfManyRanksAndSegmentsIsAddressSpaceUntilItIsUsed) {
  SegmentTable table(100'000, 1 << 16);
  EXPECT_EQ(table.capacity(), 1u << 16);
  std::vector<std::byte> memory(64);
  const SegmentId id = table.add(memory, parts({64}), 99'999);
  table.set_window(id, 99'999, memory.data(), 64);
  EXPECT_EQ(table.windows()[at(table, id, 99'999)].find(8, 56), memory.data() + 8);
  EXPECT_EQ(table.windows()[at(table, id, 99'999)].find(8, 57), nullptr);
  EXPECT_EQ(table.windows()[at(table, 65'535, 99'999)].find(0, 0), nullptr) << "nothing is there yet";
}

TEST(SegmentTable, AWindowOpensAndALossClosesThemAll) {
  SegmentTable table(3, 2);
  std::vector<std::byte> memory(64);
  for (SegmentId id = 0; id < 2; ++id) {
    table.add(memory, parts({64, 64, 64}));
    EXPECT_EQ(table.windows()[at(table, id, 1)].bytes, 0u);  // nothing is reached before it is mapped
    table.set_window(id, 1, memory.data(), 64);
    table.set_window(id, 2, memory.data(), 64);
    EXPECT_EQ(table[id].parts[1].reach, SegmentPart::Reach::mapped);
  }
  table.forget(1);
  for (SegmentId id = 0; id < 2; ++id) {
    EXPECT_EQ(table.windows()[at(table, id, 1)].base, nullptr);
    EXPECT_EQ(table.windows()[at(table, id, 1)].bytes, 0u);
    EXPECT_NE(table[id].parts[1].reach, SegmentPart::Reach::mapped);
    EXPECT_EQ(table.windows()[at(table, id, 2)].base, memory.data());
  }
}

TEST(SegmentTable, OfAForkedChildReachesNothing) {
  SegmentTable table(2, 2);
  std::vector<std::byte> memory(64);
  std::vector<SegmentPart> made = parts({64, 64});
  made[1].reach = SegmentPart::Reach::native;
  made[1].has_key = true;
  const GlobalPtr<std::byte> there{1, 0, table.add(memory, std::move(made))};
  table.set_window(0, 0, memory.data(), 64);
  EXPECT_EQ(support::in_a_child([&] {
              if (!table.in_child() || table.size() != 0) return 1;
              if (table.windows()[0].base != nullptr || table.windows()[0].bytes != 0) return 2;
              if (table.native(there, 8) != nullptr || table.of_network(nullptr, there, 8) != nullptr)
                return 3;
              if (table.check(there, 8).status().code() != ErrorCode::invalid_argument) return 4;
              table.forget(0);
              return 0;
            }),
            0);
  EXPECT_FALSE(table.in_child());
  EXPECT_NE(table.native(there, 8), nullptr);
  EXPECT_NE(table.of_network(nullptr, there, 8), nullptr);
  EXPECT_EQ(table.windows()[0].base, memory.data());
}

TEST(SegmentPart, TakesTransfersAnywhereUnlessTheyMayBeWords) {
  SegmentPart part;
  part.max_transfer = 100;
  for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{8}, std::uint64_t{100}}) {
    EXPECT_TRUE(part.native_anywhere(bytes, part.max_transfer)) << bytes;
  }
  for (const std::uint64_t most : {std::uint64_t{0}, part.max_transfer}) {
    EXPECT_FALSE(part.native_anywhere(0, most));
    EXPECT_FALSE(part.native_anywhere(101, most));
    EXPECT_FALSE(part.native_anywhere(~std::uint64_t{0}, most));
    EXPECT_TRUE(part.native_anywhere(9, most));
    EXPECT_TRUE(part.native_anywhere(100, most));
  }
  for (std::uint64_t bytes = 1; bytes <= 8; ++bytes) EXPECT_FALSE(part.native_anywhere(bytes, 0)) << bytes;
}

TEST(SegmentPart, KnowsAWordByItsAddressAtTheOwner) {
  SegmentPart part;
  for (const std::uint64_t bytes : {1, 2, 4, 8}) {
    part.base = 4096;
    EXPECT_TRUE(part.is_word(16, bytes));
    EXPECT_EQ(part.is_word(1, bytes), bytes == 1);
    part.base = 4100;
    EXPECT_EQ(part.is_word(0, bytes), bytes != 8);
    EXPECT_TRUE(part.is_word(4, bytes));
  }
  for (const std::uint64_t bytes : {0, 3, 5, 6, 7, 9, 16, 64}) EXPECT_FALSE(part.is_word(0, bytes)) << bytes;
}

}  // namespace
}  // namespace aqueduct::core
