#include "conduits/ibv/pages.hpp"

#include <gtest/gtest.h>

#include <vector>

#include <sys/mman.h>

namespace aqueduct::conduits::ibv {
namespace {

/// How many pages of the memory are present.
std::size_t resident(core::MutableBytes memory) {
  std::vector<unsigned char> pages(memory.size() / 4096);
  EXPECT_EQ(::mincore(memory.data(), memory.size(), pages.data()), 0);
  std::size_t there = 0;
  for (const unsigned char page : pages) there += page & 1;
  return there;
}

TEST(IbvPages, AreThereAfterwardsAndWhatTheyHeldToo) {
  constexpr std::size_t kBytes = 192 << 20;  // enough for several threads
  void* const at =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(at, MAP_FAILED);
  const core::MutableBytes memory(static_cast<std::byte*>(at), kBytes);
  memory[kBytes / 2] = std::byte{7};
  const bool can = ::madvise(at, 4096, 23) == 0;
  populate(memory, true);
  EXPECT_EQ(memory[kBytes / 2], std::byte{7});
  EXPECT_EQ(memory[kBytes / 2 + 1], std::byte{0});
  if (can) {
    EXPECT_GE(resident(memory) * 4096, kBytes - (4 << 20)) << "all but what is no whole large page";
  }
  ::munmap(at, kBytes);
}

TEST(IbvPages, OfNothingOrOfLittleAreLeftAlone) {
  populate({}, true);
  std::vector<std::byte> little(5000, std::byte{3});
  populate(little, true);
  EXPECT_EQ(little.back(), std::byte{3});
}

}  // namespace
}  // namespace aqueduct::conduits::ibv
