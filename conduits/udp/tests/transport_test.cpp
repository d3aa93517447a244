// What several connections share: the socket, its send buffer, the timers. In simulated time: a machine that takes the
// processor away for a while changes nothing.

#include "conduits/loop/tests/allocation_count.hpp"
#include "conduits/udp/protocol/transport.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <optional>
#include <vector>

namespace aqueduct::conduits::udp {
namespace {

/// A clock that stands still, but for what each look at it adds.
class StandingClock {
 public:
  void passes(Time time) noexcept { now_ += time; }
  void each_look_adds(Time time) noexcept { per_look_ = time; }
  Time now() const noexcept { return time_of(as_clock()); }
  core::EndpointClock as_clock() const noexcept { return {tell, this}; }

 private:
  static core::Clock::time_point tell(const void* clock) noexcept {
    const auto& self = *static_cast<const StandingClock*>(clock);
    self.now_ += self.per_look_;
    return core::Clock::time_point(std::chrono::nanoseconds(self.now_));
  }

  mutable Time now_ = kSecond;
  Time per_look_ = 0;
};

/// A socket that, on request, always has unrelated datagrams to read, or has no room to send.
class OddCarrier final : public Carrier {
 public:
  std::size_t most_segments() const noexcept override { return 64; }
  std::size_t most_bytes() const noexcept override { return 65'504; }
  std::size_t send(std::span<const Outgoing> batch) noexcept override {
    if (!has_room || (refusals != 0 && refusals-- != 0)) return 0;
    sent += batch.size();
    return batch.size();
  }
  std::span<const Incoming> receive(std::size_t most) noexcept override {
    incoming_.assign(floods ? most : 0, Incoming{garbage_, garbage_.size()});
    return incoming_;
  }
  int descriptor() const noexcept override { return -1; }
  const Counters& counters() const noexcept override { return counters_; }
  int last_error() const noexcept override { return 0; }

  bool floods = false;
  bool has_room = true;
  int refusals = 0;  // the next `refusals` sends find no room
  std::size_t sent = 0;

 private:
  std::array<std::byte, 64> garbage_{};
  std::vector<Incoming> incoming_;
  Counters counters_;
};

class UdpTransport : public testing::Test, private UpperLayer, private Transport::Watcher {
 protected:
  UdpTransport() {
    auto odd = std::make_unique<OddCarrier>();
    carrier_ = odd.get();
    transport_.emplace(std::move(odd), static_cast<UpperLayer&>(*this),
                       static_cast<Transport::Watcher&>(*this), 0u, 2u, 1u, clock_.as_clock());
    transport_->common().timeout = 50 * kMillisecond;
    transport_->common().heartbeat = 10 * kMillisecond;
    std::vector<PeerAddress> peers(2);
    peers[1].address = *Address::parse("127.0.0.1:9");
    transport_->set_peers(std::move(peers), 0);
  }
  void say_something() {
    const std::array<std::byte, 8> word{};
    Connection* connection = transport_->connection(1);
    ASSERT_NE(connection, nullptr);
    ASSERT_EQ(connection->send(word, {}).kind, core::Post::Kind::done);
    transport_->posted(*connection);
  }
  /// Time until the peer is lost; at most a second.
  Time time_until_lost() {
    clock_.each_look_adds(kMicrosecond);
    const Time began = clock_.now();
    while (lost_ == 0 && clock_.now() - began < kSecond) transport_->progress();
    return clock_.now() - began;
  }

  StandingClock clock_;
  OddCarrier* carrier_;
  std::optional<Transport> transport_;
  int lost_ = 0;
  int silent_ = 0;
  int no_memory_ = 0;
  int drops_ = 0;

