// Tests the basis of network tests: tests/support/network_namespaces.hpp and relay.hpp.

#include "tests/support/network_namespaces.hpp"
#include "tests/support/relay.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace aqueduct::support {
namespace {

constexpr int kPort = 4711;

sockaddr_storage address(int domain, unsigned host) {
  sockaddr_storage storage{};
  storage.ss_family = static_cast<sa_family_t>(domain);
  if (domain == AF_INET) {
    auto& in = reinterpret_cast<sockaddr_in&>(storage);
    in.sin_port = htons(kPort);
    ::inet_pton(AF_INET, NetworkNamespaces::ipv4(host).c_str(), &in.sin_addr);
  } else {
    auto& in = reinterpret_cast<sockaddr_in6&>(storage);
    in.sin6_port = htons(kPort);
    ::inet_pton(AF_INET6, NetworkNamespaces::ipv6(host).c_str(), &in.sin6_addr);
  }
  return storage;
}

/// Sends packets from one host to another.
class Path {
 public:
  Path(const NetworkNamespaces& net, int domain, unsigned from, unsigned to)
      : to_(address(domain, to)),
        sender_(net.open_socket(from, domain, SOCK_DGRAM)),
        receiver_(net.open_socket(to, domain, SOCK_DGRAM)) {
    EXPECT_EQ(::bind(receiver_, reinterpret_cast<const sockaddr*>(&to_), sizeof to_), 0);
  }
  ~Path() {
    ::close(sender_);
    ::close(receiver_);
  }
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;

  void send() {
    ::sendto(sender_, "x", 1, MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&to_), sizeof to_);
  }
  bool receive(int milliseconds) {
    pollfd readable{receiver_, POLLIN, 0};
    char byte;
    return ::poll(&readable, 1, milliseconds) > 0 && ::recv(receiver_, &byte, 1, MSG_DONTWAIT) == 1;
  }
  /// Sends `packets` packets and returns how many arrive, with a short wait for each.
  int arrived_of(int packets) {
    int arrived = 0;
    for (int i = 0; i < packets; ++i) {
      send();
      arrived += receive(0) ? 1 : 0;
    }
    while (receive(50)) ++arrived;
    return arrived;
  }
  /// Sends until a packet arrives, for some seconds.
  bool is_open() {
    for (int i = 0; i < 100; ++i) {
      send();
      if (receive(50)) return true;
    }
    return false;
  }

 private:
  sockaddr_storage to_;
  int sender_, receiver_;
};

class NetworkNamespacesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string why; !NetworkNamespaces::usable(why)) GTEST_SKIP() << why;
  }
};

bool exists(const std::string& name) { return std::filesystem::exists("/run/netns/" + name); }

TEST_F(NetworkNamespacesTest, AreJoinedAndGoAway) {
  std::vector<std::string> names;
  for (const unsigned hosts : {2u, 4u}) {
    const NetworkNamespaces net(hosts);
    for (const int domain : {AF_INET, AF_INET6}) {
      EXPECT_TRUE(Path(net, domain, 0, hosts - 1).is_open()) << hosts << " hosts, " << domain;
      EXPECT_TRUE(Path(net, domain, hosts - 1, 0).is_open()) << hosts << " hosts, " << domain;
    }
    for (unsigned i = 0; i < hosts; ++i) names.push_back(net.name(i));
    EXPECT_TRUE(exists(names.back()));
  }
  for (const std::string& name : names) EXPECT_FALSE(exists(name)) << name;
}

TEST_F(NetworkNamespacesTest, LosePacketsUntilTheyDoNot) {
  if (std::string why; !NetworkNamespaces::can_drop(why)) GTEST_SKIP() << why;
  NetworkNamespaces net(2);
  Path path(net, AF_INET, 0, 1);
  ASSERT_TRUE(path.is_open());
  while (path.receive(50)) {
  }
  ASSERT_TRUE(net.drop(1, 500)) << net.problem();
  const int arrived = path.arrived_of(400);
  EXPECT_GT(arrived, 100);  // values outside have a probability of 1 in 10^23
  EXPECT_LT(arrived, 300);
  ASSERT_TRUE(net.drop_no_more(1)) << net.problem();
  EXPECT_EQ(path.arrived_of(50), 50);
}

