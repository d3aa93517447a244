// Faults of networks and ranks under the udp conduit: stopped ranks, pulled cables,
// packet loss, foreign packets, too many ranks.

#include <aqueduct/rank.hpp>
#include <aqueduct/status.hpp>

#include "conduits/udp/protocol/wire.hpp"
#include "tests/fault/exchange.hpp"
#include "tests/support/network_namespaces.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

namespace aqueduct::fault {
namespace {

using namespace std::chrono_literals;
using support::NetworkNamespaces;
using Clock = std::chrono::steady_clock;

/// aqrun with a job of ranks on this host that communicate over udp.
Words here(int ranks, const Words& what) {
  return aqrun(joined({"-n", std::to_string(ranks), "--conduit", "udp", "--bind", "none", "--timeout", "35",
                       "-e", "AQUEDUCT_NEAR=off"},
                      what));
}

// ------------------------------------------------------------------------------------------------ on one host

TEST(UdpRank, StoppedForThreeSecondsGoesOn) {
  const Exchange exchange;
  Launch job(here(4, exchange.command()));
  ASSERT_TRUE(exchange.goes_on(job)) << job.err();
  const pid_t pid = pid_of(job, 2);
  ASSERT_GT(pid, 0) << job.out();
  ::kill(pid, SIGSTOP);
  std::this_thread::sleep_for(3s);  // specified: less than AQUEDUCT_UDP_TIMEOUT
  ::kill(pid, SIGCONT);
  ASSERT_TRUE(exchange.goes_on(job)) << job.out() << job.err();
  exchange.expect_right_end(job, 4);
}

TEST(UdpRank, StoppedForGoodIsLostInTime) {
  const Exchange exchange;
  Launch job(here(3, joined({"-e", "AQUEDUCT_UDP_TIMEOUT=500ms"}, exchange.command())));
  ASSERT_TRUE(exchange.goes_on(job)) << job.err();
  const pid_t pid = pid_of(job, 2);
  ASSERT_GT(pid, 0) << job.out();
  ::kill(pid, SIGSTOP);
  const auto since = Clock::now();
  EXPECT_TRUE(job.says("noticed peer_lost (rank 2)", 2)) << job.out() << job.err();
  EXPECT_LT(Clock::now() - since, 4s);
  ::kill(pid, SIGKILL);
  exchange.end();
  EXPECT_EQ(job.status(), 137) << job.out() << job.err();
  EXPECT_NE(job.err().find("has not been heard for 0.5 s (AQUEDUCT_UDP_TIMEOUT)"), std::string::npos)
      << job.err();
}

TEST(UdpRank, ThatFinishesWhereOthersHaveABarrierHoldsNobodyUp) {
  Launch job(here(3, {program("fault_finish_early")}));
  const auto since = Clock::now();
  EXPECT_NE(job.status(), 124) << job.out() << job.err();  // --timeout
  EXPECT_LT(Clock::now() - since, 10s);
  EXPECT_EQ(job.lines("finish ").size(), 3u) << job.out() << job.err();
}

TEST(UdpRank, ThatComputesServesOthersAndIsNotLost) {
  Launch job(here(3, {"-e", "AQUEDUCT_UDP_TIMEOUT=300ms", program("fault_compute"), "1000"}));
  EXPECT_EQ(job.status(), 0) << job.out() << job.err();
  EXPECT_EQ(job.err(), "");
  ASSERT_EQ(job.lines("served ").size(), 1u) << job.out();
  int times = 0;
  double longest = 0;
  ASSERT_EQ(std::sscanf(job.out().c_str(), "served %d times, longest %lf ms", &times, &longest), 2);
  EXPECT_GE(times, 20);  // a thread serves them, which first waits 10 ms and then has to get a core
  EXPECT_LT(longest, 250.0);
}

TEST(UdpRank, ThatComputesInAHandlerIsNotLost) {
  Launch job(here(3, {"-e", "AQUEDUCT_UDP_TIMEOUT=2s", program("fault_compute"), "5000", "handler"}));
  EXPECT_EQ(job.status(), 0) << job.out() << job.err();
  EXPECT_EQ(job.err(), "");
  EXPECT_GE(job.took(), 5000ms);
}

TEST(UdpPort, OfAnotherJobIsNamedAndThatJobGoesOnUnharmed) {
  const Exchange exchange;
  const Words port{"-e", "AQUEDUCT_UDP_PORT=" + std::to_string(20'000 + ::getpid() % 10'000)};
  Launch first(here(2, joined(port, exchange.command())));
  ASSERT_TRUE(exchange.goes_on(first)) << first.err();
  Launch second(here(2, joined(port, exchange.command())));
  EXPECT_EQ(second.status(), Status(ErrorCode::network_failed).exit_code()) << second.err();
  EXPECT_NE(second.err().find("is taken by another socket (ss -ulpn shows whose); name another port, or 0"),
            std::string::npos)
      << second.err();
  ASSERT_TRUE(exchange.goes_on(first)) << first.out() << first.err();
  exchange.expect_right_end(first, 2);
}

TEST(UdpCrowd, OfThirtyTwoRanksOnFewCoresExchangesAllToAll) {
  const Exchange exchange;
  Launch job(here(32, exchange.command({"200"})));
  ASSERT_TRUE(exchange.goes_on(job, 2)) << job.out() << job.err();
  exchange.expect_right_end(job, 32);
}

TEST(UdpCrowd, OfThirtyTwoRanksPassesATokenAndBarriers) {
  Launch job(here(32, {program("fault_crowd"), "ring"}));
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_EQ(job.err(), "");
}

// ------------------------------------------------------------------------------------------- over two hosts

/// Two hosts of two ranks each: smp inside, udp between.
class UdpNetwork : public testing::Test {
 protected:
  static constexpr std::size_t kRanks = 4;

