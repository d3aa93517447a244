// Clusters' launchers: Open MPI's mpirun and Slurm's srun through PMIx, and MPICH's mpiexec.hydra through
// PMI-1. They start the same programs as aqrun.

#include "tests/fault/commands.hpp"
#include "tests/fault/slurm.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <charconv>
#include <fstream>
#include <ostream>

#include <signal.h>
#include <unistd.h>

namespace aqueduct::fault {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using Words = std::vector<std::string>;

/// One launcher, and how to call it.
struct How {
  const char* name;
  const char* command;
  Words options;  // these allow more ranks than cores
  Words environment;
  const char* word;  // the library's name for it
};
void PrintTo(const How& how, std::ostream* out) { *out << how.name; }

const How kHows[] = {
    {"mpirun",
     "mpirun.openmpi",
     {"--oversubscribe", "--bind-to", "none"},
     {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"},
     "pmix"},
    {"hydra", "mpiexec.hydra", {}, {}, "pmi1"},
    {"srun", "srun", {"--mpi=pmix", "--overcommit", "--kill-on-bad-exit=1"}, {}, "pmix"},
};

class Launchers : public testing::TestWithParam<How> {
 protected:
  /// All cases share one Slurm, because it takes a while to start.
  static void TearDownTestSuite() { slurm_.reset(); }
  void SetUp() override {
    if (!is_installed(how().command)) GTEST_SKIP() << "there is no " << how().command;
    if (!is_slurm()) return;
    if (std::string why; !Slurm::usable(why)) GTEST_SKIP() << why;
    if (slurm_ == nullptr) slurm_ = std::make_unique<Slurm>();
    ASSERT_EQ(slurm_->problem(), "");
  }
  static const How& how() { return GetParam(); }
  static bool is_slurm() { return how().command == std::string_view("srun"); }

  static Words command(int ranks, const Words& what) {
    Words all{how().command};
    all.insert(all.end(), how().options.begin(), how().options.end());
    all.insert(all.end(), {"-n", std::to_string(ranks)});
    all.insert(all.end(), what.begin(), what.end());
    return all;
  }
  static Words environment(const Words& more = {}) {
    Words all = how().environment;
    if (slurm_ != nullptr) {
      for (const std::string& variable : slurm_->variables()) all.push_back(variable);
    }
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

 private:
  static std::unique_ptr<Slurm> slurm_;
};
std::unique_ptr<Slurm> Launchers::slurm_;

/// The process ids that the ranks have printed.
std::vector<pid_t> pids(const Launch& job) {
  std::vector<pid_t> found;
  for (const std::string& line : job.lines("pid ")) {
    const std::size_t at = line.find("pid ") + 4;
    pid_t pid = 0;
    std::from_chars(line.data() + at, line.data() + line.size(), pid);
    found.push_back(pid);
  }
  return found;
}

/// What the ranks of a job wait for before they end it. Launchers may lose what ranks have printed just before the end, so
/// a test opens the gate once it has read that.
class Gate {
 public:
  std::string file() const { return folder_ / "open"; }
  void open() const { std::ofstream(file()).flush(); }

 private:
  const support::ScratchFolder folder_;
};

/// Whether all of them end within the limit.
bool all_end(const std::vector<pid_t>& processes) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (const pid_t pid : processes) {
    while (::kill(pid, 0) == 0) {
      if (std::chrono::steady_clock::now() > until) return false;
      ::usleep(2000);
    }
  }
  return true;
}

TEST_P(Launchers, StartTheExamplesUnchanged) {
  struct Example {
    Words words;
    const char* says;
  };
  const Example examples[] = {
      {{program("hello")}, "rank 3 of 4 (4 on this host): \"hello from rank 2 to rank 3\""},
      {{program("heat2d"), "--steps", "20", "--size", "48", "40"}, "heat2d: equal to the serial result"},
      {{program("ring_am"), "--laps", "10"}, "ring_am: all sums are right"}};
  for (const Example& example : examples) {
    Launch job(command(4, example.words), environment());
    EXPECT_EQ(job.status(), 0) << job.out() << job.err();
    EXPECT_THAT(job.out(), HasSubstr(example.says));
  }
}

TEST_P(Launchers, StartOneRankAndSeveralOfAProcess) {
  Launch one(command(1, {program("fault_launched"), "well"}), environment());
  EXPECT_EQ(one.status(), 0) << one.err();
  EXPECT_EQ(one.lines(std::string("is rank 0 of 1, 1 on this host, launcher ") + how().word).size(), 1u)
      << one.out();
  Launch three(command(2, {program("heat2d"), "--steps", "5", "--size", "48", "40"}),
               environment({"AQUEDUCT_ENDPOINTS=3"}));
  EXPECT_EQ(three.status(), 0) << three.err();
  EXPECT_THAT(three.out(), HasSubstr("5 steps, 6 ranks"));
}

TEST_P(Launchers, AreFoundByTheLibraryAndNamedByAqinfo) {
  Launch info(command(1, {program("aqinfo")}), environment());
  EXPECT_EQ(info.status(), 0) << info.err();
  EXPECT_THAT(info.out(), HasSubstr(std::string("started by      ") + how().word + ": PMI"));
}

// Each rank, or pair of ranks, claims a host of its own, so everything between them goes over udp.
TEST_P(Launchers, KeepPretendedHostsApart) {
  const Words script{"/bin/sh", "-c", "AQUEDUCT_HOST_ID=$((${PMIX_RANK:-$PMI_RANK} / 2)) exec \"$0\" well",
                     program("fault_launched")};
  Launch job(command(4, script), environment());
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_EQ(job.lines("of 4, 2 on this host").size(), 4u) << job.out();
}

/// PMIx counts its users by itself.
class Pmi1Launchers : public Launchers {};

// MPI would write to a connection that the job has finalized, and die of it.
TEST_P(Pmi1Launchers, LeaveTheManagerToAnMpiLibraryInTheSameProgram) {
  for (const char* way : {"uses", "unused"}) {
    Launch job(command(3, {program("fault_beside_mpi"), way}), environment());
    EXPECT_EQ(job.status(), 0) << way << '\n' << job.out() << job.err();
    EXPECT_EQ(job.lines("ended beside MPI").size(), 3u) << way << '\n' << job.out();
  }
}

TEST_P(Launchers, EndTheJobThatARankAborts) {
  const Gate gate;
  Launch job(command(3, {program("fault_launched"), "abort", gate.file()}), environment());
  EXPECT_TRUE(job.says("launcher", 3)) << job.err();
  gate.open();
  EXPECT_THAT(job.status(), AnyOf(7, 128 + 15, 128 + 9, 137, 143)) << job.out() << job.err();
  EXPECT_LT(job.took().count(), 20);
  EXPECT_TRUE(all_end(pids(job)));
}

TEST_P(Launchers, EndTheJobWhoseRankDies) {
  for (const char* way : {"kill", "leave"}) {
    const Gate gate;
    Launch job(command(3, {program("fault_launched"), way, gate.file()}), environment());
    EXPECT_TRUE(job.says("launcher", 3)) << job.err();
    gate.open();
    // mpiexec.hydra ends the job when a rank exits without finalizing, but may report success.
    const bool may_be_good =
        how().command == std::string_view("mpiexec.hydra") && way == std::string_view("leave");
    EXPECT_TRUE(job.status() != 0 || may_be_good) << way << '\n' << job.out() << job.err();
    EXPECT_EQ(job.lines(": ok").size(), 0u) << way << '\n' << job.out();
    EXPECT_NE(job.status(), -1) << way << " took too long\n" << job.out() << job.err();
    EXPECT_LT(job.took().count(), 20) << way;
    EXPECT_TRUE(all_end(pids(job))) << way;
  }
}

// Launchers differ in the status that they make of an abort; the limit holds for all.
TEST_P(Launchers, EndTheJobThatARankLeavesWithACode) {
  for (const char* way : {"one", "computing", "thread", "handler", "signal", "exit"}) {
    const Gate gate;
    Launch job(command(3, {program("fault_leave"), way, gate.file()}), environment());
    EXPECT_TRUE(job.says("launcher", 3)) << way << '\n' << job.err();
    gate.open();
    EXPECT_THAT(job.status(), AnyOf(7, 128 + 15, 128 + 9)) << way << '\n' << job.out() << job.err();
    EXPECT_LT(job.took().count(), 20) << way;
    EXPECT_TRUE(all_end(pids(job))) << way;
  }
  const Gate gate;
  Launch zero(command(3, {program("fault_leave"), "zero", gate.file()}), environment());
  EXPECT_TRUE(zero.says("launcher", 3)) << zero.err();
  gate.open();
  EXPECT_NE(zero.status(), -1) << "it took too long\n" << zero.out() << zero.err();
  EXPECT_LT(zero.took().count(), 20);
  EXPECT_TRUE(all_end(pids(zero)));
}

TEST_P(Launchers, DoNotHearAForkedChildThatLeaves) {
  Launch job(command(3, {program("fault_leave"), "child"}), environment());
  EXPECT_EQ(job.status(), 0) << job.out() << job.err();
}

// With the launcher killed, nothing else ends the ranks: they must notice by themselves.
TEST_P(Launchers, ThatAreKilledLeaveNobodyWaiting) {
  Launch job(command(3, {program("fault_launched"), "wait"}), environment());
  ASSERT_TRUE(job.says("launcher", 3)) << job.err();
  const std::vector<pid_t> ranks = pids(job);
  ASSERT_EQ(ranks.size(), 3u);
  job.signal(SIGKILL);
  EXPECT_TRUE(all_end(ranks)) << job.out() << job.err();
}

TEST_P(Launchers, ARankThatIsLateIsSaidToBe) {
  const Words script{"/bin/sh", "-c", "test ${PMIX_RANK:-$PMI_RANK} = 1 && sleep 30; exec \"$0\" well",
                     program("fault_launched")};
  Launch job(command(2, script), environment({"AQUEDUCT_BOOTSTRAP_TIMEOUT=1s"}));
  EXPECT_NE(job.status(), 0) << job.out() << job.err();
  EXPECT_LT(job.took().count(), 20);
  EXPECT_THAT(job.err(), HasSubstr("waited 1000 ms")) << job.out();
  EXPECT_THAT(job.err(), HasSubstr("AQUEDUCT_BOOTSTRAP_TIMEOUT"));
}

// PMIx keeps jobs apart by name; PMI-1's socket serves one job. With neither can a
// process join again after a job has ended.
TEST_P(Launchers, GiveAProcessASecondJobBesideTheFirstOrSayThatTheyCannot) {
  Launch both(command(2, {program("fault_launched"), "both"}), environment());
  if (how().word == std::string_view("pmix")) {
    EXPECT_EQ(both.status(), 0) << both.err();
    EXPECT_EQ(both.lines("another job: ok").size(), 2u) << both.out() << both.err();
  } else {
    EXPECT_NE(both.status(), 0);
    EXPECT_THAT(both.err(), HasSubstr("cannot join again")) << both.out();
  }
  Launch again(command(2, {program("fault_launched"), "again"}), environment());
  EXPECT_NE(again.status(), 0) << again.out();
  EXPECT_THAT(again.err(), HasSubstr("cannot join again")) << again.out();
  EXPECT_LT(again.took().count(), 20);
}

TEST_P(Launchers, CanStartAqrunWhoseJobIsItsOwn) {
  Launch job(command(1, {program("aqrun"), "-n", "3", program("fault_launched"), "well"}), environment());
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_EQ(job.lines("of 3, 3 on this host, launcher aqrun").size(), 3u) << job.out();
}

TEST(SlurmAlone, TasksThatDoNotKnowOfOneAnotherAreToldHowTo) {
  if (std::string why; !Slurm::usable(why)) GTEST_SKIP() << why;
  const Slurm slurm;
  ASSERT_EQ(slurm.problem(), "");
  Launch job({"srun", "--mpi=none", "--overcommit", "-n", "2", program("fault_launched"), "well"},
             slurm.variables());
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_EQ(job.lines("rank 0 of 1, 1 on this host, launcher alone").size(), 2u) << job.out();
  EXPECT_THAT(job.err(), HasSubstr("srun started 2 tasks without PMIx"));
  EXPECT_THAT(job.err(), HasSubstr("srun --mpi=pmix"));
  // The other plug-in also sets the variables of PMI-1.
  Launch pmi2({"srun", "--mpi=pmi2", "--overcommit", "-n", "2", program("fault_launched"), "well"},
              slurm.variables());
  EXPECT_EQ(pmi2.status(), 0) << pmi2.err();
  EXPECT_EQ(pmi2.lines("of 2, 2 on this host, launcher pmi1").size(), 2u) << pmi2.out();
}

INSTANTIATE_TEST_SUITE_P(Jobs, Launchers, testing::ValuesIn(kHows),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Jobs, Pmi1Launchers, testing::Values(kHows[1]),
                         [](const auto& info) { return std::string(info.param.name); });

// --------------------------------------------------------------------------------------- without the right launcher

TEST(PmixAlone, AServerThatIsNotThereIsAnErrorThatSaysWhatToDo) {
  Launch job({program("fault_launched"), "well"}, {"PMIX_NAMESPACE=gone", "PMIX_RANK=0"});
  EXPECT_EQ(job.status(), 24) << job.out() << job.err();
  if (!has(job.err(), "this build of Aqueduct has no PMIx")) {
    EXPECT_THAT(job.err(), HasSubstr("does not answer"));
    EXPECT_THAT(job.err(), HasSubstr("AQUEDUCT_LAUNCHER=alone"));
  }
  Launch alone({program("fault_launched"), "well"},
               {"PMIX_NAMESPACE=gone", "PMIX_RANK=0", "AQUEDUCT_LAUNCHER=alone"});
  EXPECT_EQ(alone.status(), 0) << alone.err();
  EXPECT_THAT(alone.out(), HasSubstr("rank 0 of 1, 1 on this host, launcher alone"));
}

TEST(PmixAlone, ALibraryThatIsNotThereOrIsAnotherIsSaidToBe) {
  for (const char* library : {"/nowhere/libpmix.so.2", "libm.so.6"}) {
    Launch job({program("fault_launched"), "well"},
               {"PMIX_NAMESPACE=some", "PMIX_RANK=0", std::string("AQUEDUCT_PMIX_LIBRARY=") + library});
    EXPECT_THAT(job.status(), AnyOf(24, 25)) << job.err();
    if (has(job.err(), "this build of Aqueduct has no PMIx")) continue;
    EXPECT_THAT(job.err(), HasSubstr(library));
    EXPECT_THAT(job.err(), HasSubstr("AQUEDUCT_PMIX_LIBRARY"));
  }
}

TEST(Pmi1Alone, VariablesThatMakeNoSenseAreSaidTo) {
  for (const char* size : {"", "x", "0", "1"}) {
    Launch job({program("fault_launched"), "well"},
               {"AQUEDUCT_LAUNCHER=pmi1", "PMI_FD=777", "PMI_RANK=1", std::string("PMI_SIZE=") + size});
    EXPECT_EQ(job.status(), 22) << job.err();
    EXPECT_THAT(job.err(), HasSubstr("PMI_FD, PMI_RANK and PMI_SIZE"));
  }
  Launch job({program("fault_launched"), "well"}, {"PMI_FD=777", "PMI_RANK=0", "PMI_SIZE=1"});
  EXPECT_EQ(job.status(), 24) << job.err();
  EXPECT_THAT(job.err(), HasSubstr("descriptor 777"));
}

}  // namespace
}  // namespace aqueduct::fault
