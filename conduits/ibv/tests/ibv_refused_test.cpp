// The messages if the system or the device refuses something, or a device vanishes.

#include "conduits/ibv/tests/ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace aqueduct::conduits::ibv {
namespace {

using Kind = core::Post::Kind;
using testing::ElementsAre;
using testing::HasSubstr;

/// The result of starting an endpoint.
struct Alone {
  explicit Alone(mock::Network& network)
      : verbs(network.verbs()), log(core::LogLevel::info, [this](core::LogLevel, std::string_view line) {
          said += std::string(line) + "\n";
        }) {
    Found found = find_port(verbs, {});
    EXPECT_EQ(found.problem, "");
    port = std::move(found.port);
  }

  Status start() {
    auto objects = open_objects(verbs, port, {}, 2, 0, log);
    if (!objects) return objects.status();
    return IbvConduit(verbs, port, std::move(*objects), {}, 1, 2, 0, log, core::kSystemClock).start();
  }

  Verbs verbs;
  std::string said;
  core::Log log;
  Port port;
};

TEST(IbvRefused, BuffersOfAnEndpointBecauseOfTheLimitAreExplained) {
  mock::Network network;
  Alone alone(network);
  network.faults.lockable = 64 << 10;
  EXPECT_EQ(alone.start().code(), ErrorCode::no_memory);
  EXPECT_THAT(alone.said, HasSubstr("mock0 refuses to register its buffers: Cannot allocate memory"));
  EXPECT_THAT(alone.said, HasSubstr("ulimit -l"));
}

TEST(IbvRefused, RoomForAPeersMessagesBecauseOfTheLimitIsThatPeersLoss) {
  Ranks ranks;
  ranks.network().faults.lockable = ranks.network().registered();
  alignas(8) const std::byte header[8]{};
  EXPECT_EQ(ranks[0].send(1, header, {}, 0).why, ErrorCode::peer_lost);
  ranks[0].poll(ranks.heard(0));
  EXPECT_THAT(ranks.heard(0).losses, ElementsAre(1u));
  EXPECT_THAT(ranks.said(), HasSubstr("no room for messages of rank 1: Cannot allocate memory"));
  EXPECT_THAT(ranks.said(), HasSubstr("ulimit -l"));
}

TEST(IbvMtu, IsTheSmallerOneOfTwoPorts) {
  Ranks ranks;
  std::vector<std::vector<std::byte>> addresses{ranks[0].address(), ranks[1].address()};
  addresses[1][offsetof(Address, mtu)] = static_cast<std::byte>(IBV_MTU_1024);
  ASSERT_TRUE(ranks[0].connect(addresses));
  EXPECT_THAT(ranks.said(), HasSubstr("rank 0 and rank 1 have MTUs of 4096 and 1024 bytes: the smaller one"));
  ranks.meet();
  EXPECT_THAT(ranks.network().mtus, testing::Contains(IBV_MTU_1024));
}

TEST(IbvGone, ADeviceIsMissedWhenAnEndpointOpens) {
  mock::Network network;
  Alone alone(network);
  network.faults.gone = true;
  EXPECT_EQ(alone.start().code(), ErrorCode::network_failed);
  EXPECT_THAT(alone.said,
              HasSubstr("mock0 does not give a context: No such device. The device has failed, or is gone"));
  EXPECT_THAT(find_port(network.verbs(), {}).problem, HasSubstr("mock0 cannot be opened: No such device"));
}

TEST(IbvGone, ADeviceIsMissedWhenASegmentIsRegistered) {
  Ranks ranks;
  ranks.network().faults.gone = true;
  std::vector<std::byte> more(4096);
  EXPECT_EQ(ranks[0].rma()->register_segment(1, more).status().code(), ErrorCode::network_failed);
  EXPECT_THAT(ranks.said(), HasSubstr("No such device. The device has failed, or is gone"));
}

/// All operations end too: no wait hangs, and each loss is reported once.
TEST(IbvGone, ADeviceTakesAllPeersWithIt) {
  Ranks ranks({}, 3);
  ranks.meet(1);
  const auto bytes = bytes_of(16);
  const auto many = bytes_of(100'000);
  ranks.network().faults.silent = true;
  ASSERT_EQ(ranks[0].rma()->put(1, ranks.key(), 0, bytes, false, 1).kind, Kind::posted);
  ranks.network().faults.gone = true;
  EXPECT_EQ(ranks[0].rma()->put(1, ranks.key(), 0, many, false, 2).why, ErrorCode::network_failed);
  EXPECT_THAT(ranks.said(), HasSubstr("does not register a local buffer of 100000 bytes: No such device"));
  ranks[0].poll(ranks.heard(0));
  ranks[0].poll(ranks.heard(0));
  EXPECT_THAT(ranks.heard(0).losses, ElementsAre(1u, 2u));
  EXPECT_EQ(ranks.heard(0).completed_ones[1].code(), ErrorCode::peer_lost);
  EXPECT_THAT(ranks.said(), HasSubstr("its completion queue fails"));
  for (const Rank peer : {1u, 2u}) {
    EXPECT_EQ(ranks[0].rma()->put(peer, ranks.key(peer), 0, bytes, false, 3).why, ErrorCode::peer_lost);
    EXPECT_EQ(ranks[0].send(peer, {}, bytes, 0).why, ErrorCode::peer_lost);
  }
}

}  // namespace
}  // namespace aqueduct::conduits::ibv
