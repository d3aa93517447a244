#include "conduits/smp/memory.hpp"
#include "conduits/smp/tests/party.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include <sys/wait.h>
#include <unistd.h>

namespace aqueduct::conduits::smp {
namespace {

/// What another process finds: 0, or the number of the check that failed.
int in_a_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class Memory : public testing::TestWithParam<const char*> {
 protected:
  support::ScratchFolder folder_;
  TestProcess test_{{{"smp_memory", GetParam()}, {"smp_directory", folder_.path()}}};
};

TEST_P(Memory, IsZeroAndSharedWithWhoOpensIt) {
  constexpr std::size_t kBytes = 100'000;
  auto mine = SharedMemory::create(test_.process, "thing", kBytes);
  ASSERT_TRUE(mine) << test_.said;
  EXPECT_TRUE(
      std::all_of(mine->data(), mine->data() + kBytes, [](std::byte b) { return b == std::byte{0}; }));
  const auto key = mine->key();
  EXPECT_EQ(in_a_child([&] {
              auto theirs = SharedMemory::open(test_.process, key);
              if (!theirs) return 1;
              if (theirs->bytes() < kBytes || theirs->data() == mine->data()) return 2;
              theirs->data()[kBytes - 1] = std::byte{42};
              return 0;
            }),
            0);
  EXPECT_EQ(mine->data()[kBytes - 1], std::byte{42});
}

TEST_P(Memory, OfSomebodyWhoIsGoneIsPeerLost) {
  std::vector<std::byte> key;
  {
    auto mine = SharedMemory::create(test_.process, "thing", 4096);
    ASSERT_TRUE(mine);
    key = mine->key();
  }
  EXPECT_EQ(SharedMemory::open(test_.process, key).status().code(), ErrorCode::peer_lost);
}

TEST_P(Memory, IsNotMistakenForItsSuccessor) {
  std::vector<std::byte> key;
  {
    auto mine = SharedMemory::create(test_.process, "thing", 4096);
    ASSERT_TRUE(mine);
    key = mine->key();
    auto keeps_the_inode = SharedMemory::create(test_.process, "other", 4096);
    *mine = std::move(*keeps_the_inode);
    keeps_the_inode = SharedMemory::create(test_.process, "thing", 4096);  // the same name, or descriptor
    ASSERT_TRUE(keeps_the_inode);
    EXPECT_EQ(SharedMemory::open(test_.process, key).status().code(), ErrorCode::peer_lost);
  }
  EXPECT_EQ(SharedMemory::open(test_.process, key).status().code(), ErrorCode::peer_lost);
}

TEST_P(Memory, LeavesNoFile) {
  {
    auto mine = SharedMemory::create(test_.process, "thing", 4096);
    ASSERT_TRUE(mine);
    EXPECT_EQ(folder_.files() == 0, std::string_view(GetParam()) == "memfd");
    SharedMemory moved = std::move(*mine);
  }
  EXPECT_EQ(folder_.files(), 0u);
}

TEST_P(Memory, OfMoreThanTheMachineHasIsRefusedWithAReason) {
  const auto none = SharedMemory::create(test_.process, "thing", std::size_t{1} << 46);
  EXPECT_EQ(none.status().code(), ErrorCode::no_memory);
  EXPECT_NE(test_.said.find("thing: 70368744177664 bytes are more than the "), std::string::npos)
      << test_.said;
  EXPECT_EQ(folder_.files(), 0u);
}

TEST_P(Memory, KeyThatIsNoneIsRefused) {
  EXPECT_EQ(SharedMemory::open(test_.process, std::vector<std::byte>(7)).status().code(),
            ErrorCode::internal);
}

INSTANTIATE_TEST_SUITE_P(Of, Memory, testing::Values("memfd", "posix"),
                         [](const auto& info) { return std::string(info.param); });

// As where /proc/PID/fd is hidden: the opener may not look into a process of another user.
TEST(MemoryOfAnotherUser, CannotBeOpenedThroughProcAndTheLogSaysWhatHelps) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root, to become somebody else";
  TestProcess test;
  auto mine = SharedMemory::create(test.process, "thing", 4096);
  ASSERT_TRUE(mine);
  const auto key = mine->key();
  EXPECT_EQ(in_a_child([&] {
              if (::setgid(65534) != 0 || ::setuid(65534) != 0) return 1;
              if (SharedMemory::open(test.process, key).status().code() != ErrorCode::not_supported) return 2;
              return test.said.find("AQUEDUCT_SMP_MEMORY=posix avoids that") != std::string::npos ? 0 : 3;
            }),
            0);
}

}  // namespace
}  // namespace aqueduct::conduits::smp
