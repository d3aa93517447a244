// iWARP over the mock network: devices without datagrams, immediate data and atomics, whose writes complete before they
// arrive.

#include "conduits/ibv/tests/ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace aqueduct::conduits::ibv {
namespace {

using Kind = core::Post::Kind;
using testing::ElementsAre;
using testing::HasSubstr;

class IbvIwarp : public testing::Test {
 protected:
  bool arrived(std::size_t at, core::Bytes bytes, Rank rank = 1) {
    return std::ranges::equal(bytes, std::span(ranks.memory(rank)).subspan(at, bytes.size()));
  }
  core::Post put(core::Bytes from, core::Token token, std::size_t at = 64) {
    return ranks.insist([&] { return ranks[0].rma()->put(1, ranks.key(), at, from, false, token); });
  }
  core::Post send(Rank from, Rank to) {
    return ranks.insist([&] { return ranks[from].send(to, header, {}, 0); });
  }
  /// Rank 1's handle for rank 0's segment.
  std::uint64_t back() { return *ranks[1].rma()->import_key(0, ranks.exported(0)); }
  mock::Device& device() { return ranks.network().devices[0]; }

  Ranks ranks{{}, 2, [](mock::Network& network) { network.devices[0].make_iwarp(); }};
  const std::vector<std::byte> bytes = bytes_of(40);
  alignas(8) std::byte header[16]{};
};

TEST_F(IbvIwarp, CarriesPutsGetsAndMessages) {
  const auto large = bytes_of(200'000, 2);
  for (const std::vector<std::byte>& from : {bytes, bytes_of(100), bytes_of(5000), large}) {
    ASSERT_EQ(put(from, from.size()).kind, Kind::posted);
    EXPECT_TRUE(ranks.end_of(from.size()));
    EXPECT_TRUE(arrived(64, from));
    std::vector<std::byte> got(from.size());
    const auto get = [&] { return ranks[0].rma()->get(1, ranks.key(), 64, got, from.size() + 1); };
    ASSERT_EQ(ranks.insist(get).kind, Kind::posted);
    EXPECT_TRUE(ranks.end_of(from.size() + 1));
    EXPECT_EQ(got, from);
  }
  for (int i = 0; i < 100; ++i) ASSERT_EQ(send(0, 1).kind, Kind::done);
  EXPECT_TRUE(ranks.until([&] { return ranks.heard(1).packets.size() == 100; }));
  EXPECT_EQ(ranks.network().counts.breaches, 0);
  EXPECT_EQ(ranks.network().counts.not_ready, 0);
  EXPECT_EQ(ranks.network().counts.calls, 1) << "one connection";
  EXPECT_TRUE(ranks.log().empty()) << ranks.said();
}

TEST_F(IbvIwarp, HasNoAtomics) { EXPECT_EQ(ranks[0].atomics(), nullptr); }

TEST_F(IbvIwarp, APutIsOverWhenItsBytesAreThereNotWhenTheyHaveLeft) {
  ranks.meet();
  ranks.network().faults.silent = true;
  ASSERT_EQ(put(bytes, 1).kind, Kind::posted);
  const auto large = bytes_of(5000);
  ASSERT_EQ(put(large, 2, 1000).kind, Kind::posted);
  for (int i = 0; i < 100; ++i) ranks.poll();
  EXPECT_TRUE(ranks.heard(0).completed_ones.empty());
  EXPECT_FALSE(arrived(64, bytes));
  ranks.network().resume();
  EXPECT_TRUE(ranks.end_of(1));
  EXPECT_TRUE(ranks.end_of(2));
  EXPECT_TRUE(arrived(64, bytes) && arrived(1000, large));
}

TEST_F(IbvIwarp, ASignalComesInAMessageBehindItsBytes) {
  ranks.meet();
  for (const Signal signal : {Signal{3, 7}, Signal{3, 1 << 20}}) {
    ranks.heard(1).signals.clear();
    const auto from = bytes_of(300, static_cast<unsigned>(signal.add));
    const auto attempt = [&] {
      return ranks[0].signal()->put_signal(1, ranks.key(), 8, from, signal, signal.add);
    };
    ASSERT_EQ(ranks.insist(attempt).kind, Kind::posted);
    ASSERT_TRUE(ranks.until([&] { return !ranks.heard(1).signals.empty(); }));
    EXPECT_TRUE(arrived(8, from));
    EXPECT_EQ(ranks.heard(1).signals[0].add, signal.add);
    EXPECT_TRUE(ranks.end_of(signal.add));
  }
  EXPECT_EQ(ranks.network().counts.signalled_writes, 0);
  EXPECT_EQ(ranks.network().counts.breaches, 0);
  EXPECT_TRUE(ranks.heard(1).packets.empty());
}

// Messages and writes behind a read complete first. Each operation is reported once, and its data is there.
TEST_F(IbvIwarp, ReadsMayEndAfterWhatIsBehindThem) {
  device().slow = true;
  ranks.meet();
  std::ranges::copy(bytes_of(4000, 9), ranks.memory(1).begin() + 8192);
  std::vector<std::vector<std::byte>> got(20, std::vector<std::byte>(4000));
  for (core::Token i = 0; i < got.size(); ++i) {
    const auto get = [&] { return ranks[0].rma()->get(1, ranks.key(), 8192, got[i], 100 + i); };
    ASSERT_EQ(ranks.insist(get).kind, Kind::posted);
    ASSERT_EQ(put(bytes, 200 + i).kind, Kind::posted);
    ASSERT_EQ(send(0, 1).kind, Kind::done);
  }
  for (core::Token i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(ranks.end_of(100 + i));
    EXPECT_EQ(got[i], bytes_of(4000, 9));
    EXPECT_TRUE(ranks.end_of(200 + i));
  }
  EXPECT_EQ(ranks.heard(0).completions, 2 * got.size() + 1) << "with that of the first put";
  EXPECT_TRUE(ranks.until([&] { return ranks.heard(1).packets.size() == got.size(); }));
}

TEST_F(IbvIwarp, ListsOfPiecesGoThoughAReadHasOnlyOneLocalPiece) {
  ranks.meet();
  core::NativeVector* const lists = ranks[0].vector();
  ASSERT_NE(lists, nullptr);
  const auto sent = bytes_of(3000);
  std::ranges::copy(sent, ranks.memory(0).begin());
  const auto mine = std::span(ranks.memory(0));
  const core::Bytes from[] = {mine.subspan(0, 1000), mine.subspan(1000, 2000)};
  const core::RemotePiece to[] = {{16, 500}, {9000, 2500}};
  ASSERT_EQ(lists->put_pieces(1, ranks.key(), to, from, 1).kind, Kind::posted);
  EXPECT_TRUE(ranks.end_of(1));
  EXPECT_TRUE(arrived(16, std::span(sent).first(500)) && arrived(9000, std::span(sent).subspan(500)));
  const core::MutableBytes into[] = {mine.subspan(20'000, 700), mine.subspan(30'000, 2300)};
  ASSERT_EQ(lists->get_pieces(1, ranks.key(), to, into, 2).kind, Kind::posted);
  EXPECT_TRUE(ranks.end_of(2));
  EXPECT_TRUE(std::ranges::equal(into[0], std::span(sent).first(700)));
  EXPECT_TRUE(std::ranges::equal(into[1], std::span(sent).subspan(700)));
  EXPECT_EQ(ranks.network().counts.breaches, 0);
}

// siw sends wrong bytes when a payload of 32 bytes or fewer crosses a page. The buffers are outside segments, in the
// reader's segment, and in lists.
TEST_F(IbvIwarp, GetsOfFewBytesThatCrossAPageAreIntact) {
  ranks.meet();
  const std::size_t page = 8192 - reinterpret_cast<std::uintptr_t>(ranks.memory(1).data()) % 4096;
  const auto mine = std::span(ranks.memory(0));
  const auto sent = bytes_of(mine.size(), 5);
  std::ranges::copy(sent, ranks.memory(1).begin());
  core::NativeVector* const lists = ranks[0].vector();
  ASSERT_NE(lists, nullptr);
  core::Token token = 10;
  for (const std::size_t count : {1u, 2u, 11u, 28u, 31u, 32u, 33u, 40u}) {
    for (const std::size_t before : {0u, 1u, 4u, 13u, 27u, 31u, 32u}) {
      SCOPED_TRACE(testing::Message() << count << " bytes, " << before << " before the end of a page");
      const std::size_t at = page - before;
      const auto expected = std::span(sent).subspan(at, count);
      std::vector<std::byte> outside(count);
      for (const core::MutableBytes to : {core::MutableBytes(outside), mine.subspan(100, count)}) {
        const auto get = [&] { return ranks[0].rma()->get(1, ranks.key(), at, to, token); };
        ASSERT_EQ(ranks.insist(get).kind, Kind::posted);
        EXPECT_TRUE(ranks.end_of(token++));
        EXPECT_TRUE(std::ranges::equal(to, expected));
      }
      const core::RemotePiece there[] = {{at, count}, {60'000, 100}};
      const core::MutableBytes into[] = {mine.subspan(30'000, count / 2),
                                         mine.subspan(40'000, count - count / 2), mine.subspan(50'000, 100)};
      const auto all = std::span(into).subspan(count == 1 ? 1 : 0);
      ASSERT_EQ(ranks.insist([&] { return lists->get_pieces(1, ranks.key(), there, all, token); }).kind,
                Kind::posted);
      EXPECT_TRUE(ranks.end_of(token++));
      EXPECT_TRUE(std::ranges::equal(into[0], expected.first(count / 2)));
      EXPECT_TRUE(std::ranges::equal(into[1], expected.subspan(count / 2)));
      EXPECT_TRUE(std::ranges::equal(into[2], std::span(sent).subspan(60'000, 100)));
    }
  }
  EXPECT_EQ(ranks.network().counts.breaches, 0);
}

// The longest list that the conduit takes; siw would garble each of its pieces.
TEST_F(IbvIwarp, AListMayCrossManyPages) {
  ranks.meet();
  core::NativeVector* const lists = ranks[0].vector();
  ASSERT_NE(lists, nullptr);
  const auto mine = std::span(ranks.memory(0));
  const auto sent = bytes_of(mine.size(), 5);
  std::ranges::copy(sent, ranks.memory(1).begin());
  const std::size_t page = 4096 - reinterpret_cast<std::uintptr_t>(ranks.memory(1).data()) % 4096;
  std::vector<core::RemotePiece> there;
  std::vector<core::MutableBytes> into;
  for (std::size_t i = 1; i <= lists->most_remote(); ++i) there.push_back({page + i * 4096 - 5, 11});
  // Pieces of other lengths, so that each end of one cuts one of the peer's.
  const std::size_t all = 11 * there.size();
  for (std::size_t at = 0, left = lists->most_local(); left > 0; --left) {
    const std::size_t bytes = left > 1 ? 7 : all - at;
    into.push_back(mine.subspan(at, bytes));
    at += bytes;
  }
  for (core::Token token = 10; token < 60; ++token) {
    ASSERT_EQ(ranks.insist([&] { return lists->get_pieces(1, ranks.key(), there, into, token); }).kind,
              Kind::posted);
  }
  for (core::Token token = 10; token < 60; ++token) EXPECT_TRUE(ranks.end_of(token));
  for (std::size_t i = 0; i < there.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(mine.subspan(11 * i, 11), std::span(sent).subspan(there[i].offset, 11)))
        << i;
  }
  EXPECT_EQ(ranks.network().counts.breaches, 0);
  EXPECT_EQ(ranks.network().counts.overruns, 0);
}

// ----------------------------------------------------------------------------------------------------- connections

TEST_F(IbvIwarp, BothMayCallAtOnce) {
  const std::uint64_t key = back();
  ASSERT_EQ(ranks[0].rma()->put(1, ranks.key(), 64, bytes, false, 1).kind, Kind::retry);
  ASSERT_EQ(ranks[1].rma()->put(0, key, 64, bytes, false, 1).kind, Kind::retry);
  ASSERT_EQ(put(bytes, 1).kind, Kind::posted);
  ASSERT_EQ(ranks.insist([&] { return ranks[1].rma()->put(0, key, 64, bytes, false, 1); }).kind,
            Kind::posted);
  EXPECT_TRUE(ranks.end_of(1));
  EXPECT_TRUE(ranks.until([&] { return ranks.heard(1).completed_ones.count(1) != 0; }));
  EXPECT_TRUE(arrived(64, bytes, 0) && arrived(64, bytes, 1));
  EXPECT_EQ(ranks.network().counts.calls, 2);
  EXPECT_EQ(ranks.network().counts.breaches, 0);
  EXPECT_TRUE(ranks.log().empty()) << ranks.said();
}

// The system gives up connection requests while the peer computes; a peer that starts late refuses some.
TEST_F(IbvIwarp, CallsThatComeToNothingAreRepeated) {
  ranks.network().faults.timed_out_calls = 2;
  ranks.network().faults.refused_calls = 2;
  ASSERT_EQ(put(bytes, 1).kind, Kind::posted);
  EXPECT_TRUE(ranks.end_of(1));
  EXPECT_GE(ranks.network().counts.calls, 5);
  EXPECT_EQ(ranks.network().counts.breaches, 0) << "each with a new queue pair";
  ASSERT_EQ(send(1, 0).kind, Kind::done);
  EXPECT_TRUE(ranks.until([&] { return ranks.heard(0).packets.size() == 1; }));
  EXPECT_TRUE(ranks.heard(0).losses.empty() && ranks.heard(1).losses.empty());
}

// siw overlooks what arrives between its answer to a call and the moment when it begins to listen. Here: the greeting,
// the put, and the first probe.
TEST_F(IbvIwarp, WhatTheAcceptingDeviceOverlooksArrivesBehindAProbe) {
  ranks.network().faults.overlooked = 3;
  ASSERT_EQ(put(bytes, 1).kind, Kind::posted);
  for (int i = 0; i < 100; ++i) ranks.poll();
  EXPECT_FALSE(arrived(64, bytes));
  EXPECT_TRUE(ranks.until([&] {
    ranks[0].check_peers(ranks.heard(0));
    return ranks.heard(0).completed_ones.count(1) != 0;
  }));
  EXPECT_TRUE(arrived(64, bytes));
  EXPECT_TRUE(ranks.until([&] { return send(1, 0).kind == Kind::done; })) << "it has got the greeting";
  EXPECT_LE(ranks.network().counts.reads, 4)
      << "that of the put, two probes, and one of a peer that is idle again";
  // An answer has come, so what takes long is not probed any more.
  ranks.network().faults.silent = true;
  ASSERT_EQ(put(bytes, 2).kind, Kind::posted);
  ranks.network().counts = {};
  for (int i = 0; i < 100; ++i) ranks[0].check_peers(ranks.heard(0));
  EXPECT_EQ(ranks.network().counts.requests(), 0);
  ranks.network().resume();
  EXPECT_TRUE(ranks.end_of(2));
}

TEST_F(IbvIwarp, APeerWhoseHostRefusesAllCallsIsLost) {
  ranks.close(1);
  ASSERT_EQ(ranks[0].rma()->put(1, ranks.key(), 64, bytes, false, 1).kind, Kind::retry);
  EXPECT_TRUE(ranks.until([&] { return !ranks.heard(0).losses.empty(); }));
  EXPECT_THAT(ranks.heard(0).losses, ElementsAre(1u));
  EXPECT_EQ(ranks[0].rma()->put(1, ranks.key(), 64, bytes, false, 1).why, ErrorCode::peer_lost);
  EXPECT_THAT(ranks.said(), HasSubstr("refuses connections"));
}

TEST_F(IbvIwarp, WhatAPeerHasSentBeforeItLeftArrivesAndThenItIsLost) {
  device().slow = true;  // the put may not have arrived when the peer leaves
  const std::uint64_t key = back();
  ASSERT_EQ(ranks.insist([&] { return ranks[1].rma()->put(0, key, 64, bytes, false, 1); }).kind,
            Kind::posted);
  ASSERT_EQ(send(1, 0).kind, Kind::done);
  ranks.close(1);
  EXPECT_TRUE(arrived(64, bytes, 0)) << "it has waited for that";
  EXPECT_TRUE(ranks.until([&] { return !ranks.heard(0).losses.empty(); }));
  EXPECT_EQ(ranks.heard(0).packets.size(), 1u);
  EXPECT_THAT(ranks.heard(0).losses, ElementsAre(1u));
}

// Without inline data, so that the device reads the bytes of a put from memory.
TEST(IbvIwarpPages, PutsOfFewBytesThatCrossAPageAreIntact) {
  IbvOptions options;
  options.inline_bytes = 0;
  Ranks ranks(options, 2, [](mock::Network& network) {
    network.devices[0].make_iwarp();
    network.devices[0].most_inline = 0;
  });
  ranks.meet();
  const auto mine = std::span(ranks.memory(0));
  const std::size_t page = 8192 - reinterpret_cast<std::uintptr_t>(mine.data()) % 4096;
  core::NativeVector* const lists = ranks[0].vector();
  ASSERT_NE(lists, nullptr);
  core::Token token = 10;
  for (const std::size_t count : {1u, 2u, 11u, 28u, 32u, 33u}) {
    for (const std::size_t before : {0u, 1u, 4u, 13u, 31u, 32u}) {
      SCOPED_TRACE(testing::Message() << count << " bytes, " << before << " before the end of a page");
      const auto from = mine.subspan(page - before, count);
      std::ranges::copy(bytes_of(count, static_cast<unsigned>(token)), from.begin());
      const auto arrived = [&](std::size_t at) {
        return std::ranges::equal(from, std::span(ranks.memory(1)).subspan(at, count));
      };
      const auto put = [&] { return ranks[0].rma()->put(1, ranks.key(), 70'000, from, false, token); };
      ASSERT_EQ(ranks.insist(put).kind, Kind::posted);
      EXPECT_TRUE(ranks.end_of(token++));
      EXPECT_TRUE(arrived(70'000));
      const core::RemotePiece to[] = {{80'000, count}};
      const core::Bytes pieces[] = {from};
      const auto put_list = [&] { return lists->put_pieces(1, ranks.key(), to, pieces, token); };
      ASSERT_EQ(ranks.insist(put_list).kind, Kind::posted);
      EXPECT_TRUE(ranks.end_of(token++));
      EXPECT_TRUE(arrived(80'000));
    }
  }
  EXPECT_EQ(ranks.network().counts.breaches, 0);
}

// An adapter whose reads may have several local pieces, and a peer that uses siw. The pieces touch at a page boundary.
TEST(IbvIwarpPages, PiecesAreNotJoinedToAShortReadThatCrossesAPage) {
  Ranks ranks({}, 2, [](mock::Network& network) {
    network.devices[0].make_iwarp();
    network.devices[0].limits.max_sge_rd = 4;
  });
  ranks.meet();
  core::NativeVector* const lists = ranks[0].vector();
  ASSERT_NE(lists, nullptr);
  const auto mine = std::span(ranks.memory(0));
  const auto sent = bytes_of(mine.size(), 5);
  std::ranges::copy(sent, ranks.memory(1).begin());
  const std::size_t page = 8192 - reinterpret_cast<std::uintptr_t>(ranks.memory(1).data()) % 4096;
  const core::RemotePiece there[] = {{page - 10, 20}};
  const core::MutableBytes into[] = {mine.subspan(100, 10), mine.subspan(200, 10)};
  ASSERT_EQ(lists->get_pieces(1, ranks.key(), there, into, 10).kind, Kind::posted);
  EXPECT_TRUE(ranks.end_of(10));
  EXPECT_TRUE(std::ranges::equal(into[0], std::span(sent).subspan(page - 10, 10)));
  EXPECT_TRUE(std::ranges::equal(into[1], std::span(sent).subspan(page, 10)));
  EXPECT_EQ(ranks.network().counts.breaches, 0);
}

TEST(IbvIwarpAddress, IsMissedWhereNoInterfaceOfTheDeviceHasOne) {
  mock::Network network;
  network.devices[0].make_iwarp();
  network.devices[0].name = "iwarp0";
  Verbs verbs = network.verbs();
  Found found = find_port(verbs, {});
  ASSERT_EQ(found.problem, "");
  verbs.connections.bind_addr = [](rdma_cm_id*, sockaddr*) { return -1; };
  std::vector<std::string> lines;
  core::Log log(core::LogLevel::info,
                [&](core::LogLevel, std::string_view line) { lines.emplace_back(line); });
  auto objects = open_objects(verbs, found.port, {}, 1, 0, log);
  ASSERT_TRUE(objects);
  IbvConduit alone(verbs, found.port, std::move(*objects), {}, 1, 1, 0, log, core::kSystemClock);
  EXPECT_EQ(alone.start().code(), ErrorCode::not_supported);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr("iwarp0 is iWARP, and its network interface has no IP address"));
}

}  // namespace
}  // namespace aqueduct::conduits::ibv
