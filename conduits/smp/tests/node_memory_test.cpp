#include "conduits/smp/node_memory.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace aqueduct::conduits::smp {
namespace {

namespace fs = std::filesystem;

/// A machine of two nodes with two processors each, as the system's files have it.
class NodeFolder : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(root_);
    for (const char* const place : {"node0/cpu0", "node0/cpu1", "node1/cpu2", "node1/cpu3"})
      fs::create_directories(root_ / place);
    say_online("0-1");
  }
  void TearDown() override { fs::remove_all(root_); }
  void say_online(const char* nodes) { std::ofstream(root_ / "online") << nodes << '\n'; }
  std::optional<unsigned> node(std::vector<int> processors) const {
    return node_of(processors, root_.string());
  }

  // Of this process: tests run beside each other.
  fs::path root_ = fs::path(testing::TempDir()) / ("aqueduct_nodes." + std::to_string(::getpid()));
};

TEST_F(NodeFolder, SaysTheNodeOfProcessorsThatAreBoundToOne) {
  EXPECT_EQ(node({0}), 0u);
  EXPECT_EQ(node({2, 3}), 1u);
}

TEST_F(NodeFolder, SaysNothingOfProcessorsOfSeveralNodesOrOfNone) {
  EXPECT_EQ(node({1, 2}), std::nullopt);
  EXPECT_EQ(node({9}), std::nullopt);
  EXPECT_EQ(node({}), std::nullopt);
}

TEST_F(NodeFolder, SaysNothingOnAMachineOfOneNodeOrWithoutFiles) {
  say_online("0");
  EXPECT_EQ(node({0}), std::nullopt);
  EXPECT_EQ(node_of(std::vector<int>{0}, "/no/such/folder"), std::nullopt);
}

// Another process maps the same memory, and may touch it first.
TEST(NodeMemory, IsAskedForInEveryMappingOfTheMemory) {
  const std::size_t bytes = 1 << 20;
  const int fd = ::memfd_create("node_memory_test", MFD_CLOEXEC);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(::ftruncate(fd, static_cast<off_t>(bytes)), 0);
  void* const mine = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  void* const theirs = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ASSERT_NE(mine, MAP_FAILED);
  ASSERT_NE(theirs, MAP_FAILED);
  const bool is_placed = prefer_node(mine, bytes, 0);
  int mode = -1;
  unsigned long nodes[16] = {};
  const long asked = ::syscall(SYS_get_mempolicy, &mode, nodes, 8 * sizeof nodes,
                               static_cast<char*>(theirs) + bytes / 2, MPOL_F_ADDR);
  std::memset(theirs, 1, bytes);
  ::munmap(mine, bytes);
  ::munmap(theirs, bytes);
  ::close(fd);
  // Containers often forbid both calls, and kernels may be built without them.
  if (!is_placed || asked != 0) GTEST_SKIP() << "the system places no memory";
  EXPECT_EQ(mode, MPOL_PREFERRED);
  EXPECT_EQ(nodes[0], 1u);
}

TEST(NodeMemory, OfANodeThatIsNotThereIsRefused) {
  void* const at = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(at, MAP_FAILED);
  EXPECT_FALSE(prefer_node(at, 4096, 1023));
  EXPECT_FALSE(prefer_node(at, 4096, 1u << 20));
  ::munmap(at, 4096);
}

}  // namespace
}  // namespace aqueduct::conduits::smp
