#include "conduits/udp/carrier/interface.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aqueduct::conduits::udp {
namespace {

using testing::AllOf;
using testing::HasSubstr;

InterfaceInfo info(const char* name, const char* address, int prefix, bool up = true) {
  const Address parsed = *Address::parse(address);
  return {.name = name,
          .address = parsed,
          .prefix = prefix,
          .up = up,
          .loopback = parsed.loopback(),
          .mtu = 1500};
}

const InterfaceInfo kLo4 = info("lo", "127.0.0.1", 8);
const InterfaceInfo kLo6 = info("lo", "::1", 128);
const InterfaceInfo kEth4 = info("eth0", "10.1.0.2", 16);
const InterfaceInfo kEth6 = info("eth0", "fd00::2", 64);
const InterfaceInfo kEthLocal = info("eth0", "fe80::2%3", 64);
const InterfaceInfo kIb4 = info("ib0", "10.2.0.2", 16);
const InterfaceInfo kDocker = info("docker0", "172.17.0.1", 16);

struct Case {
  const char* what;
  InterfaceWish wish;
  std::vector<InterfaceInfo> interfaces;
  const char* chosen;              // "eth0 10.1.0.2"; empty: an error is expected
  std::vector<const char*> words;  // words of the error's text
};

class Choice {
 public:
  explicit Choice(const Case& one)
      : log_(core::LogLevel::warn, [this](core::LogLevel, std::string_view line) { said_ += line; }),
        result_(choose_interface(one.wish, one.interfaces, log_)) {}

  std::string text() const {
    return result_ ? result_->interface.name + " " + result_->interface.address.host_text() : "";
  }
  ErrorCode code() const { return result_.status().code(); }
  const std::string& said() const { return said_; }

 private:
  std::string said_;
  core::Log log_;
  Result<InterfaceChoice> result_;
};

std::vector<Case> cases() {
  const std::vector<InterfaceInfo> usual{kLo4, kEth4, kLo6, kEth6, kEthLocal};
  const std::vector<InterfaceInfo> two{kLo4, kEth4, kIb4};
  const auto ipv6 = Family::ipv6;
  return {
      {"one host: loopback", {.one_host = true}, usual, "lo 127.0.0.1", {}},
      {"one host, IPv6", {.family = ipv6, .one_host = true}, usual, "lo ::1", {}},
      {"one host, but another is named", {.text = "eth0", .one_host = true}, usual, "eth0 10.1.0.2", {}},
      {"one host without loopback",
       {.one_host = true},
       {kEth4},
       "",
       {"eth0 10.1.0.2/16", "ip link set lo up"}},
      {"the only one", {}, usual, "eth0 10.1.0.2", {}},
      {"the only one, IPv6, not the link-local one", {.family = ipv6}, usual, "eth0 fd00::2", {}},
      {"IPv4 though IPv6 comes first", {}, {kEth6, kEth4}, "eth0 10.1.0.2", {}},
      {"several", {}, two, "", {"eth0 10.1.0.2/16", "ib0 10.2.0.2/16", "AQUEDUCT_UDP_INTERFACE"}},
      {"several, of which one is for guests", {}, {kLo4, kDocker, kEth4}, "eth0 10.1.0.2", {}},
      {"only one for guests", {}, {kLo4, info("veth1", "10.9.0.1", 24)}, "veth1 10.9.0.1", {}},
      {"several for guests", {}, {kDocker, info("veth1", "10.9.0.1", 24)}, "", {"docker0", "veth1"}},
      {"several, of which one is down", {}, {kEth4, info("ib0", "10.2.0.2", 16, false)}, "eth0 10.1.0.2", {}},
      {"none", {}, {kLo4, kEthLocal}, "", {"no network interface", "lo 127.0.0.1/8", "eth0 fe80::2%3/64"}},
      {"none at all", {}, {}, "", {"there is: none"}},
      {"none of the family", {.family = ipv6}, two, "", {"IPv6 address", "eth0 10.1.0.2/16"}},
      {"by name", {.text = "ib0"}, two, "ib0 10.2.0.2", {}},
      {"by name, IPv6", {.text = "eth0", .family = ipv6}, usual, "eth0 fd00::2", {}},
      {"by name, link-local if there is nothing else", {.text = "eth0"}, {kEthLocal}, "eth0 fe80::2%3", {}},
      {"by name, unknown", {.text = "eth7"}, two, "", {"\"eth7\"", "nothing", "ib0 10.2.0.2/16"}},
      {"by name, down", {.text = "ib0"}, {kEth4, info("ib0", "10.2.0.2", 16, false)}, "", {"ib0", "(down)"}},
      {"by name, wrong family", {.text = "ib0", .family = ipv6}, two, "", {"no IPv6 address", "10.2.0.2"}},
      {"by address", {.text = "10.2.0.2"}, two, "ib0 10.2.0.2", {}},
      {"by address, IPv6", {.text = "fd00::2"}, usual, "eth0 fd00::2", {}},
      {"by address, unknown", {.text = "10.2.0.3"}, two, "", {"10.2.0.3", "nothing"}},
      {"by subnet", {.text = "10.2.0.0/16"}, two, "ib0 10.2.0.2", {}},
      {"by subnet, IPv6", {.text = "fd00::/8"}, usual, "eth0 fd00::2", {}},
      {"by subnet, odd bits", {.text = "10.2.0.0/15"}, {kEth4, kIb4}, "ib0 10.2.0.2", {}},
      {"by subnet, several", {.text = "10.0.0.0/8"}, two, "", {"several", "eth0 10.1.0.2/16", "ib0"}},
      {"by subnet, all", {.text = "0.0.0.0/0"}, {kEth4}, "eth0 10.1.0.2", {}},
      {"by subnet, none", {.text = "10.3.0.0/16"}, two, "", {"10.3.0.0/16", "nothing"}},
      {"no subnet", {.text = "10.1.0.0/33"}, two, "", {"10.1.0.0/33", "no subnet"}},
      {"no subnet, no bits", {.text = "10.1.0.0/"}, two, "", {"no subnet"}},
      {"no subnet, no address", {.text = "eth0/16"}, two, "", {"no subnet"}},
      {"no subnet, more text", {.text = "10.1.0.0/16x"}, two, "", {"no subnet"}},
  };
}

TEST(UdpInterface, IsChosenAsWished) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.what);
    const Choice choice(one);
    EXPECT_EQ(choice.text(), one.chosen) << choice.said();
    EXPECT_EQ(choice.said().empty(), one.words.empty()) << choice.said();
    for (const char* word : one.words) EXPECT_THAT(choice.said(), HasSubstr(word));
  }
}

