// Clusters' launchers over two hosts, which are network namespaces with their own host names; the launcher's
// remote-shell hook enters them. They share memory and process ids, so only the names distinguish them.

#include "tests/fault/commands.hpp"
#include "tests/fault/launch.hpp"
#include "tests/support/network_namespaces.hpp"
#include "tests/support/scratch_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>

namespace aqueduct::fault {
namespace {

using support::NetworkNamespaces;
using testing::HasSubstr;
using Words = std::vector<std::string>;

/// The script that a launcher runs instead of ssh: "[options] HOST WORDS…".
constexpr const char* kAgent = R"(#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1; shift
exec ip netns exec "$host" unshare --uts sh -c 'hostname "$0"; exec sh -c "$1"' "$host" "$*"
)";

class LauncherHosts : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!is_installed(GetParam())) GTEST_SKIP() << "there is no " << GetParam();
    if (std::string why; !NetworkNamespaces::usable(why)) GTEST_SKIP() << why;
    net_.emplace(2);
    ASSERT_EQ(net_->problem(), "");
    std::ofstream(agent()) << kAgent;
    std::filesystem::permissions(agent(), std::filesystem::perms::owner_all);
  }
  bool is_mpirun() const { return GetParam() == std::string_view("mpirun.openmpi"); }
  std::string agent() const { return (folder_ / "agent").string(); }

  /// The launcher itself runs on the first host, so that it reaches both hosts.
  Words command(const Words& what, int on_each = 2) const {
    const std::string a = net_->name(0), b = net_->name(1), each = ":" + std::to_string(on_each);
    Words all{"ip", "netns",   "exec", a, "unshare", "--uts", "sh", "-c", "hostname \"$0\"; exec \"$@\"",
              a,    GetParam()};
    const Words options = is_mpirun() ? Words{"--bind-to",
                                              "none",
                                              "--mca",
                                              "plm_rsh_agent",
                                              agent(),
                                              "--mca",
                                              "oob_tcp_if_include",
                                              std::string(NetworkNamespaces::kDevice),
                                              "--host",
                                              a + each + "," + b + each}
                                      : Words{"-launcher",      "ssh",
                                              "-launcher-exec", agent(),
                                              "-iface",         std::string(NetworkNamespaces::kDevice),
                                              "-hosts",         a + "," + b,
                                              "-ppn",           std::to_string(on_each)};
    all.insert(all.end(), options.begin(), options.end());
    all.insert(all.end(), {"-n", std::to_string(2 * on_each)});
    all.insert(all.end(), what.begin(), what.end());
    return all;
  }
  static Words environment(const Words& more = {}) {
    Words all{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  std::optional<NetworkNamespaces> net_;
  const support::ScratchFolder folder_{"/tmp"};
};

TEST_P(LauncherHosts, RunTheExamplesOverSharedMemoryInsideAndUdpBetween) {
  Launch hello(command({program("hello")}), environment());
  EXPECT_EQ(hello.status(), 0) << hello.out() << hello.err();
  EXPECT_EQ(hello.lines("of 4 (2 on this host)").size(), 4u) << hello.out();
  Launch heat(command({program("heat2d"), "--steps", "20", "--size", "48", "40"}), environment());
  EXPECT_EQ(heat.status(), 0) << heat.out() << heat.err();
  EXPECT_THAT(heat.out(), HasSubstr("heat2d: equal to the serial result"));
}

// The near conduit's addresses are published on their own host only, so this
// would fail if another host asked for them.
TEST_P(LauncherHosts, AgreeOnTheConduitBetweenThem) {
  const Words say{"/bin/sh", "-c", "AQUEDUCT_LOG=debug exec \"$0\" well", program("fault_launched")};
  Launch job(command(say), environment());
  EXPECT_EQ(job.status(), 0) << job.err();
  // Mpirun keeps the two streams apart, hydra does so only in some versions.
  const std::string all = job.out() + job.err();
  EXPECT_EQ(count(all, "debug: conduit udp: smp inside a host, the best usable conduit between hosts"), 4u)
      << all;
}

TEST_P(LauncherHosts, OneConduitForEverybodyNeedsAllAddresses) {
  const Words far{"/bin/sh", "-c", "AQUEDUCT_NEAR=off exec \"$0\" --steps 5 --size 48 40", program("heat2d")};
  Launch job(command(far), environment());
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_THAT(job.out(), HasSubstr("heat2d: equal to the serial result"));
}

// With this many ranks one process gathers the addresses for all, and one on each host gathers those of neighbours.
TEST_P(LauncherHosts, StartMoreRanksThanWouldAskOneAnother) {
  Launch job(command({program("fault_launched"), "well"}, /*on_each=*/6), environment());
  EXPECT_EQ(job.status(), 0) << job.out() << job.err();
  EXPECT_EQ(job.lines("of 12, 6 on this host").size(), 12u) << job.out() << job.err();
}

// The ranks' own settings define two hosts that differ from the launcher's.
TEST_P(LauncherHosts, ARanksOwnWordForItsHostCounts) {
  const Words odd{"/bin/sh", "-c", "AQUEDUCT_HOST_ID=$((${PMIX_RANK:-$PMI_RANK} / 3)) exec \"$0\" well",
                  program("fault_launched")};
  Launch job(command(odd), environment());
  EXPECT_EQ(job.status(), 0) << job.out() << job.err();
  EXPECT_EQ(job.lines("of 4, 3 on this host").size(), 3u) << job.out();
  EXPECT_EQ(job.lines("of 4, 1 on this host").size(), 1u) << job.out();
}

// The rank's neighbour and both ranks of the other host are told, rather than wait for its addresses. They do not
// learn it from the launcher: it has started shells, which end with status 0, and only when all ranks have ended.
TEST_P(LauncherHosts, ARankThatCannotStartEndsTheOthersOfBothHosts) {
  // hydra kills the others when the first shell ends, so it ends when all have had time to pass on what they have written.
  for (const std::string setting : {"AQUEDUCT_SMP_RING_BYTES=100", "AQUEDUCT_UDP_PORT=65535"}) {
    const std::string ended = (folder_ / setting.substr(0, setting.find('='))).string();
    std::filesystem::create_directory(ended);
    const Words one{"/bin/sh", "-c",
                    "rank=${PMIX_RANK:-$PMI_RANK}; case $rank in 1) export " + setting +
                        ";; esac; \"$0\" well; touch " + ended +
                        "/$rank; for i in $(seq 100); do test $(ls " + ended +
                        " | wc -l) = 4 && sleep 1 && exit 0; sleep 0.1; done",
                    program("fault_launched")};
    Launch job(command(one), environment());
    EXPECT_NE(job.status(), -1) << job.out() << job.err();
    EXPECT_EQ(job.lines("could not start: bad_setting").size(), 4u) << setting << '\n'
                                                                    << job.out() << job.err();
    EXPECT_LT(job.took().count(), 20) << setting;
  }
}

INSTANTIATE_TEST_SUITE_P(Jobs, LauncherHosts, testing::Values("mpirun.openmpi", "mpiexec.hydra"),
                         [](const auto& info) {
                           return std::string(info.param).substr(0, std::string_view(info.param).find('.'));
                         });

}  // namespace
}  // namespace aqueduct::fault