TEST_F(NetworkNamespacesTest, ArePartedInPairs) {
  if (std::string why; !NetworkNamespaces::can_drop(why)) GTEST_SKIP() << why;
  NetworkNamespaces net(3);
  Path cut(net, AF_INET, 0, 1), back(net, AF_INET, 1, 0), whole(net, AF_INET, 0, 2);
  ASSERT_TRUE(cut.is_open() && back.is_open() && whole.is_open());
  ASSERT_TRUE(net.part(0, 1)) << net.problem();
  while (cut.receive(50) || back.receive(50) || whole.receive(50)) {
  }
  EXPECT_EQ(cut.arrived_of(10), 0);
  EXPECT_EQ(back.arrived_of(10), 0);
  EXPECT_EQ(whole.arrived_of(10), 10);
}

TEST_F(NetworkNamespacesTest, AreDisturbedUntilTheyAreNot) {
  if (std::string why; !NetworkNamespaces::can_disturb(why)) GTEST_SKIP() << why;
  NetworkNamespaces net(2);
  Path path(net, AF_INET, 0, 1);
  ASSERT_TRUE(path.is_open());
  while (path.receive(50)) {
  }
  ASSERT_TRUE(net.disturb(0, "loss 100%")) << net.problem();
  EXPECT_EQ(path.arrived_of(10), 0);
  ASSERT_TRUE(net.disturb_no_more(0)) << net.problem();
  EXPECT_EQ(path.arrived_of(50), 50);
}

TEST_F(NetworkNamespacesTest, LoseAndRegainTheirCable) {
  NetworkNamespaces net(2);
  for (const int domain : {AF_INET, AF_INET6}) {
    Path path(net, domain, 0, 1);
    ASSERT_TRUE(path.is_open());
    while (path.receive(50)) {
    }
    ASSERT_TRUE(net.set_link(0, false)) << net.problem();
    EXPECT_EQ(path.arrived_of(3), 0);
    ASSERT_TRUE(net.set_link(0, true)) << net.problem();
    EXPECT_TRUE(path.is_open()) << domain;
  }
}

TEST_F(NetworkNamespacesTest, AreJoinedByARelayThatDelaysRepeatsAndReorders) {
  if (std::string why; !NetworkNamespaces::can_hold(why)) GTEST_SKIP() << why;
  NetworkNamespaces net(2, Joined::by_holder);
  const int first = net.plug(0), second = net.plug(1);
  ASSERT_TRUE(first >= 0 && second >= 0);
  const Relay relay({first, second},
                    {.delay = std::chrono::milliseconds(5), .duplicate = 0.5, .reorder = 0.1});
  for (const int domain : {AF_INET, AF_INET6}) {
    Path path(net, domain, 0, 1);
    EXPECT_TRUE(path.is_open()) << domain;
    while (path.receive(50)) {
    }
    const auto sent_at = std::chrono::steady_clock::now();
    path.send();
    EXPECT_TRUE(path.receive(2000));
    EXPECT_GE(std::chrono::steady_clock::now() - sent_at, std::chrono::milliseconds(5));
    while (path.receive(50)) {
    }
    EXPECT_GT(path.arrived_of(100), 115);  // half of them arrive twice
  }
  EXPECT_GT(relay.counts().held, 5u);
  EXPECT_EQ(relay.counts().lost, 0u);
}

TEST_F(NetworkNamespacesTest, OfADeadProcessAreRemovedByTheNext) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  const std::string name = "aqtest" + std::to_string(child) + "-0-h0";
  ASSERT_EQ(::system(("ip netns add " + name).c_str()), 0);
  ASSERT_TRUE(exists(name));
  const NetworkNamespaces net(2);
  EXPECT_FALSE(exists(name));
}

}  // namespace
}  // namespace aqueduct::support
