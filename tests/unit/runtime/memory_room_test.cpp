#include <aqueduct/aqueduct.hpp>

#include "runtime/memory_room.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace aqueduct::runtime {
namespace {

class CgroupRoom : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    const auto path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::uint64_t room(const std::string& membership) { return cgroup_room(folder_.path(), membership); }

  support::ScratchFolder folder_;
};

TEST_F(CgroupRoom, IsTheLeastOfAllLevels) {
  write("a/memory.max", "1000000\n");
  write("a/memory.current", "900000\n");
  write("a/memory.stat", "anon 5\ninactive_file 200000\nactive_file 7\n");
  write("a/b/memory.max", "max\n");
  write("a/b/memory.current", "5\n");
  EXPECT_EQ(room("0::/a/b\n"), 300'000u);
  write("a/b/memory.max", "100\n");
  EXPECT_EQ(room("0::/a/b\n"), 95u);
  EXPECT_EQ(room("0::/a\n"), 300'000u);
}

TEST_F(CgroupRoom, OfANamespaceIsAtItsRoot) {
  write("memory.max", "5000\n");
  write("memory.current", "6000\n");  // more than allowed: the limit was lowered
  EXPECT_EQ(room("0::/\n"), 0u);
}

TEST_F(CgroupRoom, IsReadFromVersionOneToo) {
  write("memory/job/memory.limit_in_bytes", "4096\n");
  write("memory/job/memory.usage_in_bytes", "1000\n");
  write("memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 500\n");
  EXPECT_EQ(room("5:cpu,cpuacct:/other\n4:blkio,memory:/job\n"), 3596u);
}

TEST_F(CgroupRoom, WithoutFilesHasNoLimit) {
  EXPECT_EQ(room("0::/gone\n4:memory:/gone\n"), UINT64_MAX);
  EXPECT_EQ(room("nonsense\n"), UINT64_MAX);
  EXPECT_EQ(room(""), UINT64_MAX);
}

TEST(MemoryRoom, CountsPagesThatNobodyHasTouched) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t bytes = 64 * page;
  const int fd = ::memfd_create("room", MFD_CLOEXEC);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(::ftruncate(fd, static_cast<off_t>(bytes)), 0);
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ASSERT_NE(at, MAP_FAILED);
  const std::span<std::byte> memory(static_cast<std::byte*>(at), bytes);
  EXPECT_EQ(untouched(memory), bytes);
  memory[0] = std::byte{1};
  memory[10 * page] = std::byte{1};
  EXPECT_EQ(untouched(memory), bytes - 2 * page);
  EXPECT_EQ(untouched(memory.subspan(10 * page + 64, 100)), 0u) << "within a touched page";
  EXPECT_EQ(untouched(memory.subspan(page - 64, 128)), page) << "of two pages, the second is untouched";
  EXPECT_EQ(untouched(memory.first(0)), 0u);
  ::munmap(at, bytes);
  ::close(fd);
}

TEST(MemoryRoom, OfAddressesEndsAtTheLimit) {
  EXPECT_EQ(support::in_a_child([] {
              rlimit limit{};
              if (::getrlimit(RLIMIT_AS, &limit) != 0) return 1;
              if (limit.rlim_cur == RLIM_INFINITY && address_room() != UINT64_MAX) return 2;
              limit.rlim_cur = rlim_t{1} << 50;
              if (limit.rlim_max != RLIM_INFINITY || ::setrlimit(RLIMIT_AS, &limit) != 0) return 0;
              const std::uint64_t room = address_room();
              if (room >= limit.rlim_cur || room == 0) return 3;
              return 0;
            }),
            0);
}

/// The room of rank 0 in a job of two ranks in one process, over smp.
SegmentRoom room_of_job() {
  Config config;
  if (!config.set("conduit", "smp") || !config.set("segment_bytes", "64K") || !config.set("log", "off"))
    return {};
  auto job = Job::in_process(2, config);
  return job ? Segment::most_bytes(job->endpoint(0)) : SegmentRoom{};
}

// A segment is an object of shared memory, which may not be larger than `ulimit -f`.
TEST(MemoryRoom, OfASegmentEndsAtTheLargestFile) {
  EXPECT_EQ(support::in_a_child([] {
              constexpr rlim_t kMost = rlim_t{32} << 20;
              const SegmentRoom before = room_of_job();
              if (before.rank == 0 || before.rank > before.host / 2 + 1) return 1;
              if (before.rank <= kMost) return 0;  // this machine has no more anyway
              const rlimit limit{kMost, RLIM_INFINITY};
              if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 0;
              const SegmentRoom under = room_of_job();
              if (under.rank != kMost) return 2;
              return under.host > kMost ? 0 : 3;
            }),
            0);
}

}  // namespace
}  // namespace aqueduct::runtime
