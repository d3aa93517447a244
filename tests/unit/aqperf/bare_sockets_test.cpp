#include "tools/aqperf/failure.hpp"
#include "tools/aqperf/raw/bare_socket.hpp"
#include "tools/aqperf/raw/tcp_stream.hpp"
#include "tools/aqperf/raw/udp_flood.hpp"
#include "tools/aqperf/raw/udp_ping_pong.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include <arpa/inet.h>

namespace aqueduct::perf {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// The loopback address of a family, with any port.
Address loopback(int family = AF_INET) {
  Address out;
  out.raw.ss_family = static_cast<sa_family_t>(family);
  if (family == AF_INET) {
    reinterpret_cast<sockaddr_in&>(out.raw).sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    out.bytes = sizeof(sockaddr_in);
  } else {
    reinterpret_cast<sockaddr_in6&>(out.raw).sin6_addr = in6addr_loopback;
    out.bytes = sizeof(sockaddr_in6);
  }
  return out;
}

std::pair<BareSocket, BareSocket> datagram_pair(int family = AF_INET) {
  BareSocket one(loopback(family), SOCK_DGRAM), other(loopback(family), SOCK_DGRAM);
  one.connect(other.address());
  other.connect(one.address());
  return {std::move(one), std::move(other)};
}

const Patience kPatience{Patience::kRounds};

TEST(AqperfUdpPingPong, MakesAllTurnsAtEverySize) {
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{8}, std::size_t{1400}, UdpPingPong::kMostBytes}) {
    auto [one, other] = datagram_pair();
    UdpPingPong active(std::move(one), true, bytes, 8, kPatience);
    UdpPingPong passive(std::move(other), false, bytes, 8, kPatience);
    const auto began = Clock::now();
    std::thread answering([&passive = passive] {
      passive.run(500);
      passive.run(500);
    });
    active.run(300);
    active.run(700);  // the two sides' batches may have different lengths
    answering.join();
    EXPECT_LT(Clock::now() - began, 60s) << bytes << " bytes";
  }
}

TEST(AqperfUdpPingPong, DoesNotWaitForeverForSomebodyWhoIsGone) {
  std::optional<BareSocket> gone;
  gone.emplace(loopback(), SOCK_DGRAM);
  BareSocket mine(loopback(), SOCK_DGRAM);
  mine.connect(gone->address());
  gone.reset();
  const auto began = Clock::now();
  UdpPingPong(std::move(mine), true, 8, 8, kPatience).run(3);
  EXPECT_LT(Clock::now() - began, 20s);
}

class AqperfUdpFlood : public testing::TestWithParam<std::size_t> {};

TEST_P(AqperfUdpFlood, BringsEveryByteOverOneHost) {
  auto [one, other] = datagram_pair();
  UdpFlood sender(std::move(one), true, GetParam(), kPatience);
  UdpFlood receiver(std::move(other), false, GetParam(), kPatience);
  const std::uint64_t bytes = GetParam() < 100 ? 400'000 : 40'000'000;
  const auto began = Clock::now();
  std::thread receiving([&receiver = receiver, bytes] {
    receiver.run(1);
    for (int run = 0; run < 3; ++run) receiver.run(bytes);
  });
  sender.run(1);
  for (int run = 0; run < 3; ++run) sender.run(bytes);
  receiving.join();
  EXPECT_LT(Clock::now() - began, 60s);
  EXPECT_EQ(receiver.lost(), 0u);
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  RecordProperty("megabytes_per_second", std::to_string(3e-6 * static_cast<double>(bytes) / seconds));
}

INSTANTIATE_TEST_SUITE_P(Segments, AqperfUdpFlood,
                         testing::Values(std::size_t{8}, std::size_t{1000}, std::size_t{1472},
                                         std::size_t{8192}, UdpFlood::kMostSegment));

TEST(AqperfUdpFlood, GoesOnWithoutWhatWasLost) {
  auto [one, other] = datagram_pair();
  {
    // Datagrams that are sent before the receiver is set up for UDP_GRO, or while there is none, do not arrive.
    UdpFlood sender(std::move(one), true, 1000, kPatience);
    UdpFlood receiver(std::move(other), false, 1000, kPatience);
    const auto began = Clock::now();
    std::thread receiving([&receiver = receiver] { receiver.run(2'000'000); });
    sender.run(1'000'000);  // the other half never arrives
    receiving.join();
    EXPECT_EQ(receiver.lost(), 1'000'000u);
    EXPECT_LT(Clock::now() - began, 20s);
  }
}

TEST(AqperfTcpStream, FloodsAndPlaysPingPong) {
  for (const int family : {AF_INET, AF_INET6}) {
    BareSocket listening(loopback(family), SOCK_STREAM), one(loopback(family), SOCK_STREAM);
    listening.listen();
    one.connect(listening.address());
    TcpStream active(std::move(one), true, kPatience), passive(listening.accept(), false, kPatience);
    const auto began = Clock::now();
    std::thread other([&] {
      passive.flood(3'000'001);
      passive.ping_pong(8, 5000, 200);
    });
    active.flood(3'000'001);
    active.ping_pong(8, 5000, 200);
    other.join();
    EXPECT_LT(Clock::now() - began, 60s);
  }
}

TEST(AqperfTcpStream, FailsWhenTheOtherSideIsGone) {
  BareSocket listening(loopback(), SOCK_STREAM), one(loopback(), SOCK_STREAM);
  listening.listen();
  one.connect(listening.address());
  TcpStream active(std::move(one), true, kPatience);
  { const BareSocket closed = listening.accept(); }
  EXPECT_THROW(active.flood(1'000'000), Failure);
}

TEST(AqperfBareSocket, SaysWhichCallFailed) {
  BareSocket taken(loopback(), SOCK_DGRAM);
  try {
    BareSocket second(taken.address(), SOCK_DGRAM);
    FAIL() << "two sockets have one port";
  } catch (const Failure& failure) {
    EXPECT_NE(std::string(failure.what()).find("bind()"), std::string::npos) << failure.what();
  }
}

}  // namespace
}  // namespace aqueduct::perf
