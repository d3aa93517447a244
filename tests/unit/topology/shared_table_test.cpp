#include "topology/shared_table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

namespace aqueduct::topology {
namespace {

Reading some_table(std::uint32_t cpus) {
  CpuSet numbers;
  std::vector<std::uint32_t> cores;
  for (std::uint32_t i = 0; i < cpus; ++i) numbers.push_back(i), cores.push_back(i / 2);
  return {Table::of(numbers, std::vector<Table::Found>{{"core", cores, false}}), {}};
}

struct SharedTable : testing::Test {
  alignas(64) std::array<std::byte, 16384> memory{};
  std::atomic<int> readers{0};
};

TEST_F(SharedTable, IsReadOnce) {
  const Reading expected = some_table(64);
  std::vector<std::thread> threads;
  std::atomic<int> equal{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const Reading found =
          read_shared(memory.data(), memory.size(), [&] { return ++readers, some_table(64); });
      equal += found.table == expected.table && found.problem.empty() ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, 8);
  EXPECT_EQ(readers, 1);
}

TEST_F(SharedTable, TellsWhyThereIsNone) {
  const auto fails = [&] { return ++readers, Reading{Table::unknown(), "there is no hwloc"}; };
  EXPECT_EQ(read_shared(memory.data(), memory.size(), fails).problem, "there is no hwloc");
  EXPECT_EQ(read_shared(memory.data(), memory.size(), fails).problem, "there is no hwloc");
  EXPECT_EQ(readers, 1);
}

TEST_F(SharedTable, IsReadByEachRankIfItDoesNotFit) {
  for (int i = 0; i < 3; ++i) {
    const Reading found = read_shared(memory.data(), 128, [&] { return ++readers, some_table(64); });
    EXPECT_EQ(found.table, some_table(64).table);
  }
  EXPECT_EQ(readers, 3);
  EXPECT_EQ(read_shared(nullptr, 0, [] { return some_table(2); }).table, some_table(2).table);
}

// Of a reader that was killed the others hear nothing more.
TEST_F(SharedTable, IsReadAgainIfTheReaderIsGone) {
  const std::uint32_t being_read = 1;
  std::memcpy(memory.data(), &being_read, sizeof being_read);
  const Reading found = read_shared(memory.data(), memory.size(), [&] { return ++readers, some_table(8); });
  EXPECT_EQ(found.table, some_table(8).table);
  EXPECT_EQ(readers, 1);
}

TEST_F(SharedTable, IsReadAgainIfItIsDamaged) {
  read_shared(memory.data(), memory.size(), [] { return some_table(8); });
  memory[8] = std::byte{0x77};
  EXPECT_EQ(read_shared(memory.data(), memory.size(), [] { return some_table(6); }).table,
            some_table(6).table);
}

}  // namespace
}  // namespace aqueduct::topology
