// A peer that sends the layers' messages with wrong contents. It cannot end operations that it was not asked for, reach
// memory outside the segments, or make this rank keep more replies than it has credits.

#include <aqueduct/aqueduct.hpp>

#include "am/messages.hpp"
#include "tests/support/known_packets.hpp"
#include "tests/support/loop_job.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::am {
namespace {

class HostilePeer : public testing::Test {
 protected:
  static constexpr std::size_t kSegment = 256 << 10;

  void SetUp() override { start({}); }
  void start(support::Settings settings) {
    job_.reset();
    settings.insert(settings.begin(), {{"segment_bytes", std::to_string(kSegment)}, {"operations", "64"}});
    support::start_over_loop(job_, 2, settings);
  }
  Endpoint& me() { return job_->endpoint(0); }
  Endpoint& peer() { return job_->endpoint(1); }

  /// Delivers a packet as if rank 1 had sent it.
  void say(const test::ExactPacket& packet) { me().state().messages->packet(1, packet.bytes()); }
  /// The tokens of operations in flight, in the order in which they began.
  std::vector<core::Token> tokens() {
    std::vector<core::Token> found;
    const auto capacity = static_cast<std::uint32_t>(job_->config().number("operations"));
    for (std::uint32_t index = 0; index < 2 * capacity; ++index) {
      for (std::uint64_t generation = 1; generation < 8; ++generation) {
        if (me().state().ops.find(generation << 32 | index) != nullptr)
          found.push_back(generation << 32 | index);
      }
    }
    return found;
  }
  core::Token only_token() {
    const auto all = tokens();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? 0 : all[0];
  }
  bool ends(Event& event) {
    for (int round = 0; round < 100'000 && !event.done(); ++round) {
      me().progress();
      peer().progress();
    }
    return event.done();
  }

