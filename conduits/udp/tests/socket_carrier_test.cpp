#include "conduits/udp/carrier/socket_carrier.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

#include <poll.h>

namespace aqueduct::conduits::udp {
namespace {

using Datagram = std::vector<std::byte>;

Datagram datagram_of(std::size_t bytes, std::size_t salt = 0) {
  Datagram made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<std::byte>(i * 13 + i / 251 + salt);
  return made;
}

struct Mode {
  const char* name;
  const char* address;
  bool gso, gro, mmsg;
};

void PrintTo(const Mode& mode, std::ostream* out) { *out << mode.name; }

/// Two sockets of this host that send to one another.
class Pair {
 public:
  explicit Pair(const Mode& mode, bool dont_fragment = true)
      : log_(core::LogLevel::warn, [](core::LogLevel, std::string_view line) { ADD_FAILURE() << line; }) {
    for (auto& end : ends_) {
      auto opened = SocketCarrier::open({.bind_to = Address::parse(mode.address).value_or(Address{}),
                                         .send_buffer = 1 << 20,
                                         .receive_buffer = 2 << 20,
                                         .allow_gso = mode.gso,
                                         .allow_gro = mode.gro,
                                         .allow_mmsg = mode.mmsg,
                                         .dont_fragment = dont_fragment},
                                        log_);
      if (opened) end = std::move(*opened);
    }
  }

  bool good() const noexcept { return ends_[0] != nullptr && ends_[1] != nullptr; }
  SocketCarrier& here() noexcept { return *ends_[0]; }
  SocketCarrier& there() noexcept { return *ends_[1]; }
  Outgoing outgoing(std::span<const iovec> pieces, std::size_t segment) const {
    const auto add = [](std::size_t sum, const iovec& piece) { return sum + piece.iov_len; };
    return {.to = &ends_[1]->local(),
            .pieces = pieces,
            .bytes = std::accumulate(pieces.begin(), pieces.end(), std::size_t{0}, add),
            .segment = segment};
  }

  /// Receives until there are `count` datagrams, or nothing has arrived for two seconds.
  std::vector<Datagram> receive(std::size_t count, std::size_t most = 16) {
    std::vector<Datagram> got;
    while (got.size() < count) {
      const auto reads = there().receive(most);
      EXPECT_LE(reads.size(), most);
      for (const Incoming& read : reads) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(read.bytes.data()) % 64, 0u);
        for (std::size_t at = 0; at < read.bytes.size(); at += read.segment) {
          const auto one = read.bytes.subspan(at, std::min(read.segment, read.bytes.size() - at));
          got.emplace_back(one.begin(), one.end());
        }
      }
      pollfd waiting{there().descriptor(), POLLIN, 0};
      if (reads.empty() && ::poll(&waiting, 1, 2000) == 0) break;
    }
    return got;
  }

 private:
  core::Log log_;
  std::array<std::unique_ptr<SocketCarrier>, 2> ends_;
};

iovec piece(Datagram& bytes) { return {bytes.data(), bytes.size()}; }

class UdpSocketCarrier : public testing::TestWithParam<Mode> {};

TEST_P(UdpSocketCarrier, CarriesOneDatagram) {
  Pair pair(GetParam());
  ASSERT_TRUE(pair.good());
  const bool ipv6 = pair.here().local().family() == AF_INET6;
  // Limited by the loopback MTU, 65536, or by the length field.
  const std::size_t most = ipv6 ? 65536 - 40 - 8 : 65507;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{8}, std::size_t{1400}, most}) {
    SCOPED_TRACE(bytes);
    auto sent = datagram_of(bytes);
    const iovec pieces[] = {piece(sent)};
    const Outgoing outgoing = pair.outgoing(pieces, bytes);
    ASSERT_EQ(pair.here().send({&outgoing, 1}), 1u);
    EXPECT_THAT(pair.receive(1, 1), testing::ElementsAre(sent));
  }
  EXPECT_EQ(pair.here().counters().sent, 4u);
  EXPECT_EQ(pair.here().counters().refused, 0u);
  EXPECT_EQ(pair.there().counters().received, 4u);
  EXPECT_TRUE(pair.there().receive(16).empty());
}

