#include "conduits/smp/arena.hpp"
#include "conduits/smp/memory.hpp"
#include "conduits/smp/smp_network.hpp"
#include "conduits/smp/tests/party.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

namespace aqueduct::conduits::smp {
namespace {

using support::in_a_child;

Result<SharedMemory> open(std::span<const std::byte> key) {
  std::string why;
  return SharedMemory::open(key, why);
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
              auto theirs = open(key);
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
  EXPECT_EQ(open(key).status().code(), ErrorCode::peer_lost);
}

TEST_P(Memory, IsNotMistakenForItsSuccessor) {
  std::vector<std::byte> key;
  {
    auto mine = SharedMemory::create(test_.process, "thing", 4096);
    ASSERT_TRUE(mine);
    key = mine->key();
    auto keeps_the_inode = SharedMemory::create(test_.process, "other", 4096);
    *mine = std::move(*keeps_the_inode);
    keeps_the_inode = SharedMemory::create(test_.process, "thing", 4096);  // reuses the name or descriptor
    ASSERT_TRUE(keeps_the_inode);
    EXPECT_EQ(open(key).status().code(), ErrorCode::peer_lost);
  }
  EXPECT_EQ(open(key).status().code(), ErrorCode::peer_lost);
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
  EXPECT_EQ(open(std::vector<std::byte>(7)).status().code(), ErrorCode::internal);
}

// A program may have closed its standard streams and still write to descriptors 0 to 2.
TEST_P(Memory, KeepsAwayFromTheStandardStreams) {
  EXPECT_EQ(in_a_child([&] {
              for (const int stream : {0, 1, 2}) ::close(stream);
              const auto mine = SharedMemory::create(test_.process, "thing", 4096);
              const auto theirs = mine ? open(mine->key()) : mine.status();
              if (!mine || !theirs) return 1;
              for (const int fd : {mine->descriptor(), theirs->descriptor()}) {
                if (fd < 3 || (::fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0) return 2;
              }
              for (const int stream : {0, 1, 2}) {
                if (::fcntl(stream, F_GETFD) != -1) return 3;
              }
              return 0;
            }),
            0);
}

// Beyond the limit the system sends a signal that kills the process, instead of returning an error.
TEST_P(Memory, AboveTheLargestFileIsAnError) {
  EXPECT_EQ(in_a_child([&] {
              const rlimit limit{65536, 65536};
              if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
              if (!SharedMemory::create(test_.process, "thing", 65536)) return 2;
              if (!test_.said.empty()) return 3;
              const auto none = SharedMemory::create(test_.process, "thing", 65537);
              if (none.status().code() != ErrorCode::no_space) return 4;
              if (test_.said.find("65537 bytes are more than a file of this process may have, 65536") ==
                  std::string::npos)
                return 5;
              return test_.said.find("ulimit -f") != std::string::npos ? 0 : 6;
            }),
            0);
}

// A file's pages are reserved in a call that a signal ends, on older kernels (Linux 6.1).
TEST_P(Memory, IsHadThoughSignalsInterruptTheProgram) {
  EXPECT_EQ(in_a_child([&] {
              struct sigaction action {};
              action.sa_handler = [](int) {};
              sigevent event{};
              event.sigev_notify = SIGEV_SIGNAL;
              event.sigev_signo = SIGUSR1;
              timer_t timer{};
              const itimerspec storm{{0, 200'000}, {0, 200'000}};
              if (::sigaction(SIGUSR1, &action, nullptr) != 0 ||
                  ::timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
                  ::timer_settime(timer, 0, &storm, nullptr) != 0)
                return 1;
              if (!SharedMemory::create(test_.process, "thing", std::size_t{64} << 20)) return 2;
              return test_.said.empty() ? 0 : 3;
            }),
            0);
}

// Otherwise copies from one part to the same offset of another take 3.5 times as long (SharedMemory::map).
TEST_P(Memory, LargePartsOfEqualSizeLieAtDifferentPlacesModuloTheirSize) {
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  const auto mine = SharedMemory::create(test_.process, "thing", kBytes);
  ASSERT_TRUE(mine) << test_.said;
  std::vector<SharedMemory> all;
  std::set<std::uintptr_t> places{reinterpret_cast<std::uintptr_t>(mine->data()) % kBytes};
  for (int i = 0; i < 3; ++i) {
    auto other = open(mine->key());
    ASSERT_TRUE(other);
    other->data()[kBytes - 1] = std::byte{7};
    places.insert(reinterpret_cast<std::uintptr_t>(other->data()) % kBytes);
    all.push_back(std::move(*other));
  }
  EXPECT_EQ(mine->data()[kBytes - 1], std::byte{7});
  EXPECT_EQ(places.size(), 4u);
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST_P(Memory, ThatIsMappedTakesNoDescriptor) {
  SmpNetwork network(test_.process);
  std::vector<SharedMemory> theirs;
  for (int i = 0; i < 20; ++i) {
    auto made = SharedMemory::create(test_.process, "thing" + std::to_string(i), 4096);
    ASSERT_TRUE(made) << test_.said;
    theirs.push_back(std::move(*made));
  }
  std::vector<std::byte> key;
  ASSERT_TRUE(network.allocate(0, 1, 4096, key))
      << test_.said;  // with files, the first allocation also makes the AliveFile
  const std::size_t before = open_descriptors();
  for (SharedMemory& one : theirs) {
    const auto mapped = network.map(1, one.key());
    ASSERT_TRUE(mapped) << test_.said;
    one.data()[5] = std::byte{42};
    EXPECT_EQ((*mapped)[5], std::byte{42});
  }
  EXPECT_EQ(open_descriptors(), before);
  ASSERT_TRUE(network.allocate(0, 2, 4096, key)) << test_.said;
  EXPECT_EQ(open_descriptors(), before) << "the first segment's object has room for it";
  EXPECT_TRUE(network.map(1, key)) << "files are found by name: " << test_.said;
}

TEST_P(Memory, ThatNoDescriptorIsLeftForIsNotMappedAndSaysSoOnce) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the undefined-behaviour sanitizer needs a descriptor where it first meets a class";
#endif
  const auto mine = SharedMemory::create(test_.process, "thing", 4096);
  const auto other = SharedMemory::create(test_.process, "other", 4096);
  ASSERT_TRUE(mine && other);
  EXPECT_EQ(in_a_child([&] {
              SmpNetwork network(test_.process);
              const rlimit limit{3, 3};
              if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
              for (const auto* const one : {&*mine, &*other}) {
                if (network.map(1, one->key()).status().code() != ErrorCode::network_failed) return 2;
              }
              const std::string_view said = test_.said;
              const auto first = said.find("memory of rank 1 cannot be mapped: no descriptor to open ");
              if (first == std::string::npos || said.find("(ulimit -n 6)") == std::string::npos) return 3;
              return test_.warnings == 1 ? 0 : 4;
            }),
            0);
}

INSTANTIATE_TEST_SUITE_P(Of, Memory, testing::Values("memfd", "posix"),
                         [](const auto& info) { return std::string(info.param); });

// As on systems that hide /proc/PID/fd: a process may not access that of a process of another user.
TEST(MemoryOfAnotherUser, CannotBeOpenedThroughProcAndTheLogSaysWhatHelps) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root, to become somebody else";
  TestProcess test;
  auto mine = SharedMemory::create(test.process, "thing", 4096);
  ASSERT_TRUE(mine);
  const auto key = mine->key();
  EXPECT_EQ(in_a_child([&] {
              if (::setgid(65534) != 0 || ::setuid(65534) != 0) return 1;
              std::string why;
              if (SharedMemory::open(key, why).status().code() != ErrorCode::not_supported) return 2;
              return why.find("AQUEDUCT_SMP_MEMORY=posix avoids that") != std::string::npos ? 0 : 3;
            }),
            0);
}

/// Removes /proc from a child process.
bool hide_proc() {
  return ::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::umount2("/proc", MNT_DETACH) == 0 && ::access("/proc/self", F_OK) != 0;
}

class MemoryWithoutProc : public testing::Test {
 protected:
  void SetUp() override {
    if (in_a_child([] { return hide_proc() ? 0 : 1; }) != 0)
      GTEST_SKIP() << "needs root and mount namespaces, to take /proc away";
  }
  support::ScratchFolder folder_;
  TestProcess test_{{{"smp_directory", folder_.path()}}};
};

// Without /proc, memory was once mistaken for that of a lost rank.
TEST_F(MemoryWithoutProc, IsTakenFromItsOwnerOrNotSupportedButNotLost) {
  const auto mine = SharedMemory::create(test_.process, "thing", 4096);
  ASSERT_TRUE(mine);
  const auto key = mine->key();
  EXPECT_EQ(in_a_child([&] {
              if (!hide_proc()) return 1;
              std::string why;
              const auto theirs = SharedMemory::open(key, why);
              if (!theirs) return theirs.status().code() == ErrorCode::not_supported ? 0 : 2;
              theirs->data()[7] = std::byte{7};
              return mine->data()[7] == std::byte{7} ? 0 : 3;
            }),
            0);
  EXPECT_EQ(in_a_child([&] {
              if (!hide_proc() || ::setgid(65534) != 0 || ::setuid(65534) != 0) return 1;
              std::string why;
              if (SharedMemory::open(key, why).status().code() != ErrorCode::not_supported) return 2;
              return why.find("AQUEDUCT_SMP_MEMORY=posix avoids that") != std::string::npos ? 0 : 3;
            }),
            0);
}

TEST_F(MemoryWithoutProc, IsMadeOfFilesAndSaidOnce) {
  EXPECT_EQ(in_a_child([&] {
              if (!hide_proc()) return 1;
              SmpNetwork network(test_.process);
              std::vector<std::byte> keys[2];
              for (auto& key : keys) {
                if (!network.allocate(0, static_cast<SegmentId>(&key - keys), 4096, key)) return 2;
              }
              constexpr std::size_t kAlive = 1;  // the AliveFile
              if (folder_.files() != 2 + kAlive || test_.warnings != 1) return 3;
              return network.map(1, keys[1]) ? 0 : 4;
            }),
            0);
}

TEST(ArenaMemory, ThatIsTooLargeSaysWhichSettingsMakeItSo) {
  TestProcess test{{{"smp_ring_bytes", "1G"}}};
  EXPECT_EQ(Arena::create(test.process, 256).status().code(), ErrorCode::no_memory);  // 64 TiB
  EXPECT_NE(test.said.find("AQUEDUCT_SMP_RING_BYTES"), std::string::npos) << test.said;
  EXPECT_EQ(test.said.find("AQUEDUCT_SEGMENT_BYTES"), std::string::npos) << test.said;
}

}  // namespace
}  // namespace aqueduct::conduits::smp