  std::optional<Job> job_;
};

TEST_F(HostilePeer, EndsNoPutByAnswersOfAnotherKind) {
  std::vector<std::byte> from(3000, std::byte{5});
  const std::vector<std::byte> before = from;
  Event put = put_nb(me(), GlobalPtr<std::byte>{1, 0}, from);
  const core::Token token = only_token();
  const std::vector<std::byte> forged(900, std::byte{9});
  for (int i = 0; i < 10; ++i) {
    say(test::packet_of(rma::kGetData, rma::GetData{token, 0, 0}, forged));
    say(test::packet_of(rma::kAtomicResult, rma::AtomicResult{token, 7, 0}));
    say(test::packet_of(vis::kPackedData, vis::PackedData{token, 0, 0}, forged));
  }
  EXPECT_FALSE(put.done());
  EXPECT_EQ(from, before);  // a put only reads it
  EXPECT_TRUE(ends(put));
  EXPECT_TRUE(put.status());
}

TEST_F(HostilePeer, EndsNoGetByAnswersOfAnotherKind) {
  std::vector<std::byte> to(3000);
  Event get = get_nb(me(), to, GlobalPtr<std::byte>{1, 0});
  const core::Token token = only_token();
  for (int i = 0; i < 10; ++i) {
    say(test::packet_of(rma::kPutAck, rma::PutAck{token, 0}));
    say(test::packet_of(rma::kAtomicResult, rma::AtomicResult{token, 7, 0}));
  }
  EXPECT_FALSE(get.done());
  EXPECT_TRUE(ends(get));
  EXPECT_TRUE(get.status());
}

TEST_F(HostilePeer, WritesOnlyWhereAGetHasAsked) {
  std::array<std::byte, 256> to{};
  Event get = get_nb(me(), std::span(to).subspan(64, 128), GlobalPtr<std::byte>{1, 0});
  const std::vector<std::byte> forged(200, std::byte{9});
  say(test::packet_of(rma::kGetData, rma::GetData{only_token(), 64, 0}, forged));
  EXPECT_TRUE(get.done());
  EXPECT_EQ(get.status().code(), ErrorCode::internal);
  EXPECT_TRUE(std::ranges::all_of(to, [](std::byte one) { return one == std::byte{0}; }));
}

TEST_F(HostilePeer, ChangesNoWordOutsideASegment) {
  const std::vector<std::byte> bytes(8, std::byte{9});
  const std::span<std::byte> mine = me().segment();
  for (const auto& [segment, offset, op] :
       {std::tuple<SegmentId, std::uint64_t, SignalOp>{0, kSegment, SignalOp::add},
        {0, kSegment - 4, SignalOp::set},
        {0, 4, SignalOp::add},  // not aligned
        {0, ~std::uint64_t{3}, SignalOp::set},
        {99, 0, SignalOp::add},
        {0, 8, static_cast<SignalOp>(2)}}) {
    say(test::packet_of(rma::kPutWord, rma::PutWordPiece{1, 64, 0, segment, offset, 5, op, {}}, bytes));
    EXPECT_TRUE(std::ranges::all_of(mine.first(16), [](std::byte one) { return one == std::byte{0}; }))
        << "segment " << segment << ", offset " << offset;
  }
  say(test::packet_of(rma::kPutWord, rma::PutWordPiece{1, kSegment - 4, 0, 0, 8, 5, SignalOp::set, {}},
                      bytes));
  EXPECT_EQ(mine[8], std::byte{0}) << "the word of a put that is outside the segment";
  say(test::packet_of(rma::kPutWord, rma::PutWordPiece{1, 64, 0, 0, 8, 5, SignalOp::set, {}}, bytes));
  EXPECT_EQ(mine[8], std::byte{5});
}

// More answers than packets, while the rest of the put waits for room. Otherwise the operation would end, and be reused
// while it is still in the queue.
TEST_F(HostilePeer, EndsNoPutOfWhichPartHasNotLeft) {
  const std::vector<std::byte> from(kSegment, std::byte{5});
  Event put = put_nb(me(), GlobalPtr<std::byte>{1, 0}, from);
  const core::Token token = only_token();
  for (int i = 0; i < 1000; ++i) say(test::packet_of(rma::kPutAck, rma::PutAck{token, 0}));
  EXPECT_FALSE(put.done());
  EXPECT_TRUE(ends(put));
  Event next = put_nb(me(), GlobalPtr<std::byte>{1, 0}, from);
  EXPECT_TRUE(ends(next));
}

TEST_F(HostilePeer, EndsNoTransferOfPiecesOfWhichPartHasNotLeft) {
  start({{"vis_plan", "packed"}});
  const std::size_t pieces = kSegment / 16;
  std::vector<std::byte> own(8 * pieces);
  Event put = put_nb(me(), aqueduct::pieces(GlobalPtr<std::byte>{1, 0}, Strided(8, {{pieces, 16}})),
                     contiguous(std::as_const(own).data(), own.size()));
  const core::Token token = only_token();
  for (int i = 0; i < 1000; ++i) say(test::packet_of(rma::kPutAck, rma::PutAck{token, 0}));
  for (int i = 0; i < 1000; ++i)
    say(test::packet_of(rma::kGetData, rma::GetData{token, 0, 0}, std::span(own).first(8)));
  EXPECT_FALSE(put.done());
  EXPECT_TRUE(ends(put));
}

// Requests beyond the peer's credits, whose replies find no room. As many replies are kept as it has credits.
TEST_F(HostilePeer, ThatAsksWithoutCreditIsNotAnswered) {
  start({{"loop_queue", "4"}, {"credits", "8"}});
  constexpr std::uint64_t kRequests = 10'000;
  for (std::uint64_t i = 0; i < kRequests; ++i)
    say(test::packet_of(rma::kGet, rma::GetPiece{i, 0, 0, 0, 100}));
  EXPECT_GE(me().statistics().rejected, kRequests - 8 - 4);
  for (int i = 0; i < 100; ++i) {
    peer().progress();
    me().progress();
  }
  // Communication with this peer and with others continues.
  std::vector<std::byte> to(3000);
  Event get = get_nb(me(), to, GlobalPtr<std::byte>{1, 0});
  EXPECT_TRUE(ends(get));
  EXPECT_TRUE(get.status());
}

// Where head and payload come apart, the head ends where the header says, or the message is dropped.
TEST_F(HostilePeer, ThatCutsAPacketElsewhereIsNotHeard) {
  int heard = 0;
  std::size_t bytes = 0;
  const auto hear = [&](auto&, const auto&, std::span<std::byte> payload) {
    ++heard;
    bytes = payload.size();
    EXPECT_TRUE(
        std::all_of(payload.begin(), payload.end(), [](std::byte one) { return one == std::byte{7}; }));
  };
  const auto medium = on_medium_request<std::uint64_t>(me(), hear);
  const auto longer = on_long_request<std::uint64_t>(me(), hear);
  ASSERT_TRUE(medium && longer);
  constexpr std::size_t kArgs = sizeof(std::uint64_t);
  constexpr std::size_t kPayload = 96;
  std::vector<std::byte> body(kArgs + kPayload, std::byte{7});
  const test::ExactPacket packet =
      test::packet_for({kFirstUserHandler, AmCategory::medium_request, kArgs}, body);
  const LongTarget target{8, kPayload, 0, 0};
  const auto* const at = reinterpret_cast<const std::byte*>(&target);
  body.insert(body.begin(), at, at + sizeof target);
  const test::ExactPacket long_packet =
      test::packet_for({kFirstUserHandler + 1, AmCategory::long_request, kArgs}, body);
  for (const test::ExactPacket* const whole : {&packet, &long_packet}) {
    const std::size_t right = whole->size - kPayload;
    for (std::size_t head = 0; head <= whole->size; head += 4) {
      heard = 0;
      const std::uint64_t rejected = me().statistics().rejected;
      const test::PacketApart apart(whole->bytes(), head);
      me().state().messages->packet_in_parts(1, apart.head(), apart.payload());
      EXPECT_EQ(heard, head == right ? 1 : 0) << head << " bytes of head";
      EXPECT_EQ(me().statistics().rejected - rejected, head == right ? 0u : 1u) << head << " bytes of head";
    }
    EXPECT_EQ(bytes, kPayload);
    // Heads that are longer or shorter than the header says, with all of the payload.
    for (const std::ptrdiff_t more : {8, -8}) {
      const auto wrong = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(right) + more);
      std::vector<std::byte> bytes_of_it(wrong);
      std::memcpy(bytes_of_it.data(), whole->bytes().data(), std::min(wrong, right));
      const auto behind = whole->bytes().subspan(right);
      bytes_of_it.insert(bytes_of_it.end(), behind.begin(), behind.end());
      heard = 0;
      const test::PacketApart apart(bytes_of_it, wrong);
      me().state().messages->packet_in_parts(1, apart.head(), apart.payload());
      EXPECT_EQ(heard, 0) << more << " bytes of head";
    }
    // Payloads that are longer or shorter than the header says.
    for (const std::size_t size : {right, whole->size - 8}) {
      heard = 0;
      const test::PacketApart apart(whole->bytes().first(size), right);
      me().state().messages->packet_in_parts(1, apart.head(), apart.payload());
      EXPECT_EQ(heard, 0) << size - right << " bytes of payload";
    }
  }
}

