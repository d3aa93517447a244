#include "conduits/udp/tests/connection_traffic.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace aqueduct::conduits::udp::connection_tests {
namespace {

struct Weather {
  const char* name;
  Faults faults;
  Time limit;
};

const Weather kWeather[] = {
    {"none", {}, 2 * kSecond},
    {"far", {.delay = 20 * kMillisecond}, 20 * kSecond},
    {"loss_1", {.loss = 0.01}, 5 * kSecond},
    {"loss_10", {.loss = 0.1}, 10 * kSecond},
    {"loss_50", {.loss = 0.5}, 100 * kSecond},
    {"reordering", {.reorder = 0.25}, 5 * kSecond},
    {"jitter", {.delay = kMillisecond, .jitter = kMillisecond}, 10 * kSecond},
    {"duplication", {.duplicate = 0.25}, 5 * kSecond},
    {"corruption", {.corrupt = 0.01}, 5 * kSecond},
    {"small_mtu", {.mtu = 1400}, 5 * kSecond},
    {"everything",
     {.loss = 0.1,
      .duplicate = 0.05,
      .reorder = 0.25,
      .corrupt = 0.01,
      .delay = kMillisecond,
      .jitter = kMillisecond / 2,
      .mtu = 1472},
     60 * kSecond},
};

class UdpConnectionDelivery : public ::testing::TestWithParam<std::tuple<Security, std::size_t>> {};

void expect_none_is_longer_than(std::size_t most, Agreement agreed) {
  for (const Security security : {Security::none, Security::header, Security::full}) {
    agreed.security = security;
    TwoConnections pair(agreed);
    pair.both({.mtu = most});
    std::size_t longest = 0;
    pair.on_sent = [&](const Station&, core::Bytes datagram) {
      longest = std::max(longest, datagram.size());
    };
    Traffic there(pair, pair.a, 2, 200);
    Traffic back(pair, pair.b, 3, 200);
    EXPECT_TRUE(pair.run(5 * kSecond, [&] {
      there.post();
      back.post();
      pair.serve(pair.a);
      pair.serve(pair.b);
      return there.over() && back.over();
    }));
    there.check();
    back.check();
    EXPECT_LE(longest, most);
    EXPECT_GT(longest, most - 16) << "nothing long was sent";
    EXPECT_EQ(pair.a.connection->counters().retransmitted, 0u);
    EXPECT_EQ(pair.b.connection->counters().retransmitted, 0u);
  }
}

// Of a path that carries what the setting says, and no more.
TEST(UdpConnectionPackets, AreNeverLongerThanTheSettingAllows) {
  expect_none_is_longer_than(576, {.most_datagram = 576});
  expect_none_is_longer_than(1000, {.most_datagram = 1000});
}

TEST(UdpConnectionPackets, AreNeverLongerThanTheInterfaceCarries) {
  expect_none_is_longer_than(972, {.mtu_hint = 972});
  expect_none_is_longer_than(548, {.mtu_hint = 548});  // the least MTU of every IPv4 path
}

TEST_P(UdpConnectionDelivery, IsExactlyOnceBothWays) {
  const Weather& weather = kWeather[std::get<1>(GetParam())];
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u}) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    TwoConnections pair({.security = std::get<0>(GetParam()), .seed = seed});
    pair.both(weather.faults);
    Traffic there(pair, pair.a, 2 * seed, 200);
    Traffic back(pair, pair.b, 2 * seed + 1, 200);
    const auto done = [&] {
      there.post();
      back.post();
      pair.serve(pair.a);
      pair.serve(pair.b);
      return there.over() && back.over();
    };
    EXPECT_TRUE(pair.run(weather.limit, done));
    const Time took = pair.now() - TwoConnections::kBegin;
    there.check();
    back.check();
    pair.run(5 * kSecond);  // nothing arrives a second time
    there.check();
    back.check();
    EXPECT_EQ(pair.idle_spins, 0u);
    EXPECT_FALSE(pair.a.lost || pair.b.lost);
    EXPECT_TRUE(pair.a.connection->settled() && pair.b.connection->settled());
    if (::testing::Test::HasFailure()) {
      GTEST_FAIL() << "after " << took / kMicrosecond << " us\na: " << pair.a.connection->text(pair.now())
                   << "\nb: " << pair.b.connection->text(pair.now());
    }
  }
}

std::string name_of_case(const ::testing::TestParamInfo<UdpConnectionDelivery::ParamType>& info) {
  constexpr const char* kNames[] = {"none", "header", "full"};
  return std::string("security_") + kNames[static_cast<std::size_t>(std::get<0>(info.param))] + "_weather_" +
         kWeather[std::get<1>(info.param)].name;
}

