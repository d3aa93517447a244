// The real programs over udp: on hosts that are network namespaces, and on this host only.

#include "tests/integration/aqrun_job.hpp"
#include "tests/integration/udp_hosts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <ostream>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

namespace aqueduct::integration {
namespace {

using support::NetworkNamespaces;
using testing::AllOf;
using testing::HasSubstr;

struct Example {
  const char* name;
  Words arguments;
  const char* says;  // expected output
};
void PrintTo(const Example& example, std::ostream* out) { *out << example.name; }

/// Small enough for eight ranks on two cores.
const Example kExamples[] = {
    {"hello", {}, "\"hello from rank 0 to rank 1\""},
    {"heat2d", {"--steps", "20", "--size", "48", "40"}, "heat2d: equal to the serial result\n"},
    {"gups", {"--log2-words", "12", "--mode", "atomics"}, "gups: 0 wrong words, 0 allowed\n"},
    {"gups", {"--log2-words", "12", "--mode", "am"}, "gups: 0 wrong words, 0 allowed\n"},
    {"ring_am", {"--laps", "10"}, "ring_am: all sums are right\n"},
    {"pointer_chase", {"--nodes", "100", "--chains", "2"}, "ns a hop"},
    {"transpose_fft",
     {"--size", "24", "20", "--steps", "2"},
     "transpose_fft: agrees with the serial transform\n"},
    {"sample_sort", {"--keys", "5000"}, "sample_sort: all keys are there, in order\n"},
};

// ------------------------------------------------------------------------------------------------- over hosts

struct Where {
  unsigned hosts;
  const char* security;
};
void PrintTo(const Where& where, std::ostream* out) { *out << where.hosts << " hosts, " << where.security; }

class UdpOverHosts : public testing::TestWithParam<Where> {
 protected:
  void SetUp() override {
    if (std::string why; !NetworkNamespaces::usable(why)) GTEST_SKIP() << why;
  }
};

TEST_P(UdpOverHosts, EveryExampleIsRight) {
  const UdpHosts hosts(GetParam().hosts);
  ASSERT_EQ(hosts.net.problem(), "");
  for (const Example& example : kExamples) {
    SCOPED_TRACE(example.name);
    AqrunJob job(hosts.run({"-e", std::string("AQUEDUCT_UDP_SECURITY=") + GetParam().security},
                           built(example.name, example.arguments)));
    EXPECT_EQ(job.status(), 0) << job.out() << job.err();
    EXPECT_THAT(job.out(), HasSubstr(example.says));
    EXPECT_EQ(job.err(), "");
  }
}

// Otherwise the test above could pass without a datagram.
TEST_P(UdpOverHosts, SharedMemoryStaysInsideAHostAndUdpGoesBetween) {
  const UdpHosts hosts(GetParam().hosts);
  ASSERT_EQ(hosts.net.problem(), "");
  AqrunJob job(hosts.run(
      {"-e", std::string("AQUEDUCT_UDP_SECURITY=") + GetParam().security, "-e", "AQUEDUCT_LOG=debug"},
      built("hello")));
  EXPECT_EQ(job.status(), 0) << job.err();
  const unsigned ranks = 2 * GetParam().hosts;
  for (unsigned rank = 0; rank < ranks; ++rank) {
    const std::string here = "rank " + std::to_string(rank) + " of " + std::to_string(ranks);
    EXPECT_THAT(job.out(), HasSubstr(here + " (2 on this host)"));
  }
  for (unsigned host = 0; host < GetParam().hosts; ++host) {
    EXPECT_THAT(job.err(), HasSubstr("udp: uses eth0 (" + NetworkNamespaces::ipv4(host) + ")"));
  }
}

INSTANTIATE_TEST_SUITE_P(Jobs, UdpOverHosts, testing::Values(Where{2, "full"}, Where{4, "header"}),
                         [](const auto& info) {
                           return std::to_string(info.param.hosts) + "_hosts_" + info.param.security;
                         });

class UdpTwoHosts : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string why; !NetworkNamespaces::usable(why)) GTEST_SKIP() << why;
    hosts_.emplace(2);
    ASSERT_EQ(hosts_->net.problem(), "");
  }
  std::optional<UdpHosts> hosts_;
};

