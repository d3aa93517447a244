// Whatever ends a job, none of its processes and files remain.

#include "tests/fault/launch.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include <signal.h>
#include <unistd.h>

namespace aqueduct::fault {
namespace {

using Folder = support::ScratchFolder;

std::vector<std::string> settings(const Folder& folder) {
  return {"AQUEDUCT_SMP_MEMORY=posix", "AQUEDUCT_SMP_DIRECTORY=" + folder.path(),
          "AQUEDUCT_SEGMENT_BYTES=64K"};
}

bool is_running(const std::string& pid) {
  std::ifstream in("/proc/" + pid + "/stat");
  std::string text((std::istreambuf_iterator<char>(in)), {});
  const auto name_end = text.rfind(')');
  return name_end != std::string::npos && text[name_end + 2] != 'Z' && text[name_end + 2] != 'X';
}

template <class Condition>
bool comes_true(Condition condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

std::vector<std::string> pids_of(const Launch& job) {
  std::vector<std::string> found;
  for (const std::string& line : job.lines("pid ")) found.push_back(line.substr(line.find("pid ") + 4));
  return found;
}

void expect_nothing_left(const Launch& job, const Folder& folder) {
  const auto all = pids_of(job);
  EXPECT_EQ(all.size(), 4u);
  EXPECT_TRUE(comes_true([&] { return std::none_of(all.begin(), all.end(), is_running); })) << job.out();
  EXPECT_TRUE(comes_true([&] { return folder.files() == 0; })) << folder.files() << " files are left";
}

class Leftovers : public testing::Test {
 protected:
  Folder folder_;
  Launch job_{aqrun({"-n", "4", "--grace", "1", program("fault_crowd"), "linger"}), settings(folder_)};
  void SetUp() override {
    ASSERT_TRUE(job_.says("pid ", 4)) << job_.err();
    ASSERT_GT(folder_.files(), 4u);  // otherwise the test would prove nothing
  }
};

TEST_F(Leftovers, NoneAfterAqrunIsKilled) {
  job_.signal(SIGKILL);
  EXPECT_EQ(job_.status(), 128 + SIGKILL);
  expect_nothing_left(job_, folder_);
}

TEST_F(Leftovers, NoneAfterARankIsKilled) {
  ::kill(std::stoi(pids_of(job_).at(2)), SIGKILL);
  EXPECT_EQ(job_.status(), 128 + SIGKILL) << job_.err();
  EXPECT_EQ(folder_.files(), 0u);  // immediately, because aqrun has ended
  expect_nothing_left(job_, folder_);
}

TEST_F(Leftovers, NoneAfterAnInterrupt) {
  job_.signal(SIGINT);
  EXPECT_EQ(job_.status(), 128 + SIGINT) << job_.err();
  EXPECT_EQ(folder_.files(), 0u);
  expect_nothing_left(job_, folder_);
}

/// The process that aqrun has started to clean up after it.
std::string leader_of(pid_t aqrun) {
  std::ifstream children("/proc/" + std::to_string(aqrun) + "/task/" + std::to_string(aqrun) + "/children");
  for (std::string child; children >> child;) {
    std::string name;
    std::getline(std::ifstream("/proc/" + child + "/comm"), name);
    if (name == "aqrun-leader") return child;
  }
  return "";
}

// With both killed, the next job of the same user removes the files.
TEST_F(Leftovers, AfterAqrunAndItsLeaderAreKilledGoWithTheNextJob) {
  const std::string leader = leader_of(job_.pid());
  ASSERT_NE(leader, "");
  ::kill(std::stoi(leader), SIGKILL);
  job_.signal(SIGKILL);
  EXPECT_EQ(job_.status(), 128 + SIGKILL);
  const auto all = pids_of(job_);
  ASSERT_TRUE(comes_true([&] { return std::none_of(all.begin(), all.end(), is_running); })) << job_.out();
  ASSERT_GT(folder_.files(), 4u);
  Launch next(aqrun({"-n", "2", "-e", "AQUEDUCT_LOG=info", program("fault_crowd"), "hello"}),
              settings(folder_));
  EXPECT_EQ(next.status(), 0) << next.err();
  EXPECT_EQ(count(next.err(), "has left there: all its processes were killed"), 1u) << next.err();
  EXPECT_EQ(folder_.files(), 0u);
}

TEST(LeftoversOfAGoodEnd, AreNone) {
  Folder folder;
  Launch job(aqrun({"-n", "4", program("fault_crowd"), "ring"}), settings(folder));
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_EQ(folder.files(), 0u);
}

TEST(LeftoversOfOtherJobs, AreNotTouched) {
  Folder folder;
  const std::filesystem::path other = folder / "aqueduct-1-segment-0-0";
  std::ofstream(other) << "of job 1";
  Launch job(aqrun({"-n", "2", program("fault_crowd"), "hello"}), settings(folder));
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_TRUE(std::filesystem::exists(other));
}

// Libfabric's provider has files of its own, which a process that is killed leaves.
TEST(LeftoversOfLibfabric, GoWhenARankIsKilled) {
  Launch job(aqrun({"-n", "3", "--grace", "1", program("fault_crowd"), "linger"}),
             {"AQUEDUCT_CONDUIT=ofi", "AQUEDUCT_NEAR=off", "AQUEDUCT_OFI_PROVIDER=shm"});
  if (!job.says("pid ", 3)) {  // as where the system forbids copies between processes (docs/conduits/ofi.md)
    job.status();
    GTEST_SKIP() << "libfabric's provider shm cannot be used here: " << job.err();
  }
  const auto all = pids_of(job);
  const auto left = [&all] {
    return std::count_if(all.begin(), all.end(), [](const std::string& pid) {
      return std::filesystem::exists("/dev/shm/" + pid + ":" + std::to_string(::getuid()) + ":0");
    });
  };
  ASSERT_EQ(left(), 3);
  ::kill(std::stoi(all.at(1)), SIGKILL);
  EXPECT_EQ(job.status(), 128 + SIGKILL) << job.err();
  EXPECT_EQ(left(), 0);
}

// With memfd there is never a file, so none can remain.
TEST(LeftoversOfMemfd, CannotBe) {
  Folder folder;
  Launch job(aqrun({"-n", "4", program("fault_crowd"), "linger"}),
             {"AQUEDUCT_SMP_DIRECTORY=" + folder.path()});
  ASSERT_TRUE(job.says("pid ", 4)) << job.err();
  EXPECT_EQ(folder.files(), 0u);
  job.signal(SIGKILL);
  job.status();
  expect_nothing_left(job, folder);
}

}  // namespace
}  // namespace aqueduct::fault
