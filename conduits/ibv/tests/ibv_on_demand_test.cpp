// Memory that cannot be pinned, on devices with on-demand paging and without.

#include "conduits/ibv/tests/ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace aqueduct::conduits::ibv {
namespace {

using Kind = core::Post::Kind;
using testing::HasSubstr;

constexpr std::uint32_t kTransfers = IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ;
constexpr std::uint32_t kAll = kTransfers | IBV_ODP_SUPPORT_ATOMIC | IBV_ODP_SUPPORT_SEND;

/// Two connected ranks over devices with on-demand paging. After the start no more memory can be pinned.
struct Full {
  explicit Full(std::uint32_t pages_on_demand, const IbvOptions& options = {})
      : ranks(options, 2,
              [&](mock::Network& network) { network.devices[0].pages_on_demand = pages_on_demand; }) {
    ranks.meet();
    ranks.network().faults.lockable = ranks.network().registered();
  }
  Ranks ranks;
};

TEST(IbvOnDemand, WhatADeviceHasIsSaid) {
  mock::Network network;
  const auto said = [&](std::uint32_t bits) {
    network.devices[0].pages_on_demand = bits;
    return std::string(text_of(find_port(network.verbs(), {}).port.paging));
  };
  EXPECT_EQ(said(0), "no on-demand paging");
  EXPECT_EQ(said(IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_WRITE), "no on-demand paging") << "gets need it, too";
  EXPECT_EQ(said(kTransfers), "on-demand paging, but not for atomics");
  EXPECT_EQ(said(kAll), "on-demand paging");
  Verbs old = network.verbs();
  old.query_device_ex = [](ibv_context*, ibv_device_attr_ex*) { return EOPNOTSUPP; };
  EXPECT_FALSE(find_port(old, {}).port.paging.transfers);
}

TEST(IbvOnDemand, IsNotUsedWhileMemoryCanBePinned) {
  Ranks ranks({}, 2, [](mock::Network& network) { network.devices[0].pages_on_demand = kAll; });
  ranks.meet();
  EXPECT_EQ(ranks.network().on_demand(), 0u);
}

TEST(IbvOnDemand, TakesSegmentsThatCannotBePinnedAndSaysSoOnce) {
  Full full(kAll);
  Ranks& ranks = full.ranks;
  std::vector<std::byte> more(1 << 20), still_more(1 << 20);
  const auto key = ranks[1].rma()->register_segment(1, more);
  ASSERT_TRUE(key && ranks[1].rma()->register_segment(2, still_more)) << ranks.said();
  EXPECT_EQ(ranks.network().on_demand(), more.size() + still_more.size());
  EXPECT_EQ(ranks.log().size(), 1u);
  EXPECT_THAT(ranks.said(), HasSubstr("on-demand paging"));
  const auto handle = ranks[0].rma()->import_key(1, *key);
  const auto sent = bytes_of(100);
  ASSERT_EQ(ranks[0].rma()->put(1, *handle, 0, sent, false, 1).kind, Kind::posted);
  EXPECT_TRUE(ranks.end_of(1));
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), more.begin()));
  ranks[1].rma()->unregister_segment(1);
  ranks[1].rma()->unregister_segment(2);
  EXPECT_EQ(ranks.network().on_demand(), 0u);
}

TEST(IbvOnDemand, TakesLocalMemoryThatCannotBePinned) {
  Full full(kTransfers);
  Ranks& ranks = full.ranks;
  const auto sent = bytes_of(300'000);
  ASSERT_EQ(ranks[0].rma()->put(1, ranks.key(), 0, sent, false, 1).kind, Kind::posted);
  EXPECT_TRUE(ranks.end_of(1));
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), ranks.memory(1).begin()));
  // Systems before Linux 5.14 cannot tell whether memory can be written: then it goes through bounce buffers.
  const bool whole = ranks.network().counts.writes == 1;
  EXPECT_THAT(ranks.said(), HasSubstr(whole ? "on-demand paging" : "go by way of buffers"));
  EXPECT_EQ(ranks.network().on_demand(), 0u) << "the transfer is over";
}

void expect_refused(Ranks& ranks) {
  std::vector<std::byte> more(1 << 20);
  EXPECT_EQ(ranks[1].rma()->register_segment(1, more).status().code(), ErrorCode::no_memory);
  EXPECT_THAT(ranks.said(),
              HasSubstr("does not register segment 1 of 1048576 bytes: Cannot allocate memory"));
  EXPECT_THAT(ranks.said(), HasSubstr("ulimit -l"));
}

TEST(IbvOnDemand, IsNotUsedWhereItIsOff) {
  IbvOptions options;
  options.on_demand = false;
  Full full(kAll, options);
  expect_refused(full.ranks);
}

TEST(IbvOnDemand, IsNotUsedOnADeviceWithoutIt) {
  Full full(0);
  expect_refused(full.ranks);
}

TEST(IbvOnDemand, IsNotUsedForSegmentsIfAtomicsWouldNotReachThem) {
  Full full(kTransfers);
  expect_refused(full.ranks);
}

}  // namespace
}  // namespace aqueduct::conduits::ibv