TEST_F(UdpTwoHosts, SpeakIPv6) {
  AqrunJob job(hosts_->run({"-e", "AQUEDUCT_UDP_FAMILY=ipv6", "-e", "AQUEDUCT_LOG=debug"}, built("hello")));
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_THAT(job.err(), HasSubstr("udp: uses eth0 (" + NetworkNamespaces::ipv6(1) + ")"));
}

TEST_F(UdpTwoHosts, UseOnlyThePortsThatAFirewallLetsThrough) {
  if (std::string why; !NetworkNamespaces::can_drop(why)) GTEST_SKIP() << why;
  for (unsigned host = 0; host < 2; ++host) {
    const std::string& name = hosts_->net.name(host);
    ASSERT_TRUE(UdpHosts::in(name, "nft add table inet wall"));
    ASSERT_TRUE(UdpHosts::in(name, "nft 'add chain inet wall in { type filter hook input priority 0; }'"));
    ASSERT_TRUE(UdpHosts::in(
        name, "nft 'add rule inet wall in iifname eth0 meta l4proto udp udp dport != { 4000, 4001 } drop'"));
  }
  AqrunJob open(hosts_->run({"-e", "AQUEDUCT_UDP_PORT=4000"}, built("hello")));
  EXPECT_EQ(open.status(), 0) << open.err();
  // The wall works: other ports are blocked.
  AqrunJob shut(
      hosts_->run({"-e", "AQUEDUCT_UDP_PORT=4100", "-e", "AQUEDUCT_UDP_TIMEOUT=1s"}, built("hello")));
  EXPECT_NE(shut.status(), 0);
  EXPECT_THAT(shut.err(), HasSubstr("peer_lost"));
}

TEST_F(UdpTwoHosts, WithTwoNetworksAreToldWhichOnesThereAreUntilOneIsNamed) {
  for (unsigned host = 0; host < 2; ++host) {
    const std::string ip = "ip -n " + hosts_->net.name(host);
    ASSERT_EQ(std::system((ip + " link add eth1 type veth peer name eth2").c_str()), 0);
    ASSERT_EQ(std::system((ip + " addr add 10.78.0.1/24 dev eth1").c_str()), 0);
    ASSERT_EQ(std::system((ip + " link set eth2 up && " + ip + " link set eth1 up").c_str()), 0);
  }
  AqrunJob unsure(hosts_->run({}, built("hello")));
  EXPECT_NE(unsure.status(), 0);
  EXPECT_THAT(unsure.err(),
              AllOf(HasSubstr("several network interfaces could be meant: "), HasSubstr("eth0 10.77.0.1/24"),
                    HasSubstr("eth1 10.78.0.1/24"), HasSubstr("set AQUEDUCT_UDP_INTERFACE")));
  for (const char* wish : {"10.77.0.0/16", "eth0"}) {
    AqrunJob sure(hosts_->run({"-e", std::string("AQUEDUCT_UDP_INTERFACE=") + wish}, built("hello")));
    EXPECT_EQ(sure.status(), 0) << wish << '\n' << sure.err();
  }
}

// --------------------------------------------------------------------------------------------- on this one host

/// aqrun's arguments for a job of ranks on this host that communicate over udp.
Words here(int ranks, const Words& settings, const Words& what) {
  Words all{"-n", std::to_string(ranks), "--conduit", "udp", "--timeout", "25", "-e", "AQUEDUCT_NEAR=off"};
  for (const std::string& setting : settings) all = joined(all, {"-e", setting});
  return joined(all, what);
}

/// Occupies a port of the loopback interface as long as it lives.
class TakenPort {
 public:
  TakenPort() : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof address;
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), bytes), 0);
    EXPECT_EQ(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &bytes), 0);
    port_ = ntohs(address.sin_port);
  }
  ~TakenPort() { ::close(socket_); }
  TakenPort(const TakenPort&) = delete;
  TakenPort& operator=(const TakenPort&) = delete;
  int number() const { return port_; }

 private:
  int socket_;
  int port_ = 0;
};

class UdpExampleHere : public testing::TestWithParam<Example> {};

TEST_P(UdpExampleHere, EightRanksAreRight) {
  AqrunJob job(here(8, {}, built(GetParam().name, GetParam().arguments)));
  EXPECT_EQ(job.status(), 0) << job.out() << job.err();
  EXPECT_THAT(job.out(), HasSubstr(GetParam().says));
  EXPECT_EQ(job.err(), "");
}
INSTANTIATE_TEST_SUITE_P(Jobs, UdpExampleHere, testing::ValuesIn(kExamples), [](const auto& info) {
  return std::string(info.param.name) + "_" + std::to_string(info.index);
});

