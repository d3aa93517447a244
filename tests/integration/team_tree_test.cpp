// A tree of the team from a file, as users give it: each process reads the file that it sees.

#include "tests/integration/aqrun_job.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

namespace aqueduct::integration {
namespace {

using ::testing::HasSubstr;

// The setting is the same text on all ranks, but what the file says is not: two hosts may have two files of one name.
TEST(TreeOfTheTeam, FromFilesThatDifferIsAMismatch) {
  const support::ScratchFolder folder;
  for (const auto& [name, words] : {std::pair{"0", "parents=-,0"}, std::pair{"1", "parents=1,-"}}) {
    std::filesystem::create_directory(folder / name);
    std::ofstream(folder / name / "tree") << words;
  }
  const std::string broadcasts =
      "export AQUEDUCT_COLL_TREE=file=tree AQUEDUCT_COLL_BROADCAST=team-tree; exec " AQUEDUCT_BIN_DIR
      "/aqperf coll-broadcast --bytes 8 --seconds 0.02";
  AqrunJob same(shell({"-n", "2"}, "cd " + folder.path() + "/0; " + broadcasts));
  EXPECT_EQ(same.status(), 0) << same.err();
  EXPECT_THAT(same.out(), HasSubstr("team-tree"));
  AqrunJob other(shell({"-n", "2"}, "cd " + folder.path() + "/$p; " + broadcasts));
  EXPECT_NE(other.status(), 0);
  EXPECT_THAT(other.err(), HasSubstr("mismatch"));
}

// The edges are the same, and what is sent over them is not: the order decides the places of blocks.
TEST(TreeOfTheTeam, OrdersThatDifferAreAMismatch) {
  const support::ScratchFolder folder;
  for (const auto& [name, words] : {std::pair{"0", "flat order=0,1,2"}, std::pair{"1", "flat order=0,1,2"},
                                    std::pair{"2", "flat order=0,2,1"}}) {
    std::filesystem::create_directory(folder / name);
    std::ofstream(folder / name / "tree") << words;
  }
  const std::string gathers =
      "export AQUEDUCT_COLL_TREE=file=tree AQUEDUCT_COLL_GATHER=team-tree; exec " AQUEDUCT_BIN_DIR
      "/aqperf coll-gather --bytes 8 --seconds 0.02";
  AqrunJob same(shell({"-n", "3"}, "cd " + folder.path() + "/2; " + gathers));
  EXPECT_EQ(same.status(), 0) << same.err();
  AqrunJob other(shell({"-n", "3"}, "cd " + folder.path() + "/$p; " + gathers));
  EXPECT_NE(other.status(), 0);
  EXPECT_THAT(other.err(), HasSubstr("mismatch"));
}

}  // namespace
}  // namespace aqueduct::integration