 private:
  bool ready(std::size_t, std::size_t, std::size_t) noexcept override { return true; }
  void message(Rank, core::Bytes) noexcept override {}
  void completed(core::Token, Status) noexcept override {}
  void signalled(Rank, Signal) noexcept override {}
  core::MutableBytes segment(std::uint32_t) noexcept override { return {}; }
  void refused(Rank, const char*, std::uint32_t, std::uint64_t, std::size_t) noexcept override {}
  void lost(Rank) noexcept override { ++lost_; }
  void silent(Rank, bool) noexcept override { ++silent_; }
  void black_hole(Rank) noexcept override { ADD_FAILURE() << "nothing long was sent"; }
  void attempts_exhausted(Rank) noexcept override { ADD_FAILURE() << "nothing was sent so often"; }
  void no_memory(Rank) noexcept override { ++no_memory_; }
  void drops_without_memory(Rank) noexcept override { ++drops_; }
};

TEST_F(UdpTransport, LosesASilentPeerAfterTheTimeout) {
  say_something();
  EXPECT_GE(time_until_lost(), 40 * kMillisecond);
  EXPECT_EQ(lost_, 1);
  EXPECT_EQ(silent_, 1);
}

TEST_F(UdpTransport, LosesASilentPeerHoweverMuchOthersSend) {
  carrier_->floods = true;
  say_something();
  const Time took = time_until_lost();
  EXPECT_EQ(lost_, 1);
  EXPECT_GE(took, 90 * kMillisecond);  // twice the timeout: the peer's packets might be unread in the queue
}

TEST_F(UdpTransport, LooksAgainSoonAtASendBufferThatIsFull) {
  carrier_->has_room = false;
  say_something();
  EXPECT_LT(transport_->deadline() - clock_.now(), kMillisecond);
  for (int i = 0; i < 10; ++i) transport_->progress();
  EXPECT_LT(transport_->deadline() - clock_.now(), kMillisecond);
  carrier_->has_room = true;
  transport_->progress();
  EXPECT_EQ(transport_->text(1).find("send buffer is full"), std::string::npos);
}

TEST_F(UdpTransport, SaysFarewellAsSoonAsAFullSendBufferHasRoom) {
  ASSERT_NE(transport_->connection(1), nullptr);
  clock_.each_look_adds(kMicrosecond);
  carrier_->refusals = 20;
  transport_->close({});
  EXPECT_EQ(carrier_->refusals, 0);
  EXPECT_EQ(carrier_->sent, 3u);
}

TEST_F(UdpTransport, GivesUpFarewellsThatASendBufferDoesNotTake) {
  ASSERT_NE(transport_->connection(1), nullptr);
  clock_.each_look_adds(100 * kMicrosecond);
  carrier_->has_room = false;
  const Time began = clock_.now();
  transport_->close({});
  EXPECT_LT(clock_.now() - began, 2 * kSecond);
  EXPECT_EQ(carrier_->sent, 0u);
}

TEST_F(UdpTransport, MessagesOfASeriesShareThePacketOfTheNextProgress) {
  say_something();
  const std::size_t first = carrier_->sent;  // with a probe of the path
  EXPECT_GE(first, 1u) << "nothing was in flight";
  for (int i = 0; i < 10; ++i) say_something();
  EXPECT_EQ(carrier_->sent, first);
  transport_->progress();
  EXPECT_EQ(carrier_->sent, first + 1);
}

// Also if they are the rest of a series of which a full load has left.
TEST_F(UdpTransport, TheRestOfASeriesThatHasWaitedCounts) {
  for (int i = 0; i < 40; ++i) say_something();
  const std::size_t before = carrier_->sent;
  clock_.passes(200 * kMicrosecond);
  transport_->progress();
  EXPECT_EQ(carrier_->sent, before + 1);
  say_something();
  EXPECT_EQ(carrier_->sent, before + 2) << "three are in flight";
}

TEST_F(UdpTransport, MessagesLeaveAtOnceOnceOneHasWaitedForAProgramThatComputed) {
  say_something();
  const std::size_t first = carrier_->sent;
  say_something();
  EXPECT_EQ(carrier_->sent, first);
  clock_.passes(200 * kMicrosecond);
  transport_->progress();
  EXPECT_EQ(carrier_->sent, first + 1);
  say_something();
  EXPECT_EQ(carrier_->sent, first + 2);
  say_something();
  EXPECT_EQ(carrier_->sent, first + 3);
  say_something();
  EXPECT_EQ(carrier_->sent, first + 3) << "four are in flight, and nobody has answered";
}

TEST_F(UdpTransport, TellsThatThereIsNoMemoryForAConnection) {
  const Time began = clock_.now();
  {
    const loop::NoMemory none;
    ASSERT_EQ(transport_->connection(1), nullptr);
    while (!transport_->lacks_memory() && clock_.now() - began < kSecond) {
      clock_.passes(kMillisecond);
      ASSERT_EQ(transport_->connection(1), nullptr);
    }
    ASSERT_EQ(transport_->connection(1), nullptr);
    EXPECT_TRUE(transport_->lacks_memory());
    transport_->give_up_without_memory(1);
    ASSERT_EQ(transport_->connection(1), nullptr);
    EXPECT_FALSE(transport_->lacks_memory()) << "the next peer gets as long";
  }
  EXPECT_EQ(clock_.now() - began, 25 * kMillisecond);
  EXPECT_EQ(no_memory_, 1);
  EXPECT_EQ(drops_, 0);
  EXPECT_NE(transport_->text(1).find("lack of memory"), std::string::npos) << transport_->text(1);
  EXPECT_NE(transport_->connection(1), nullptr) << "there is memory again";
}

// Two short moments without memory are no long one.
TEST_F(UdpTransport, ForgetsAShortageOfMemoryThatHasPassed) {
  for (int i = 0; i < 10; ++i) {
    {
      const loop::NoMemory none;
      ASSERT_EQ(transport_->connection(1), nullptr);
      EXPECT_FALSE(transport_->lacks_memory());
    }
    clock_.passes(60 * kMillisecond);
  }
  EXPECT_EQ(no_memory_, 0);
}

TEST_F(UdpTransport, EndsAConnectionThatTheLauncherKnowsToBeGoneOnce) {
  say_something();
  transport_->forget(1);
  transport_->forget(1);
  EXPECT_EQ(lost_, 1);
  EXPECT_EQ(silent_, 0);
  EXPECT_TRUE(transport_->is_gone(1));
}

}  // namespace
}  // namespace aqueduct::conduits::udp