TEST(UdpHere, TwoJobsAtOnceDoNotHearOneAnother) {
  const Words what = built("gups", {"--log2-words", "12", "--mode", "am"});
  AqrunJob one(here(4, {}, what)), other(here(4, {}, what));
  EXPECT_EQ(one.status(), 0) << one.out() << one.err();
  EXPECT_EQ(other.status(), 0) << other.out() << other.err();
}

TEST(UdpHere, APortThatIsTakenIsNamed) {
  const TakenPort taken;
  AqrunJob job(here(3, {"AQUEDUCT_UDP_PORT=" + std::to_string(taken.number() - 2)}, built("hello")));
  EXPECT_NE(job.status(), 0);
  EXPECT_THAT(job.err(), HasSubstr("UDP port " + std::to_string(taken.number()) +
                                   " of 127.0.0.1 is taken by another socket"));
}

TEST(UdpHere, MoreEndpointsThanAProcessMayHaveFilesAreAnErrorThatNamesTheLimit) {
  AqrunJob job(
      here(32, {}, {"--endpoints", "32", "sh", "-c", "ulimit -n 20; exec " + built("hello").front()}));
  EXPECT_GT(job.status(), 0);
  EXPECT_THAT(job.err(), AllOf(HasSubstr("as many open files as it may, 20"), HasSubstr("ulimit -n 40")));
}

struct WrongSetting {
  const char* name;
  const char* setting;
  Words says;
};
void PrintTo(const WrongSetting& wrong, std::ostream* out) { *out << wrong.setting; }

class UdpWrongSetting : public testing::TestWithParam<WrongSetting> {};

TEST_P(UdpWrongSetting, IsAnErrorThatSaysWhatToWrite) {
  AqrunJob job(here(2, {GetParam().setting}, built("hello")));
  EXPECT_GT(job.status(), 0);
  for (const std::string& part : GetParam().says) EXPECT_THAT(job.err(), HasSubstr(part));
  EXPECT_EQ(job.out(), "");
}
INSTANTIATE_TEST_SUITE_P(
    Jobs, UdpWrongSetting,
    testing::Values(
        WrongSetting{
            "interface",
            "AQUEDUCT_UDP_INTERFACE=eth99",
            {"AQUEDUCT_UDP_INTERFACE is \"eth99\", and nothing on this host matches it", "lo 127.0.0.1/8"}},
        WrongSetting{"subnet", "AQUEDUCT_UDP_INTERFACE=10.1.0.0/99", {"is no subnet", "as in 10.1.0.0/16"}},
        WrongSetting{"share",
                     "AQUEDUCT_UDP_FAULTS=loss=x",
                     {"loss is \"x\"; it must be a percentage from 0% to 100%"}},
        WrongSetting{
            "fault", "AQUEDUCT_UDP_FAULTS=los=1%", {"there is no fault \"los\"; there are loss, delay"}},
        WrongSetting{"value", "AQUEDUCT_UDP_FAULTS=loss", {"\"loss\" has no value; write name=value"}},
        WrongSetting{
            "unit", "AQUEDUCT_UDP_FAULTS=delay=5", {"delay is \"5\"; it must be a time", "as in 0.5ms"}},
        WrongSetting{
            "port", "AQUEDUCT_UDP_PORT=65535", {"rank 1 would need port 65536, and the last one is 65535"}},
        WrongSetting{"timeout", "AQUEDUCT_UDP_TIMEOUT=1ms", {"this is too small", "from 100ms to 3600s"}},
        WrongSetting{"security",
                     "AQUEDUCT_UDP_SECURITY=fool",
                     {"AQUEDUCT_UDP_SECURITY", "it may be one of none, header, full"}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(UdpHere, RanksThatDisagreeOnSecurityAreTold) {
  AqrunJob job(shell(here(2, {}, {}),
                     "[ $p = 1 ] && export AQUEDUCT_UDP_SECURITY=full; exec " + built("hello").front()));
  EXPECT_GT(job.status(), 0);
  EXPECT_THAT(job.err(), AllOf(HasSubstr("AQUEDUCT_UDP_SECURITY is header here and full at rank 1"),
                               HasSubstr("AQUEDUCT_UDP_SECURITY is full here and header at rank 0"),
                               HasSubstr("set it alike for the whole job")));
}

}  // namespace
}  // namespace aqueduct::integration