// Nothing outside the segments is written, and all operations
// end. A sanitizer also checks that nothing outside is read.
TEST_F(HostilePeer, OfRandomArgumentsDoesNoHarm) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::vector<std::byte> own(20'000);
  const auto there = pieces(GlobalPtr<std::byte>{1, 0}, Strided(4, {{300, 16}}));
  std::vector<Event> events;
  events.push_back(put_nb(me(), GlobalPtr<std::byte>{1, 0}, own));
  events.push_back(get_nb(me(), own, GlobalPtr<std::byte>{1, 0}));
  events.push_back(put_nb(me(), there, contiguous(std::as_const(own).data(), 1200)));
  events.push_back(get_nb(me(), contiguous(own.data(), 1200), there));
  const auto live = tokens();
  std::vector<std::byte> body;
  for (int i = 0; i < 20'000; ++i) {
    const auto& handler = test::kLayersHandlers[random() % test::kLayersHandlers.size()];
    body.resize(random() % 200);
    // Small numbers are more often valid than large ones.
    for (std::size_t at = 0; at < body.size(); ++at)
      body[at] = static_cast<std::byte>(random() % 4 == 0 ? random() : at % 4 == 0 ? random() % 16 : 0);
    if (body.size() >= 8 && random() % 2 == 0) std::memcpy(body.data(), &live[random() % live.size()], 8);
    say(test::packet_for(handler, body, static_cast<std::uint16_t>(random())));
    if (i % 64 == 0) me().progress();
  }
  me().state().peer_lost(1);
  for (Event& event : events) EXPECT_TRUE(event.done());
  EXPECT_LE(me().state().messages->credits_left(1), me().state().messages->credits_per_peer());
}

}  // namespace
}  // namespace aqueduct::am