TEST_P(UdpSocketCarrier, CutsPiecesIntoDatagrams) {
  Pair pair(GetParam());
  ASSERT_TRUE(pair.good());
  // Borders of pieces and of datagrams fall at many offsets, and some pieces are empty.
  for (const std::size_t bytes : {1000ul, 1001ul, 1999ul, 2000ul, 20001ul, 64000ul}) {
    SCOPED_TRACE(bytes);
    auto sent = datagram_of(bytes);
    std::vector<iovec> pieces;
    for (std::size_t at = 0; at < bytes; at += pieces.back().iov_len) {
      pieces.push_back({nullptr, 0});
      pieces.push_back({sent.data() + at, std::min((at % 5) * 333 + 1, bytes - at)});
    }
    const Outgoing outgoing = pair.outgoing(pieces, 1000);
    ASSERT_EQ(pair.here().send({&outgoing, 1}), 1u);
    const auto got = pair.receive((bytes + 999) / 1000);
    ASSERT_EQ(got.size(), (bytes + 999) / 1000);
    Datagram all;
    for (const Datagram& one : got) {
      EXPECT_TRUE(one.size() == 1000 || &one == &got.back());
      all.insert(all.end(), one.begin(), one.end());
    }
    EXPECT_TRUE(all == sent);
  }
}

TEST_P(UdpSocketCarrier, TakesTheMostBytesThatItNames) {
  Pair pair(GetParam());
  ASSERT_TRUE(pair.good());
  auto sent = datagram_of(pair.here().most_bytes());
  const iovec pieces[] = {piece(sent)};
  const Outgoing outgoing = pair.outgoing(pieces, 1040);
  ASSERT_EQ(pair.here().send({&outgoing, 1}), 1u);
  const auto got = pair.receive((sent.size() + 1039) / 1040);
  Datagram all;
  for (const Datagram& one : got) all.insert(all.end(), one.begin(), one.end());
  EXPECT_TRUE(all == sent);
  EXPECT_EQ(pair.here().counters().refused, 0u);
}

TEST_P(UdpSocketCarrier, SendsBatchesLongerThanOneCall) {
  Pair pair(GetParam());
  ASSERT_TRUE(pair.good());
  std::vector<Datagram> memory;
  for (std::size_t i = 0; i < 150; ++i) memory.push_back(datagram_of(i % 3 == 0 ? 250 : 60, i));
  std::vector<iovec> pieces;
  for (Datagram& one : memory) pieces.push_back(piece(one));
  std::vector<Outgoing> batch;
  for (std::size_t i = 0; i < 150; ++i) {
    batch.push_back(pair.outgoing(std::span(pieces).subspan(i, 1), 100));  // three datagrams, or one
    batch.back().may_fragment = i % 50 == 49;
  }
  ASSERT_EQ(pair.here().send(batch), batch.size());
  auto got = pair.receive(50 * 3 + 100);
  ASSERT_EQ(got.size(), 250u);
  Datagram sent_bytes, got_bytes;
  for (const Datagram& one : memory) sent_bytes.insert(sent_bytes.end(), one.begin(), one.end());
  for (const Datagram& one : got) got_bytes.insert(got_bytes.end(), one.begin(), one.end());
  EXPECT_TRUE(sent_bytes == got_bytes);  // loopback keeps the order
  EXPECT_EQ(pair.here().counters().sent, 250u);
  EXPECT_EQ(pair.here().counters().sent_bytes, sent_bytes.size());
  EXPECT_EQ(pair.there().counters().received_bytes, sent_bytes.size());
  EXPECT_TRUE(!GetParam().mmsg || pair.here().counters().send_calls < 20);
}

TEST_P(UdpSocketCarrier, UsesFewCallsWhereTheSystemCan) {
  Pair pair(GetParam());
  ASSERT_TRUE(pair.good());
  auto sent = datagram_of(64 * 1000);
  const iovec pieces[] = {piece(sent)};
  const Outgoing outgoing = pair.outgoing(pieces, 1000);
  ASSERT_EQ(pair.here().send({&outgoing, 1}), 1u);
  const bool one_call = pair.here().gso() || GetParam().mmsg;
  EXPECT_EQ(pair.here().counters().send_calls, one_call ? 1u : 64u);
  EXPECT_EQ(pair.here().counters().sent, 64u);
  ASSERT_EQ(pair.receive(64).size(), 64u);
  EXPECT_TRUE(!pair.here().gso() || !pair.there().gro() || pair.there().counters().receive_calls <= 2);
  EXPECT_EQ(pair.here().gso_failures(), 0u);
}

