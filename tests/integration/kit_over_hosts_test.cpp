// The conformance kit with ranks that a launcher starts: aqrun, on this host and on hosts that are network namespaces.

#include "tests/integration/kit_run.hpp"
#include "tests/support/network_namespaces.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <sys/wait.h>

namespace aqueduct::integration {
namespace {

using support::NetworkNamespaces;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kAqrun = AQUEDUCT_BIN_DIR "/aqrun -n {ranks} --bind none";

class KitWithALauncher : public testing::Test {
 protected:
  /// Runs cases with ranks that `launcher` starts. `exits_with`: the exit status.
  std::string run(const std::string& launcher, std::vector<std::string> arguments, int exits_with,
                  std::chrono::seconds bound = std::chrono::seconds(60)) {
    arguments.push_back("--launcher=" + launcher);
    const KitRun outcome = run_aqconform(std::move(arguments), bound);
    EXPECT_TRUE(outcome.in_time) << outcome.output;
    EXPECT_TRUE(WIFEXITED(outcome.status)) << outcome.output;
    EXPECT_EQ(WEXITSTATUS(outcome.status), exits_with) << outcome.output;
    return outcome.output;
  }
};

/// Two hosts. Ranks are shared evenly, so that even a job of two ranks uses both.
class KitOverHosts : public KitWithALauncher {
 protected:
  void SetUp() override {
    if (std::string why; !NetworkNamespaces::usable(why)) GTEST_SKIP() << why;
    net_.emplace(2);
    ASSERT_EQ(net_->problem(), "");
    std::ofstream(folder_ / "hosts") << net_->name(0) << '\n' << net_->name(1) << '\n';
  }
  std::string aqrun() const {
    return kAqrun + " --hosts " + (folder_ / "hosts").string() + " --remote '" +
           std::string(NetworkNamespaces::kRemote) + "'";
  }
  const std::string& far_host() const { return net_->name(1); }

 private:
  const support::ScratchFolder folder_;
  std::optional<NetworkNamespaces> net_;
};

TEST_F(KitOverHosts, PassesOverUdpWithSmpOnEachHost) {
  const std::string output =
      run(aqrun(),
          {"--conduit=udp", "--fabric=udp-launched", "--ranks=4", "--limit=20",
           "--gtest_filter=*/Put.*:*/Get.*:*/AmShort.*:*/Barrier.*:*/Signals.*:*/Segments.*"},
          0, std::chrono::seconds(90));
  EXPECT_THAT(output, HasSubstr(" 0 failed, "));
  EXPECT_THAT(output, HasSubstr("[       OK ] On/Put.EverySizeInEveryFormReachesEveryRankAndNothingElse/"));
  EXPECT_THAT(output, HasSubstr("[       OK ] On/Barrier.NobodyLeavesBeforeThePutsOfTheLastAreInPlace/"));
  EXPECT_THAT(output, HasSubstr("the ranks share memory without the library"));
}

TEST_F(KitOverHosts, SaysWhichAssertionFailsOnTheFarHost) {
  const std::string output =
      run(aqrun(),
          {"--fabric=udp-launched", "--ranks=4", "--failing", "--gtest_filter=*Failing.OnTheLastRank/*"}, 1);
  EXPECT_THAT(output, AllOf(HasSubstr("failing_test.cpp:"), HasSubstr("on purpose, on host " + far_host()),
                            HasSubstr("rank 3 of 4"),
                            HasSubstr("[  FAILED  ] On/Failing.OnTheLastRank/udp_launched")));
}

TEST_F(KitOverHosts, SaysThatARankOfTheFarHostHasDied) {
  const std::string output =
      run(aqrun() + " --grace 0.1",
          {"--fabric=udp-launched", "--ranks=4", "--failing", "--gtest_filter=*Failing.ByTheDeath*"}, 1);
  EXPECT_THAT(output,
              AllOf(HasSubstr("Failing.ByTheDeathOfTheLastRank/udp_launched (fabric udp-launched, --seed 1)"),
                    HasSubstr("exited with code 137"), HasSubstr("rank 3 (pid "), HasSubstr(far_host())));
}

TEST_F(KitWithALauncher, PassesOverSmp) {
  const std::string output = run(kAqrun,
                                 {"--conduit=smp", "--fabric=smp-launched,smp-posix", "--ranks=4",
                                  "--gtest_filter=*/AmShort.*:*/Value.*"},
                                 0);
  EXPECT_THAT(output, AllOf(HasSubstr(" 0 failed, "), HasSubstr("smp-launched"), HasSubstr("smp-posix")));
  EXPECT_THAT(output, Not(HasSubstr("smp-threads")));
}

TEST_F(KitWithALauncher, EndsAJobThatHangs) {
  const std::string output =
      run(kAqrun,
          {"--fabric=smp-launched", "--ranks=2", "--limit=2", "--failing", "--gtest_filter=*ThatHangs*"}, 1);
  EXPECT_THAT(output, AllOf(HasSubstr("was still running and was ended, as its 2 s are over"),
                            HasSubstr("Ranks that have not ended well: 0, 1.")));
}

TEST_F(KitWithALauncher, BelievesNoLauncherThatStartsNothingOrSomethingElse) {
  const std::vector<std::string> one_case = {"--fabric=smp-launched", "--ranks=2",
                                             "--gtest_filter=*Barrier.LetsMessagesThrough*"};
  EXPECT_THAT(run("true {ranks}", one_case, 1), HasSubstr("Ranks that have not ended well: 0, 1"));
  EXPECT_THAT(run("no-such-launcher {ranks}", one_case, 1), HasSubstr("exited with code 127"));
  EXPECT_THAT(run("env RANKS={ranks}", one_case, 1),
              HasSubstr("the launcher has made a job of 1 ranks, of 2 that the case needs. Aqueduct takes "
                        "the launcher for `alone`"));
  EXPECT_THAT(run("aqrun -n 2", one_case, 2), HasSubstr("{ranks}"));
}

}  // namespace
}  // namespace aqueduct::integration