  void SetUp() override {
    if (std::string why; !NetworkNamespaces::usable(why)) GTEST_SKIP() << why;
    net_.emplace(2);
    ASSERT_EQ(net_->problem(), "");
    std::ofstream(folder_ / "hosts") << net_->hosts_file(2);
  }
  Words over_hosts(const Words& settings) const { return over_hosts(settings, exchange_.command()); }
  Words over_hosts(const Words& settings, const Words& what) const {
    Words all{"-n",        std::to_string(kRanks),
              "--hosts",   (folder_ / "hosts").string(),
              "--remote",  std::string(NetworkNamespaces::kRemote),
              "--bind",    "none",
              "--timeout", "35"};
    for (const std::string& setting : settings) all = joined(all, {"-e", setting});
    return aqrun(joined(all, what));
  }

  std::optional<NetworkNamespaces> net_;
  Exchange exchange_;

 private:
  const support::ScratchFolder folder_;
};

TEST_F(UdpNetwork, WhoseCableIsPulledForTwoSecondsGoesOn) {
  Launch job(over_hosts({}));
  ASSERT_TRUE(exchange_.goes_on(job)) << job.err();
  ASSERT_TRUE(net_->set_link(0, false)) << net_->problem();
  std::this_thread::sleep_for(2s);
  ASSERT_TRUE(net_->set_link(0, true)) << net_->problem();
  ASSERT_TRUE(exchange_.goes_on(job)) << job.out() << job.err();
  exchange_.expect_right_results(job, kRanks);
  // The system of that host has no route meanwhile.
  std::istringstream said(job.err());
  std::size_t lines = 0;
  for (std::string line; std::getline(said, line); ++lines)
    EXPECT_NE(line.find("this system refuses to send to"), std::string::npos) << line;
  EXPECT_GT(lines, 0u);
}

TEST_F(UdpNetwork, WhoseCableIsPulledForGoodLosesThePeersOnBothSides) {
  Launch job(over_hosts({"AQUEDUCT_UDP_TIMEOUT=1s"}));
  ASSERT_TRUE(exchange_.goes_on(job)) << job.err();
  ASSERT_TRUE(net_->set_link(0, false)) << net_->problem();
  const auto since = Clock::now();
  EXPECT_TRUE(job.says("noticed peer_lost (rank ", kRanks)) << job.out() << job.err();
  EXPECT_LT(Clock::now() - since, 5s);
  exchange_.end();
  EXPECT_EQ(job.status(), 0) << job.out() << job.err();
  EXPECT_EQ(job.lines("finish peer_lost").size(), kRanks) << job.out();
  EXPECT_NE(job.err().find("datagrams refused by this system, last: "), std::string::npos) << job.err();
}

// Two hosts lose each other, and a third one reaches both. One of the two goes on with it, and the other one alone.
TEST(UdpNetworkOfThree, InWhichTwoLoseEachOtherGoesOnWithOneOfThem) {
  if (std::string why; !NetworkNamespaces::usable(why) || !NetworkNamespaces::can_drop(why))
    GTEST_SKIP() << why;
  for (const auto& [host, other] : {std::pair(0u, 1u), std::pair(1u, 2u)}) {
    NetworkNamespaces net(3);
    ASSERT_EQ(net.problem(), "");
    const support::ScratchFolder folder;
    std::ofstream(folder / "hosts") << net.hosts_file(1);
    Launch job(aqrun({"-n", "3", "--hosts", (folder / "hosts").string(), "--remote",
                      std::string(NetworkNamespaces::kRemote), "--bind", "none", "--timeout", "35", "-e",
                      "AQUEDUCT_UDP_TIMEOUT=1s", program("fault_lost_link")}));
    ASSERT_TRUE(job.says("rounds ", 3)) << job.err();
    ASSERT_TRUE(net.part(host, other)) << net.problem();
    const auto since = Clock::now();
    EXPECT_TRUE(job.says("noticed peer_lost (rank ", 3)) << job.out() << job.err();
    EXPECT_LT(Clock::now() - since, 8s);
    EXPECT_EQ(job.status(), 0) << job.out() << job.err();
    EXPECT_LT(Clock::now() - since, 15s);
    EXPECT_EQ(job.lines("goes on with 2: ok").size(), 2u) << job.out() << job.err();
    EXPECT_EQ(job.lines("goes on with 1: ok").size(), 1u) << job.out() << job.err();
    EXPECT_EQ(job.lines("finish peer_lost").size(), 3u) << job.out() << job.err();
    EXPECT_NE(job.err().find("the network between the two has failed"), std::string::npos) << job.err();
    EXPECT_NE(job.err().find("This rank goes on alone"), std::string::npos) << job.err();
  }
}

// Longer packets disappear without an ICMP message, as in a misconfigured tunnel,
// and packets in flight are not fragmented.
TEST_F(UdpNetwork, WhoseIpv6PathShrinksWithoutAWordLosesThePeersInTime) {
  if (std::string why; !NetworkNamespaces::can_drop(why)) GTEST_SKIP() << why;
  // Without offload, because nftables would see the joined packets.
  Launch job(over_hosts({"AQUEDUCT_UDP_FAMILY=ipv6", "AQUEDUCT_UDP_OFFLOAD=off", "AQUEDUCT_UDP_TIMEOUT=1s"}));
  ASSERT_TRUE(exchange_.goes_on(job)) << job.err();
  for (unsigned host = 0; host < 2; ++host) ASSERT_TRUE(net_->carry_at_most(host, 1280)) << net_->problem();
  const auto since = Clock::now();
  // Only pairs of ranks with a long packet in flight notice: the other pairs have not lost each other.
  EXPECT_TRUE(job.says("noticed peer_lost (rank ", 2)) << job.out() << job.err();
  EXPECT_LT(Clock::now() - since, 8s);
  exchange_.end();
  EXPECT_NE(job.status(), 124) << job.out() << job.err();  // --timeout
  EXPECT_NE(job.err().find("most short ones have: taken for lost"), std::string::npos) << job.err();
}

TEST_F(UdpNetwork, OfTheLeastIpv6PathIsUsedFromTheStart) {
  if (std::string why; !NetworkNamespaces::can_drop(why)) GTEST_SKIP() << why;
  for (unsigned host = 0; host < 2; ++host) ASSERT_TRUE(net_->carry_at_most(host, 1280)) << net_->problem();
  Launch job(over_hosts({"AQUEDUCT_UDP_FAMILY=ipv6", "AQUEDUCT_UDP_OFFLOAD=off"}));
  ASSERT_TRUE(exchange_.goes_on(job, 10)) << job.err();
  exchange_.expect_right_end(job, kRanks);
}

class UdpLoss : public UdpNetwork, public testing::WithParamInterface<unsigned> {};

TEST_P(UdpLoss, OfPacketsSpoilsNothing) {
  if (std::string why; !NetworkNamespaces::can_drop(why)) GTEST_SKIP() << why;
  for (unsigned host = 0; host < 2; ++host) ASSERT_TRUE(net_->drop(host, GetParam())) << net_->problem();
  for (const char* security : {"AQUEDUCT_UDP_SECURITY=header", "AQUEDUCT_UDP_SECURITY=full"}) {
    const Exchange exchange;
    Launch job(over_hosts({security}, exchange.command()));
    ASSERT_TRUE(exchange.goes_on(job, 10)) << security << job.out() << job.err();
    exchange.expect_right_end(job, kRanks);
  }
}
INSTANTIATE_TEST_SUITE_P(Faults, UdpLoss, testing::Values(10u, 100u),
                         [](const auto& info) { return std::to_string(info.param) + "_of_1000"; });

/// Sends datagrams to a rank that does not expect them.
class Stranger {
 public:
  Stranger(const NetworkNamespaces& net, unsigned from, unsigned to, int port)
      : socket_(net.open_socket(from, AF_INET, SOCK_DGRAM)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    ::inet_pton(AF_INET, NetworkNamespaces::ipv4(to).c_str(), &address.sin_addr);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ~Stranger() { ::close(socket_); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

  /// False, once, if an earlier datagram found the port closed.
  bool send(const std::vector<unsigned char>& datagram) {
    return ::send(socket_, datagram.data(), datagram.size(), 0) >= 0 || errno != ECONNREFUSED;
  }

 private:
  const int socket_;
};

using Random = std::minstd_rand;

std::vector<unsigned char> garbage(Random& random) {
  std::vector<unsigned char> datagram(random() % 1400);  // may be empty
  for (unsigned char& byte : datagram) byte = static_cast<unsigned char>(random() >> 8);
  return datagram;
}

/// A datagram as a rank of another job would send it to a rank of ours on a reused port: everything is valid
/// but the tag. Every other one is truncated.
std::vector<unsigned char> of_another_job(Random& random, Rank to) {
  using conduits::udp::PacketHeader;
  std::vector<unsigned char> datagram = garbage(random);
  PacketHeader header;
  header.kind = static_cast<conduits::udp::PacketKind>(random() % 5);
  header.from = random() % 4;
  header.to = to;
  header.number = random() % 2000;
  header.stamp = static_cast<std::uint32_t>(random());
  header.frames = static_cast<std::uint16_t>(datagram.size() / 2);
  header.data = static_cast<std::uint16_t>(datagram.size() - datagram.size() / 2);
  header.tag = random();
  const auto* bytes = reinterpret_cast<const unsigned char*>(&header);
  datagram.insert(datagram.begin(), bytes, bytes + sizeof header);
  if (random() % 2 == 0) datagram.resize(random() % datagram.size());
  return datagram;
}

TEST_F(UdpNetwork, WhereStrangersThrowDatagramsGoesOnUnharmed) {
  constexpr int kPort = 4000;  // no other program uses ports on these hosts
  Launch job(over_hosts({"AQUEDUCT_UDP_PORT=" + std::to_string(kPort)}));
  ASSERT_TRUE(exchange_.goes_on(job)) << job.err();
  std::minstd_rand random(5);
  for (const Rank to : {Rank{2}, Rank{3}}) {
    Stranger stranger(*net_, 0, 1, kPort + static_cast<int>(to % 2));
    for (int i = 0; i < 3000; ++i) {
      ASSERT_TRUE(stranger.send(i % 2 == 0 ? garbage(random) : of_another_job(random, to))) << "to " << to;
    }
  }
  ASSERT_TRUE(exchange_.goes_on(job)) << job.out() << job.err();
  exchange_.expect_right_end(job, kRanks);
}

}  // namespace
}  // namespace aqueduct::fault
