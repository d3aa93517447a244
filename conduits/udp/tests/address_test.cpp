#include "conduits/udp/carrier/address.hpp"

#include <gtest/gtest.h>

#include <array>

namespace aqueduct::conduits::udp {
namespace {

TEST(UdpAddress, WritesAndReadsItsText) {
  for (const char* text : {"127.0.0.1:4711", "[::1]:4711", "[fd00::2]:65535", "0.0.0.0:0", "[fe80::1%7]:9"}) {
    const auto address = Address::parse(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->text(), text);
  }
}

TEST(UdpAddress, NeedsNoPort) {
  for (const char* text : {"10.1.2.3", "::1", "fd00::2"}) {
    const auto address = Address::parse(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->port(), 0);
    EXPECT_EQ(address->host_text(), text);
  }
  EXPECT_EQ(Address::parse("[::1]")->host_text(), "::1");
}

TEST(UdpAddress, RefusesWhatIsNone) {
  for (const char* text :
       {"", "eth0", "10.1.2", "10.1.2.3:", "10.1.2.3:65536", "10.1.2.3:-1", "10.1.2.3:80x", "[::1",
        "[10.1.2.3]:80", "::g", "[::1]4711", "10.1.2.3 ", "[]", "[]:1", ":", "fe80::1%nonesuch"}) {
    EXPECT_FALSE(Address::parse(text)) << text;
  }
}

TEST(UdpAddress, TakesTheNameOfAnInterfaceAsScope) {
  const auto address = Address::parse("fe80::1%lo");
  ASSERT_TRUE(address);
  EXPECT_NE(address->scope(), 0u);
  EXPECT_TRUE(address->link_local());
}

TEST(UdpAddress, SurvivesTheWayToAPeer) {
  for (const char* text : {"127.0.0.1:4711", "[fd00::2]:65535", "[fe80::1%70000]:258"}) {
    const Address address = *Address::parse(text);
    const auto bytes = address.to_bytes();
    EXPECT_EQ(bytes.size(), address.family() == AF_INET ? 7u : 23u);
    const auto there = Address::from_bytes(bytes);
    ASSERT_TRUE(there) << text;
    EXPECT_EQ(*there, address);
    EXPECT_EQ(there->bytes, address.bytes);
  }
  EXPECT_TRUE(Address{}.to_bytes().empty());
}

TEST(UdpAddress, HasOneFormOnEveryMachine) {
  const std::array<std::byte, 7> form{std::byte{4},  std::byte{0x02}, std::byte{0x01}, std::byte{10},
                                      std::byte{20}, std::byte{30},   std::byte{40}};
  const auto bytes = Address::parse("10.20.30.40:258")->to_bytes();
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), form.begin(), form.end()));
}

TEST(UdpAddress, RefusesDamagedBytes) {
  for (const char* text : {"127.0.0.1:4711", "[fd00::2]:65535"}) {
    const auto bytes = Address::parse(text)->to_bytes();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(Address::from_bytes(std::span(bytes).first(size)));
    }
    auto other = bytes;
    other.push_back(std::byte{0});
    EXPECT_FALSE(Address::from_bytes(other));
    other = bytes;
    other[0] ^= std::byte{2};  // 4 becomes 6 and 6 becomes 4
    EXPECT_FALSE(Address::from_bytes(other));
    other[0] = std::byte{0};
    EXPECT_FALSE(Address::from_bytes(other));
  }
}

TEST(UdpAddress, ComparesFamilyHostPortAndScope) {
  const Address address = *Address::parse("[fe80::1%7]:9");
  EXPECT_EQ(address, *Address::parse("[fe80::1%7]:9"));
  EXPECT_FALSE(address == *Address::parse("[fe80::1%8]:9"));
  EXPECT_FALSE(address == *Address::parse("[fe80::1%7]:10"));
  EXPECT_FALSE(address == *Address::parse("[fe80::2%7]:9"));
  EXPECT_FALSE(*Address::parse("1.2.3.4:9") == *Address::parse("1.2.3.5:9"));
  EXPECT_EQ(address.with_port(10), *Address::parse("[fe80::1%7]:10"));
  EXPECT_EQ(Address{}, Address{});
}

TEST(UdpAddress, KnowsLoopbackAndLinkLocal) {
  EXPECT_TRUE(Address::parse("127.9.9.9")->loopback());
  EXPECT_TRUE(Address::parse("::1")->loopback());
  EXPECT_FALSE(Address::parse("128.0.0.1")->loopback());
  EXPECT_TRUE(Address::parse("169.254.1.1")->link_local());
  EXPECT_TRUE(Address::parse("febf::1")->link_local());
  EXPECT_FALSE(Address::parse("fec0::1")->link_local());
}

}  // namespace
}  // namespace aqueduct::conduits::udp
