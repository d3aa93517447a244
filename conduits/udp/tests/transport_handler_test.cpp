// Two transports and a line between them, in simulated time: what the time that handlers take does to both ends.

#include "conduits/udp/protocol/transport.hpp"
#include "tests/support/manual_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

namespace aqueduct::conduits::udp {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

/// One end of a line that loses nothing. What it sends can be read at the other end at once.
class LosslessLine final : public Carrier {
 public:
  LosslessLine* other = nullptr;

  std::size_t most_segments() const noexcept override { return 64; }
  std::size_t most_bytes() const noexcept override { return 65'504; }
  std::size_t send(std::span<const Outgoing> batch) noexcept override {
    for (const Outgoing& one : batch) {
      Datagrams& to = other->queue_.emplace_back();
      for (const iovec& piece : one.pieces) {
        std::memcpy(to.bytes.data() + to.used, piece.iov_base, piece.iov_len);
        to.used += piece.iov_len;
      }
      to.segment = one.segment;
    }
    return batch.size();
  }
  std::span<const Incoming> receive(std::size_t) noexcept override {
    read_.swap(queue_);
    queue_.clear();
    incoming_.clear();
    for (Datagrams& one : read_) incoming_.push_back({std::span(one.bytes).first(one.used), one.segment});
    return incoming_;
  }
  int descriptor() const noexcept override { return -1; }
  const Counters& counters() const noexcept override { return counters_; }
  int last_error() const noexcept override { return 0; }

 private:
  struct Datagrams {
    alignas(64) std::array<std::byte, 65'536> bytes;
    std::size_t used = 0;
    std::size_t segment = 0;
  };
  std::deque<Datagrams> queue_;
  std::deque<Datagrams> read_;
  std::vector<Incoming> incoming_;
  Counters counters_;
};

/// One end: a transport whose handler a test sets.
class LineEnd final : public UpperLayer, public Transport::Watcher {
 public:
  LineEnd(Rank me, const support::ManualClock& clock) {
    auto line = std::make_unique<LosslessLine>();
    line_ = line.get();
    transport_.emplace(std::move(line), static_cast<UpperLayer&>(*this),
                       static_cast<Transport::Watcher&>(*this), me, 2u, 1u, clock.clock());
    std::vector<PeerAddress> peers(2);
    peers[1 - me].address = *Address::parse("127.0.0.1:9");
    transport_->set_peers(std::move(peers), me);
  }
  static void join(LineEnd& a, LineEnd& b) {
    a.line_->other = b.line_;
    b.line_->other = a.line_;
  }

  std::function<void()> handler = [] {};
  int messages = 0;

  void send(Rank to) {
    const std::array<std::byte, 8> word{};
    Connection* const connection = transport_->connection(to);
    ASSERT_NE(connection, nullptr);
    ASSERT_EQ(connection->send(word, {}).kind, core::Post::Kind::done);
    transport_->posted(*connection);
  }
  void progress() { transport_->progress(); }
  std::string text(Rank peer) const { return transport_->text(peer); }
  /// In microseconds.
  double round_trip(Rank peer) const {
    const std::string all = text(peer);
    const std::string name = "round trip ";
    const std::size_t at = all.find(name);
    return at == std::string::npos ? -1 : std::stod(all.substr(at + name.size()));
  }

 private:
  bool ready(std::size_t, std::size_t, std::size_t) noexcept override { return true; }
  void message(Rank, core::Bytes) noexcept override {
    ++messages;
    handler();
  }
  void completed(core::Token, Status) noexcept override {}
  void signalled(Rank, Signal) noexcept override {}
  core::MutableBytes segment(std::uint32_t) noexcept override { return {}; }
  void refused(Rank, const char*, std::uint32_t, std::uint64_t, std::size_t) noexcept override {}
  void lost(Rank) noexcept override { ADD_FAILURE() << "nobody is lost"; }
  void silent(Rank, bool) noexcept override {}
  void black_hole(Rank) noexcept override {}
  void attempts_exhausted(Rank) noexcept override {}
  void no_memory(Rank) noexcept override {}
  void drops_without_memory(Rank) noexcept override {}

  LosslessLine* line_ = nullptr;
  std::optional<Transport> transport_;
};

class UdpLongHandler : public testing::TestWithParam<std::chrono::milliseconds> {
 protected:
  UdpLongHandler() { LineEnd::join(a_, b_); }
  ~UdpLongHandler() override { clock_.let_run(); }

  support::ManualClock clock_;
  LineEnd a_{0, clock_};
  LineEnd b_{1, clock_};
};

// The path takes 200 us there and back; the acknowledgement of the reply is delayed by 1 ms.
TEST_P(UdpLongHandler, IsNoPartOfTheRoundTripThatAReplyMeasures) {
  a_.send(1);
  clock_.move_on(microseconds(100));
  b_.handler = [this] {
    clock_.move_on(GetParam());
    b_.send(0);
  };
  b_.progress();
  b_.progress();  // nothing has come, and it is too early to miss anything
  EXPECT_THAT(b_.text(0), HasSubstr("retransmitted 0,"));
  clock_.move_on(microseconds(100));
  a_.progress();
  ASSERT_EQ(a_.messages, 1);
  clock_.move_on(milliseconds(1));
  a_.progress();
  clock_.move_on(microseconds(100));
  b_.progress();
  EXPECT_GT(b_.round_trip(0), 0) << "no sample: " << b_.text(0);
  EXPECT_LE(b_.round_trip(0), 250);
  // An acknowledgement tells no delay beyond 16 ms. Then there is no sample yet, and 10 ms is the first guess.
  EXPECT_LE(a_.round_trip(1), GetParam() < milliseconds(16) ? 250 : 10'000);
  EXPECT_THAT(b_.text(0), HasSubstr("retransmitted 0,"));
}

// While the handler runs, the acknowledgement of what this end sent before arrives. It lies in the socket.
TEST_P(UdpLongHandler, MakesNoTimerRunOutWhoseAnswerLiesInTheSocket) {
  a_.send(1);
  b_.send(0);
  clock_.move_on(microseconds(50));
  a_.handler = [this] {
    b_.progress();
    clock_.move_on(GetParam());
    b_.progress();
  };
  a_.progress();
  ASSERT_EQ(a_.messages, 1);
  a_.progress();
  EXPECT_THAT(a_.text(1), HasSubstr("retransmitted 0,"));
}

INSTANTIATE_TEST_SUITE_P(Lasts, UdpLongHandler, testing::Values(milliseconds(10), milliseconds(10'000)),
                         [](const auto& one) { return std::to_string(one.param.count()) + "ms"; });

}  // namespace
}  // namespace aqueduct::conduits::udp
