#include "bootstrap/launcher.hpp"

#include <gtest/gtest.h>

#include <map>

namespace aqueduct::bootstrap {
namespace {

using Environment = std::map<std::string, std::string>;

Launch found(const Environment& environment, const std::string& wanted = "auto", int connected = -1) {
  const auto variable = [&](const char* name) -> std::optional<std::string> {
    const auto at = environment.find(name);
    return at != environment.end() ? std::optional(at->second) : std::nullopt;
  };
  return find_launcher(wanted, variable, [&](int descriptor) { return descriptor == connected; });
}

const Environment kPmix{{"PMIX_NAMESPACE", "job"}, {"PMIX_RANK", "3"}};
const Environment kPmi1{{"PMI_FD", "6"}, {"PMI_RANK", "0"}, {"PMI_SIZE", "2"}};

Environment both(Environment first, const Environment& second) {
  first.insert(second.begin(), second.end());
  return first;
}

TEST(FindLauncher, SeesItFromTheEnvironment) {
  EXPECT_EQ(found({}).by, Launcher::alone);
  EXPECT_EQ(found({{"AQUEDUCT_BOOTSTRAP", "fd:5,process:0,processes:1,job:1"}}).by, Launcher::aqrun);
  EXPECT_EQ(found(kPmix).by, Launcher::pmix);
  EXPECT_EQ(found(kPmi1).by, Launcher::pmi1);
}

TEST(FindLauncher, TakesAqrunInsideAClustersJobForTheLauncher) {
  EXPECT_EQ(found(both(kPmix, {{"AQUEDUCT_BOOTSTRAP", "fd:5"}})).by, Launcher::aqrun);
}

TEST(FindLauncher, TellsTheInnerLauncherFromTheOuterOneByItsConnection) {
  EXPECT_EQ(found(both(kPmi1, kPmix)).by, Launcher::pmix);
  const Launch inner = found(both(kPmi1, kPmix), "auto", /*connected=*/6);
  EXPECT_EQ(inner.by, Launcher::pmi1);
  EXPECT_NE(inner.why.find("PMI_FD is a connection"), std::string::npos);
  EXPECT_EQ(found(both({{"PMI_FD", "6x"}, {"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}, kPmix), "auto", 6).by,
            Launcher::pmix);
}

TEST(FindLauncher, IsNotMisledByHalfOfTheVariables) {
  EXPECT_EQ(found({{"PMIX_RANK", "0"}}).by, Launcher::alone);
  EXPECT_EQ(found({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}).by,
            Launcher::alone);  // srun sets them without being asked to
  EXPECT_EQ(found({{"AQUEDUCT_BOOTSTRAP", ""}}).by, Launcher::alone);
}

TEST(FindLauncher, SaysWhoServesPmix) {
  EXPECT_NE(found(both(kPmix, {{"OMPI_COMM_WORLD_RANK", "0"}})).why.find("Open MPI's mpirun"),
            std::string::npos);
  EXPECT_NE(found(both(kPmix, {{"SLURM_STEP_ID", "0"}})).why.find("srun"), std::string::npos);
  EXPECT_NE(found(kPmix).why.find("PMIX_NAMESPACE and PMIX_RANK"), std::string::npos);
}

TEST(FindLauncher, DoubtsThatTasksOfSrunMeantToBeAlone) {
  EXPECT_EQ(found({}).doubt, "");
  EXPECT_EQ(found({{"SLURM_STEP_NUM_TASKS", "1"}}).doubt, "");
  EXPECT_NE(found({{"SLURM_STEP_NUM_TASKS", "4"}}).doubt.find("srun --mpi=pmix"), std::string::npos);
  EXPECT_EQ(found(both(kPmix, {{"SLURM_STEP_NUM_TASKS", "4"}})).doubt, "");
}

TEST(FindLauncher, DoesWhatTheSettingSays) {
  for (const Launcher launcher : {Launcher::alone, Launcher::aqrun, Launcher::pmix, Launcher::pmi1}) {
    const Launch launch = found(both(kPmix, kPmi1), word_for(launcher));
    EXPECT_EQ(launch.by, launcher);
    EXPECT_NE(launch.why.find("AQUEDUCT_LAUNCHER"), std::string::npos);
  }
}

}  // namespace
}  // namespace aqueduct::bootstrap