TEST_P(UdpSocketCarrier, RemembersWhatWasTooLong) {
  Pair pair(GetParam());
  ASSERT_TRUE(pair.good());
  EXPECT_EQ(pair.here().too_long(), 0u);
  auto sent = datagram_of(70'000);
  const iovec long_pieces[] = {piece(sent)};
  const iovec short_pieces[] = {{sent.data(), 100}};
  const Outgoing batch[] = {pair.outgoing(short_pieces, 100), pair.outgoing(long_pieces, 70'000),
                            pair.outgoing(short_pieces, 100)};
  EXPECT_EQ(pair.here().send(batch), 3u);
  EXPECT_EQ(pair.here().too_long(), 70'000u);
  EXPECT_EQ(pair.here().too_long(), 0u);
  EXPECT_EQ(pair.here().last_error(), 0);
  EXPECT_EQ(pair.here().counters().refused, 1u);
  EXPECT_EQ(pair.here().counters().too_long, 1u);
  EXPECT_EQ(pair.here().troubles(), "; 1 datagrams too long for this system's interface");
  EXPECT_EQ(pair.receive(2).size(), 2u);
}

TEST_P(UdpSocketCarrier, RefusesMoreDatagramsThanItSaysItTakes) {
  Pair pair(GetParam());
  ASSERT_TRUE(pair.good());
  auto sent = datagram_of(1025);
  std::vector<iovec> pieces;
  for (std::byte& byte : sent) pieces.push_back({&byte, 1});
  const Outgoing outgoing = pair.outgoing(pieces, 8);  // 129 datagrams of 1025 pieces
  EXPECT_EQ(pair.here().send({&outgoing, 1}), 1u);
  EXPECT_GT(pair.here().counters().refused, 0u);
}

TEST_P(UdpSocketCarrier, CountsWhatFoundNoRoom) {
  Pair pair(GetParam());
  ASSERT_TRUE(pair.good());
  auto sent = datagram_of(60'000);
  const iovec pieces[] = {piece(sent)};
  const Outgoing outgoing = pair.outgoing(pieces, 60'000);
  for (int i = 0; i < 200; ++i)
    ASSERT_EQ(pair.here().send({&outgoing, 1}), 1u);  // 12 MB into a buffer of 4 MB
  std::uint64_t got = 0;
  for (std::size_t reads = 1; reads != 0; got += reads) reads = pair.there().receive(16).size();
  ASSERT_EQ(pair.here().send({&outgoing, 1}), 1u);  // the count arrives with the next datagram that fits
  got += pair.receive(1).size();
  EXPECT_GT(pair.there().counters().overflowed, 0u);
  EXPECT_EQ(got + pair.there().counters().overflowed, 201u);
}

TEST_P(UdpSocketCarrier, SaysWhatItIs) {
  Pair pair(GetParam());
  ASSERT_TRUE(pair.good());
  EXPECT_NE(pair.here().local().port(), 0);
  EXPECT_EQ(pair.here().local().with_port(0), *Address::parse(GetParam().address));
  EXPECT_GE(pair.here().receive_buffer(), 4 << 20);  // the system accounts for twice the size
  EXPECT_GE(pair.here().send_buffer(), 2 << 20);
  EXPECT_EQ(pair.here().most_bytes(), pair.here().local().family() == AF_INET ? 65507u : 65527u);
  EXPECT_THAT(pair.here().text(), testing::HasSubstr(pair.here().local().text()));
  EXPECT_TRUE(GetParam().gso || !pair.here().gso());
  EXPECT_TRUE(GetParam().gro || !pair.here().gro());
}

TEST_P(UdpSocketCarrier, BearsAPeerThatIsGone) {
  Pair pair(GetParam());
  ASSERT_TRUE(pair.good());
  auto sent = datagram_of(8);
  const iovec pieces[] = {piece(sent)};
  Address nobody;
  {
    Pair other(GetParam());
    ASSERT_TRUE(other.good());
    nobody = other.here().local();
  }
  Outgoing outgoing = pair.outgoing(pieces, 8);
  outgoing.to = &nobody;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pair.here().send({&outgoing, 1}), 1u);
  outgoing.to = &pair.there().local();
  EXPECT_EQ(pair.here().send({&outgoing, 1}), 1u);
  EXPECT_EQ(pair.receive(1).size(), 1u);
}

std::vector<Mode> modes() {
  return {{"All4", "127.0.0.1", true, true, true},         {"All6", "::1", true, true, true},
          {"NoGso4", "127.0.0.1", false, true, true},      {"NoGso6", "::1", false, true, true},
          {"NoGro4", "127.0.0.1", true, false, true},      {"NoMmsg4", "127.0.0.1", true, true, false},
          {"NoOffload4", "127.0.0.1", false, false, true}, {"Plain4", "127.0.0.1", false, false, false},
          {"Plain6", "::1", false, false, false}};
}

INSTANTIATE_TEST_SUITE_P(Modes, UdpSocketCarrier, testing::ValuesIn(modes()),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace aqueduct::conduits::udp