TEST(UdpInterface, SaysWhetherTheSettingOrTheHostIsWrong) {
  EXPECT_EQ(Choice({"", {.text = "eth7"}, {kEth4}, "", {}}).code(), ErrorCode::bad_setting);
  EXPECT_EQ(Choice({"", {}, {kEth4, kIb4}, "", {}}).code(), ErrorCode::bad_setting);
  EXPECT_EQ(Choice({"", {}, {kLo4}, "", {}}).code(), ErrorCode::network_failed);
}

TEST(UdpInterface, WarnsOfLoopbackForSeveralHosts) {
  const Choice choice({"", {.text = "lo"}, {kLo4, kEth4}, "", {}});
  EXPECT_EQ(choice.text(), "lo 127.0.0.1");
  EXPECT_THAT(choice.said(), AllOf(HasSubstr("\"lo\""), HasSubstr("no other host")));
}

TEST(UdpInterface, TellsOfAnInterfaceThatCarriesLessThanOtherPaths) {
  InterfaceInfo tunnel = info("tun0", "10.3.0.2", 16);
  tunnel.mtu = 1228;
  EXPECT_EQ(payload_of(tunnel), 1200u);
  EXPECT_EQ(Choice({"", {}, {tunnel}, "", {}}).said(), "");
  tunnel.mtu = 1000;
  EXPECT_EQ(payload_of(tunnel), 972u);
  const Choice choice({"", {}, {tunnel}, "", {}});
  EXPECT_EQ(choice.text(), "tun0 10.3.0.2");
  EXPECT_THAT(choice.said(), AllOf(HasSubstr("tun0"), HasSubstr("1000 bytes"), HasSubstr("968 bytes")));
  tunnel.mtu = 0;
  EXPECT_EQ(payload_of(tunnel), 0u);
  EXPECT_EQ(Choice({"", {}, {tunnel}, "", {}}).said(), "") << "unknown";
}

TEST(UdpInterface, ListsWhatThisHostHas) {
  const auto all = list_interfaces();
  for (const InterfaceInfo& one : all) {
    if (one.address.family() != AF_INET || !one.loopback) continue;
    EXPECT_EQ(one.address.host_text(), "127.0.0.1");
    EXPECT_EQ(one.prefix, 8);
    EXPECT_TRUE(one.up);
    EXPECT_GE(one.mtu, 1500);
    EXPECT_THAT(describe(all), HasSubstr(one.name + " 127.0.0.1/8"));
    return;
  }
  GTEST_SKIP() << "no IPv4 loopback interface on this host: " << describe(all);
}

TEST(UdpInterface, IsOfAKindWhateverItsNameAndAddress) {
  EXPECT_EQ(kind_of(kLo4), "loopback");
  EXPECT_EQ(kind_of(kLo6), "loopback");
  InterfaceInfo one = info("no-such-interface", "10.1.0.2", 16);
  EXPECT_EQ(kind_of(one), "MTU 1500");
  const std::string before = kind_of(one);
  one.address = *Address::parse("10.1.0.3");
  EXPECT_EQ(kind_of(one), before);
  one.mtu = 9000;
  EXPECT_NE(kind_of(one), before);
}

}  // namespace
}  // namespace aqueduct::conduits::udp
