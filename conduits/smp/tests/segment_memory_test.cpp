#include "conduits/smp/cma.hpp"
#include "conduits/smp/free_ranges.hpp"
#include "conduits/smp/segment_memory.hpp"
#include "conduits/smp/smp_map.hpp"
#include "conduits/smp/smp_network.hpp"
#include "conduits/smp/tests/party.hpp"
#include "tests/support/forked.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <sys/resource.h>

namespace aqueduct::conduits::smp {
namespace {

TEST(FreeRanges, AreTakenInWholeGrainsAndJoinAgain) {
  FreeRanges ranges(10 * 4096, 4096);
  EXPECT_TRUE(ranges.all_free());
  EXPECT_EQ(ranges.take(1), 0u);
  EXPECT_EQ(ranges.take(4097), 4096u);
  EXPECT_EQ(ranges.take(7 * 4096), 3u * 4096);
  EXPECT_EQ(ranges.take(1), std::nullopt);
  ranges.give(4096, 4097);
  EXPECT_EQ(ranges.take(3 * 4096), std::nullopt) << "not in one piece";
  ranges.give(0, 1);
  EXPECT_EQ(ranges.take(3 * 4096), 0u);
  ranges.give(3 * 4096, 7 * 4096);
  EXPECT_FALSE(ranges.all_free());
  ranges.give(0, 3 * 4096);
  EXPECT_TRUE(ranges.all_free());
  EXPECT_EQ(ranges.take(10 * 4096), 0u);
}

std::ptrdiff_t descriptors_here() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

class Pools : public testing::Test {
 protected:
  std::span<std::byte> take(std::size_t bytes) {
    auto memory = memory_.take("thing-" + std::to_string(++named_), bytes, key_);
    EXPECT_TRUE(memory) << test_.said;
    return memory.value_or({});
  }

  TestProcess test_{{{"smp_memory", "memfd"}}};
  SegmentMemory memory_{test_.process};
  std::vector<std::byte> key_;  // of what was taken last
  int named_ = 0;
};

TEST_F(Pools, HoldThousandsOfSegmentsInAFewDescriptors) {
  const auto before = descriptors_here();
  std::vector<std::span<std::byte>> all;
  for (std::size_t i = 0; i < 5000; ++i) {
    all.push_back(take(1 + i % 9000));
    ASSERT_EQ(all.back().size(), 1 + i % 9000);
    all.back().front() = all.back().back() = static_cast<std::byte>(i);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(all[i].front(), static_cast<std::byte>(i));
    ASSERT_EQ(all[i].back(), static_cast<std::byte>(i));
  }
  EXPECT_LE(descriptors_here() - before, 10);
  for (const auto memory : all) memory_.give(memory);
  EXPECT_EQ(descriptors_here(), before) << "an object that holds nothing ends";
}

TEST_F(Pools, GiveZeroesAlsoWhereSomethingWasBefore) {
  const auto keeps_the_object = take(10);
  auto first = take(10'000);
  std::ranges::fill(first, std::byte{1});
  memory_.give(first);
  const auto second = take(10'000);
  EXPECT_EQ(second.data(), first.data());
  EXPECT_TRUE(std::ranges::all_of(second, [](std::byte one) { return one == std::byte{0}; }));
  EXPECT_EQ(keeps_the_object.size(), 10u);
}

TEST_F(Pools, LeaveLargeSegmentsTheirOwnObject) {
  const auto before = descriptors_here();
  const auto large = take(SegmentMemory::kMostInPool + 1);
  EXPECT_EQ(descriptors_here(), before + 1);
  static_cast<void>(take(100));
  EXPECT_EQ(descriptors_here(), before + 2);
  memory_.give(large);
  EXPECT_EQ(descriptors_here(), before + 1);
}

// Beyond `ulimit -f` the system kills a process with SIGXFSZ. A segment that fits in a file alone gets one.
TEST_F(Pools, AreLeftOutWhereNoFileMayBeSoLarge) {
  EXPECT_EQ(support::in_a_child([&] {
              const rlimit limit{65536, 65536};
              if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
              for (int i = 0; i < 3; ++i) {
                const auto memory = memory_.take("thing", 30'000, key_);
                if (!memory || memory->size() != 30'000) return 2;
                memory->back() = std::byte{1};
              }
              if (!test_.said.empty()) return 3;
              return memory_.take("thing", 65'537, key_).status().code() == ErrorCode::no_space ? 0 : 4;
            }),
            0);
  EXPECT_EQ(take(30'000).size(), 30'000u);
}

TEST_F(Pools, AreMappedOnceForAllTheirSegments) {
  SmpNetwork other(test_.process);
  std::vector<std::byte*> mapped;
  std::vector<std::span<std::byte>> mine;
  for (int i = 0; i < 3; ++i) {
    mine.push_back(take(5000));
    const auto at = other.map(1, key_);
    ASSERT_TRUE(at) << test_.said;
    mapped.push_back(*at);
    mine[i].back() = std::byte{7};
    EXPECT_EQ(mapped[i][4999], std::byte{7});
  }
  EXPECT_EQ(mapped[1] - mapped[0], mine[1].data() - mine[0].data());
  other.unmap(mapped[0]);
  other.unmap(mapped[2]);
  EXPECT_EQ(mapped[1][4999], std::byte{7}) << "still there for the second one";
  other.unmap(mapped[1]);
  other.unmap(mapped[1]);  // of nobody by now
}

bool is_mapped(std::byte* at) {
  const auto page = reinterpret_cast<std::uintptr_t>(at) & ~std::uintptr_t{4095};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): msync wants the beginning of the page
  return ::msync(reinterpret_cast<void*>(page), 1, MS_ASYNC) == 0;
}

struct IgnoredAttachments final : Attachments {
  void attached(SegmentId, core::MutableBytes) noexcept override {}
  void detached(SegmentId) noexcept override {}
};

// Ranks 0 and 1 share a process and its mappings; rank 2 has another process.
TEST_F(Pools, StayMappedUntilTheLastRankOfAProcessHasUnmappedThem) {
  TestProcess both{{{"smp_memory", "memfd"}}};
  both.process.ranks = 3;
  both.process.mine = {0, 1};
  both.process.host = {0, 0, 0};
  SmpNetwork network(both.process);
  IgnoredAttachments ignored;
  const Cma cma(network, ignored);
  MappedSegments first(network, 0, ignored, cma);
  MappedSegments second(network, 1, ignored, cma);
  // As another process would export it: a mark that is not this one's, then the memory's key.
  const auto memory = take(5000);
  memory.back() = std::byte{7};
  const std::array<std::uint64_t, 2> head{network.mark() + 1, 0};
  const auto head_bytes = std::as_bytes(std::span(head));
  std::vector<std::byte> key(head_bytes.begin(), head_bytes.end());
  key.insert(key.end(), key_.begin(), key_.end());
  const auto here = first.map(2, key, 5000);
  const auto there = second.map(2, key, 5000);
  ASSERT_TRUE(here && there) << both.said;
  EXPECT_EQ(*here, *there) << "one mapping of the process";
  // Rank 1's memory was never mapped. What is at such an address now belongs to rank 2.
  first.unmap(1, *here);
  EXPECT_EQ((*here)[4999], std::byte{7});
  first.unmap(2, *here);
  ASSERT_TRUE(is_mapped(*there)) << "rank 1 still uses it";
  EXPECT_EQ((*there)[4999], std::byte{7});
  second.unmap(2, *there);
  EXPECT_FALSE(is_mapped(*there));
}

}  // namespace
}  // namespace aqueduct::conduits::smp
