#include "conduits/smp/leftovers.hpp"
#include "conduits/smp/tests/party.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace aqueduct::conduits::smp {
namespace {

class Leftovers : public testing::Test {
 protected:
  void write(const std::string& name) { std::ofstream(folder_ / name) << "something"; }
  bool exists(const std::string& name) const { return std::filesystem::exists(folder_ / name); }
  Result<AliveFile> alive(std::uint64_t job, Rank first) {
    return AliveFile::create(folder_.path(), job, first, test_.log);
  }
  std::size_t sweep() { return sweep_leftovers(folder_.path(), test_.log); }

  support::ScratchFolder folder_;
  TestProcess test_;
};

TEST_F(Leftovers, OfAJobWhoseProcessesWereKilledAreRemoved) {
  for (const Rank rank : {0u, 2u}) {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto kept = alive(7, rank);
      write("aqueduct-7-segment-0-" + std::to_string(rank));
      ::kill(::getpid(), SIGKILL);
    }
    ::waitpid(child, nullptr, 0);
  }
  ASSERT_EQ(folder_.files(), 4u);
  EXPECT_EQ(sweep(), 4u);
  EXPECT_EQ(folder_.files(), 0u);
  EXPECT_NE(test_.said.find("what job 7 has left there"), std::string::npos) << test_.said;
}

TEST_F(Leftovers, AreNoneAsLongAsOneProcessOfTheJobLives) {
  auto first = alive(7, 0);
  ASSERT_TRUE(first);
  std::optional<AliveFile> other(std::move(*alive(7, 1)));
  write("aqueduct-7-segment-0-0");
  write("aqueduct-7-alive-2");  // of a dead process
  EXPECT_EQ(sweep(), 0u);
  other.reset();
  EXPECT_EQ(sweep(), 0u);
  EXPECT_EQ(folder_.files(), 3u);
  EXPECT_EQ(test_.said, "");
}

TEST_F(Leftovers, AreNotWhatNothingIsKnownOf) {
  for (const char* name :
       {"aqueduct-1-segment-0-0", "aqueduct-", "aqueduct-x-alive-0", "aqueduct-12", "other-7-alive-0"})
    write(name);
  EXPECT_EQ(sweep(), 0u);
  EXPECT_EQ(folder_.files(), 5u);
}

TEST_F(Leftovers, OfAGoodEndAreNone) {
  {
    const auto file = alive(7, 0);
    EXPECT_TRUE(exists("aqueduct-7-alive-0"));
  }
  EXPECT_EQ(folder_.files(), 0u);
}

TEST_F(Leftovers, WhereNoFileCanBeMadeAreExplained) {
  EXPECT_EQ(AliveFile::create("/nowhere", 7, 0, test_.log).status().code(), ErrorCode::network_failed);
  EXPECT_NE(test_.said.find("cannot make /nowhere/aqueduct-7-alive-0: No such file"), std::string::npos)
      << test_.said;
  EXPECT_EQ(sweep_leftovers("/nowhere", test_.log), 0u);
}

}  // namespace
}  // namespace aqueduct::conduits::smp
