#include "core/wiped_memory.hpp"
#include "tests/support/forked.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace aqueduct::core {
namespace {

using support::in_a_child;

TEST(WipedMemory, IsZeroInAChildBehindItsBorderOnly) {
  WipedMemory memory(sizeof(std::uint64_t), 3 * 4096);
  ASSERT_TRUE(memory.wipes()) << "this system has no MADV_WIPEONFORK: Linux before 4.14";
  auto* const at = reinterpret_cast<volatile std::uint64_t*>(memory.border());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % 4096, 0u);
  for (const int place : {-1, 0, 511, 512, 3 * 512 - 1}) EXPECT_EQ(at[place], 0u);
  for (const int place : {-1, 0, 511, 512, 3 * 512 - 1}) at[place] = 42;
  EXPECT_EQ(in_a_child([at] {
              if (at[-1] != 42) return 1;
              for (const int place : {0, 511, 512, 3 * 512 - 1}) {
                if (at[place] != 0) return 2;
                at[place] = 7;  // its own
              }
              return 0;
            }),
            0);
  for (const int place : {-1, 0, 511, 512, 3 * 512 - 1}) EXPECT_EQ(at[place], 42u);
}

TEST(WipedMemory, CanBeWrittenAsFarAsItWasExtended) {
  WipedMemory memory(1, 64 * 4096, /*writable=*/1);
  const std::byte* const last = memory.border() + 64 * 4096 - 1;
  EXPECT_EQ(*last, std::byte{0});
  memory.border()[-1] = std::byte{1};
  memory.border()[4095] = std::byte{1};
  EXPECT_TRUE(memory.extend(2 * 4096));
  memory.border()[2 * 4096 - 1] = std::byte{1};
  EXPECT_TRUE(memory.extend(1000 * 4096)) << "all that there are";
  memory.border()[64 * 4096 - 1] = std::byte{1};
  EXPECT_EQ(memory.border()[4095], std::byte{1});
  EXPECT_EQ(
      in_a_child([&] { return memory.border()[4095] == std::byte{0} && *last == std::byte{0} ? 0 : 1; }), 0);
}

TEST(WipedMemory, MayKeepNothing) {
  WipedMemory memory(0, 1);
  memory.border()[4095] = std::byte{1};
  EXPECT_EQ(memory.border()[0], std::byte{0});
}

}  // namespace
}  // namespace aqueduct::core
