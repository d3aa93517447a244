// Which port and address are chosen, and the messages if there is none.

#include "conduits/ibv/connection.hpp"
#include "conduits/ibv/device.hpp"
#include "conduits/ibv/errors.hpp"
#include "conduits/ibv/tests/mock_device.hpp"
#include "conduits/ibv/tests/ranks.hpp"
#include "conduits/ibv/wire.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <arpa/inet.h>

namespace aqueduct::conduits::ibv {
namespace {

using testing::HasSubstr;

ibv_gid_entry gid(const char* text, std::uint32_t type) {
  ibv_gid_entry entry{};
  EXPECT_EQ(::inet_pton(AF_INET6, text, entry.gid.raw), 1);
  entry.gid_type = type;
  return entry;
}

class IbvDevice : public testing::Test {
 protected:
  Found find(const Wish& wish = {}) { return find_port(network.verbs(), wish); }
  mock::Device& device(std::size_t index) { return network.devices[index]; }

  mock::Network network;
};

TEST_F(IbvDevice, ThatIsMissingIsExplained) {
  network.devices.clear();
  EXPECT_THAT(find().problem, HasSubstr("no RDMA device"));
}

TEST_F(IbvDevice, TakesTheFastestWhoseLinkIsUpAndSaysWhyNotTheOthers) {
  network.devices.resize(4);
  device(0).name = "slow";
  device(0).port.active_speed = 1;
  device(1).name = "down";
  device(1).port.active_speed = 64;
  device(1).port.state = IBV_PORT_DOWN;
  device(2).name = "fast";
  device(3).name = "iwarp";
  device(3).make_iwarp();
  device(3).port.active_speed = 64;
  const Found found = find();
  EXPECT_EQ(found.problem, "");
  EXPECT_EQ(found.port.device, "fast");
  EXPECT_THAT(found.port.text(), HasSubstr("100 Gb/s"));
  EXPECT_THAT(found.passed_over, HasSubstr("slow:1"));
  EXPECT_THAT(found.passed_over, HasSubstr("down:1's link is down"));
  EXPECT_THAT(found.passed_over, HasSubstr("iwarp:1, iWARP, 200 Gb/s, MTU 4096 is of another kind"));
  EXPECT_EQ(find({.device = "slow"}).port.device, "slow");
  EXPECT_EQ(find({.device = "slow:1"}).port.device, "slow");
  EXPECT_THAT(find({.device = "down"}).problem, HasSubstr("link is down"));
}

// Measurements hold for equal adapters of other hosts.
TEST_F(IbvDevice, IsOfAKindWhateverItsName) {
  const std::string kind = find().port.kind();
  EXPECT_THAT(kind, HasSubstr("100 Gb/s"));
  device(0).name = "another";
  EXPECT_EQ(find().port.kind(), kind);
  device(0).port.active_speed = 64;
  EXPECT_NE(find().port.kind(), kind);
}

TEST_F(IbvDevice, OfIwarpNeedsLibrdmacm) {
  network.devices[0].make_iwarp();
  EXPECT_EQ(find().problem, "");
  EXPECT_TRUE(find().port.iwarp());
  Verbs without = network.verbs();
  without.connections = {};
  EXPECT_THAT(find_port(without, {}).problem, HasSubstr("apt-get install librdmacm1"));
}

TEST_F(IbvDevice, TakesSeveralOfOneKindAndSpeedIfAskedTo) {
  network.devices.resize(5);
  for (std::size_t i = 0; i < 5; ++i) device(i).name = "mock" + std::to_string(i);
  device(0).port.active_speed = 1;
  device(2).port.link_layer = IBV_LINK_LAYER_ETHERNET;
  device(2).gids = {gid("fe80::1", IBV_GID_TYPE_ROCE_V2)};
  const auto names = [](const Found& found) {
    std::string all = found.port.device;
    for (const Port& rail : found.rails) all += " " + rail.device;
    return all;
  };
  EXPECT_EQ(names(find()), "mock1");
  EXPECT_THAT(find().passed_over, HasSubstr("AQUEDUCT_IBV_RAILS"));
  EXPECT_EQ(names(find({.rails = 2})), "mock1 mock3");
  const Found all = find({.rails = 8});
  EXPECT_EQ(names(all), "mock1 mock3 mock4");
  EXPECT_THAT(all.passed_over, HasSubstr("mock0:1"));
  EXPECT_THAT(all.passed_over, HasSubstr("is slower"));
  EXPECT_THAT(all.passed_over, HasSubstr("is of another kind"));
  EXPECT_EQ(names(find({.device = "mock4,mock1:1,mock3:1", .rails = 2})), "mock4 mock1");
  const Found misspelt = find({.device = "mock4,mokc1:1", .rails = 2});
  EXPECT_EQ(names(misspelt), "mock4");
  EXPECT_THAT(misspelt.passed_over, HasSubstr("mokc1:1 of AQUEDUCT_IBV_DEVICE is not here"));
  EXPECT_EQ(names(find({.device = "mock4:1,mock9", .rails = 2})), "mock4");
}

TEST_F(IbvDevice, OfAWrongNameNamesThoseThatAreThere) {
  const Found found = find({.device = "mlx9_7"});
  EXPECT_THAT(found.problem, HasSubstr("AQUEDUCT_IBV_DEVICE=mlx9_7"));
  EXPECT_THAT(found.problem, HasSubstr("mock0:1"));
}

TEST_F(IbvDevice, ThatCannotBeOpenedIsExplained) {
  device(0).opens = false;
  EXPECT_THAT(find().problem, HasSubstr("mock0 cannot be opened: Permission denied"));
}

TEST_F(IbvDevice, OnEthernetTakesTheRoutableAddressWithIPv4) {
  device(0).port.link_layer = IBV_LINK_LAYER_ETHERNET;
  device(0).gids = {gid("fe80::1", IBV_GID_TYPE_ROCE_V1), gid("::ffff:10.0.0.1", IBV_GID_TYPE_ROCE_V1),
                    gid("fe80::1", IBV_GID_TYPE_ROCE_V2), gid("::ffff:10.0.0.1", IBV_GID_TYPE_ROCE_V2)};
  EXPECT_EQ(find().port.gid_index, 3u);
  EXPECT_THAT(find().port.text(), HasSubstr("RoCE v2, ::ffff:10.0.0.1"));
  device(0).gids.pop_back();
  EXPECT_EQ(find().port.gid_index, 2u);
  EXPECT_EQ(find({.gid = "1"}).port.gid_index, 1u);
}

TEST_F(IbvDevice, OfAWrongAddressNamesThoseThatAreThere) {
  const Found found = find({.gid = "7"});
  EXPECT_THAT(found.problem, HasSubstr("AQUEDUCT_IBV_GID=7"));
  EXPECT_THAT(found.problem, HasSubstr("0 (InfiniBand, fe80::)"));
  EXPECT_THAT(find({.gid = "first"}).problem, HasSubstr("is not a number"));
  device(0).gids.clear();
  EXPECT_THAT(find().problem, HasSubstr("has no address"));
}

TEST(IbvErrors, OfTheTransportAreALostPeerAndOthersAreNot) {
  for (int status = IBV_WC_SUCCESS; status <= IBV_WC_GENERAL_ERR; ++status) {
    const auto code = code_of(static_cast<ibv_wc_status>(status));
    EXPECT_EQ(code == ErrorCode::ok, status == IBV_WC_SUCCESS);
  }
  EXPECT_EQ(code_of(IBV_WC_RETRY_EXC_ERR), ErrorCode::peer_lost);
  EXPECT_EQ(code_of(IBV_WC_REM_OP_ERR), ErrorCode::peer_lost) << "what a killed process leaves answers so";
  EXPECT_EQ(code_of(IBV_WC_REM_ACCESS_ERR), ErrorCode::network_failed);
  EXPECT_THAT(std::string(advice_for(IBV_WC_REM_ACCESS_ERR)), HasSubstr("unregistered"));
}

TEST(IbvSignals, TravelInFourBytesIfTheirNumbersFit) {
  for (const SignalSlot slot : {0u, 63u, (1u << 18) - 1, 1u << 18}) {
    for (const std::uint64_t add : {0u, 1u, 63u, 64u}) {
      const auto data = encode({slot, add}, 1000);
      ASSERT_EQ(data.has_value(), slot < (1u << 18) && add < 64);
      if (!data) continue;
      EXPECT_EQ(decode(*data).signal.slot, slot);
      EXPECT_EQ(decode(*data).signal.add, add);
      EXPECT_EQ(decode(*data).consumed, 1000 % 256);
    }
  }
}

// Credits beside signals may be older than the counter that was read, by as much as may be outstanding.
TEST(IbvSignals, CreditsBesideThemAreNeverTakenForNewerThanTheyAre) {
  for (std::uint32_t returned : {0u, 200u, 300u, 0xffffff80u}) {
    for (int off = -static_cast<int>(BesidePut::kMostCredits + BesidePut::kMostDepth);
         off <= static_cast<int>(BesidePut::kMostCredits); ++off) {
      Connection connection(1, BesidePut::kMostDepth);
      connection.granted = BesidePut::kMostCredits;
      connection.counts = true;
      connection.returned = returned;
      connection.credits_came(static_cast<std::uint8_t>(returned + static_cast<std::uint32_t>(off)));
      ASSERT_EQ(connection.returned, off > 0 ? returned + static_cast<std::uint32_t>(off) : returned) << off;
      connection.counts = false;
      connection.credits_came(std::uint8_t{5});
      ASSERT_EQ(connection.returned, off > 0 ? returned + static_cast<std::uint32_t>(off) : returned);
    }
  }
}

// docs/memory-model.md: an adapter treats an aligned word as one, software copies it.
TEST_F(IbvDevice, OfSoftwareIsKnownByItsVendor) {
  ASSERT_TRUE(find().problem.empty());
  EXPECT_FALSE(find().port.in_software());
  for (const std::uint32_t software : {0u, 0xffffffu, 0x626d74u}) {
    device(0).limits.vendor_id = software;
    EXPECT_TRUE(find().port.in_software()) << std::hex << software;
  }
}

TEST(IbvWords, AreWholeOnAdaptersOnly) {
  EXPECT_EQ(Ranks()[0].properties().whole_words, core::WholeWords::puts_and_gets);
  Ranks soft({}, 2, [](mock::Network& network) { network.devices[0].limits.vendor_id = 0xffffff; });
  EXPECT_EQ(soft[0].properties().whole_words, core::WholeWords::none);
}

}  // namespace
}  // namespace aqueduct::conduits::ibv