INSTANTIATE_TEST_SUITE_P(All, UdpConnectionDelivery,
                         ::testing::Combine(::testing::Values(Security::none, Security::header,
                                                              Security::full),
                                            ::testing::Range<std::size_t>(0, std::size(kWeather))),
                         name_of_case);

TEST(UdpConnectionDelivery, MessagesOfEverySize) {
  for (const std::size_t header : {std::size_t{0}, std::size_t{8}, core::kMostHeader}) {
    for (const std::size_t payload :
         {0ul,    1ul,    7ul,    8ul,    9ul,    511ul,  512ul,  513ul,  639ul,    640ul,    641ul,   1055ul,
          1056ul, 1057ul, 1152ul, 1153ul, 2000ul, 4096ul, 8063ul, 8064ul, 16'383ul, 16'384ul, 16'512ul}) {
      SCOPED_TRACE(::testing::Message() << header << " + " << payload << " bytes");
      TwoConnections pair;
      Buffer whole(header + payload);
      for (std::size_t i = 0; i < whole.size(); ++i) whole[i] = static_cast<std::byte>(i * 7 + 1);
      const auto bytes = core::Bytes(whole);
      ASSERT_EQ(pair.a.connection->send(bytes.first(header), bytes.subspan(header)).kind,
                core::Post::Kind::done);
      ASSERT_TRUE(pair.run(kSecond, [&] { return !pair.b.upper.messages.empty(); }));
      EXPECT_TRUE(pair.b.upper.messages[0] == whole);
    }
  }
}

// Whatever becomes of the source after the call, also where packets are lost and sent again.
TEST(UdpConnectionDelivery, PutsThatWereCopiedLeaveTheirSourceAlone) {
  for (const Security security : {Security::header, Security::full}) {
    TwoConnections pair({.security = security, .seed = 3});
    pair.both({.loss = 0.2});
    constexpr std::size_t kPuts = 30;  // for whose copies a connection has room
    pair.b.upper.segments = {Buffer(kPuts * kMostCopied)};
    Buffer expected(kPuts * kMostCopied);
    for (std::size_t i = 0; i < kPuts; ++i) {
      const std::size_t bytes = i % 2 == 0 ? kMostCopied : kMostInline + 1;
      Buffer source(bytes, static_cast<std::byte>(i + 1));
      std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(i * kMostCopied), bytes, source[0]);
      ASSERT_EQ(pair.a.connection
                    ->put(0, i * kMostCopied, source, nullptr, i, Connection::Source::copied,
                          Connection::Answer::any_time)
                    .kind,
                core::Post::Kind::posted);
      std::fill(source.begin(), source.end(), std::byte{0xee});
    }
    ASSERT_TRUE(pair.run(60 * kSecond, [&] { return pair.a.upper.completions.size() == kPuts; }));
    EXPECT_TRUE(pair.b.upper.segments[0] == expected);
    EXPECT_EQ(pair.a.common.long_messages.in_use(), 0u);
  }
}

// A put whose completion nobody waits for costs its target no packet of its own while the target answers anyway.
TEST(UdpConnectionDelivery, AnUnhurriedPutIsAcknowledgedByWhatThePeerSends) {
  for (const std::size_t bytes : {std::size_t{8}, kMostInline + 8}) {
    for (const auto answer : {Connection::Answer::soon, Connection::Answer::any_time}) {
      TwoConnections pair;
      pair.b.upper.segments = pair.a.upper.segments = {Buffer(4096)};
      const Buffer from(bytes);
      const Signal signal{0, 1};
      constexpr std::uint64_t kRounds = 50;
      const auto put = [&](Station& station) {
        ASSERT_EQ(station.connection->put(0, 0, from, &signal, 1, Connection::Source::copied, answer).kind,
                  core::Post::Kind::posted);
        pair.serve(station);
      };
      for (std::uint64_t round = 1; round <= kRounds; ++round) {
        put(pair.a);
        ASSERT_TRUE(pair.run(kSecond, [&] { return pair.b.upper.signals.size() == round; }));
        put(pair.b);
        ASSERT_TRUE(pair.run(kSecond, [&] { return pair.a.upper.signals.size() == round; }));
      }
      // Some ask for an answer all the same, and the path's MTU is probed.
      if (answer == Connection::Answer::any_time) {
        EXPECT_LE(pair.b.packets_sent, kRounds + kRounds / 4);
      }
      pair.run(kSecond);
      EXPECT_EQ(pair.a.upper.completions.size(), kRounds);
      EXPECT_EQ(pair.b.upper.completions.size(), kRounds);
    }
  }
}

}  // namespace
}  // namespace aqueduct::conduits::udp::connection_tests
