#include "conduits/udp/carrier/faulty_carrier.hpp"
#include "conduits/udp/tests/fed_carrier.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

namespace aqueduct::conduits::udp {
namespace {

constexpr std::size_t kBytes = 100;

/// A faulty carrier in virtual time, fed with numbered datagrams.
class Line {
 public:
  explicit Line(const FaultPlan& plan, std::uint64_t stream = 0) {
    auto below = std::make_unique<FedCarrier>();
    below_ = below.get();
    carrier_ = std::make_unique<FaultyCarrier>(
        std::move(below), plan, [this] { return now_; }, stream);
  }

  FaultyCarrier& carrier() { return *carrier_; }
  Time now() const { return now_; }
  /// Feeds a datagram whose first bytes are its number.
  void feed(std::uint64_t number, std::size_t bytes = kBytes) {
    std::vector<std::byte> datagram(bytes);
    std::memcpy(datagram.data(), &number, sizeof number);
    below_->feed(datagram, bytes);
  }
  /// The datagrams that arrive now.
  std::vector<std::vector<std::byte>> receive() {
    std::vector<std::vector<std::byte>> got;
    for (const Incoming& one : carrier_->receive(64)) {
      EXPECT_EQ(one.segment, one.bytes.size());
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(one.bytes.data()) % 64, 0u);
      got.emplace_back(one.bytes.begin(), one.bytes.end());
    }
    return got;
  }
  void at(Time now) { now_ = now; }

  struct Arrival {
    std::uint64_t number = 0;
    Time delay = 0;
    bool operator==(const Arrival&) const = default;
  };
  /// Feeds `count` datagrams, one every `gap`; returns what arrived when. Receives only at the carrier's deadlines.
  std::vector<Arrival> run(std::uint64_t count, Time gap, std::size_t bytes = kBytes) {
    std::vector<Arrival> arrivals;
    for (std::uint64_t next = 0; next < count || carrier_->deadline() != kNever;) {
      const Time feeds = next < count ? static_cast<Time>(next) * gap : kNever;
      now_ = std::max(now_, std::min(feeds, carrier_->deadline()));
      if (now_ == feeds) feed(next++, bytes);
      for (const auto& datagram : receive()) {
        std::uint64_t number = 0;
        std::memcpy(&number, datagram.data(), sizeof number);
        // Unsigned arithmetic: a corrupted number may be anything, so the delay may overflow.
        const std::uint64_t fed = number * static_cast<std::uint64_t>(gap);
        arrivals.push_back({number, static_cast<Time>(static_cast<std::uint64_t>(now_) - fed)});
      }
    }
    return arrivals;
  }

 private:
  Time now_ = 0;
  FedCarrier* below_ = nullptr;
  std::unique_ptr<FaultyCarrier> carrier_;
};

std::vector<Line::Arrival> run(const char* plan, std::uint64_t count, std::uint64_t stream = 0) {
  return Line(parse_fault_plan(plan).plan, stream).run(count, 10 * kMicrosecond);
}

TEST(UdpFaultyCarrier, WithoutAPlanDoesNothing) {
  const auto arrivals = run("", 1000);
  ASSERT_EQ(arrivals.size(), 1000u);
  for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_EQ(arrivals[i], (Line::Arrival{i, 0}));
}

TEST(UdpFaultyCarrier, TakesCoalescedDatagramsApart) {
  auto below = std::make_unique<FedCarrier>();
  std::vector<std::byte> bytes(250);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  below->feed(bytes, 100);
  FaultyCarrier carrier(
      std::move(below), FaultPlan{}, [] { return Time{0}; }, 0);
  const auto got = carrier.receive(1);
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[0].bytes.size(), 100u);
  EXPECT_EQ(got[2].bytes.size(), 50u);
  EXPECT_EQ(got[2].bytes[49], std::byte{249});
  EXPECT_TRUE(carrier.receive(1).empty());
}

TEST(UdpFaultyCarrier, LosesItsShare) {
  EXPECT_NEAR(static_cast<double>(run("loss=10%", 20000).size()), 18000, 250);  // 6 sigma: 255
  EXPECT_TRUE(run("loss=100%", 1000).empty());
}

TEST(UdpFaultyCarrier, DelaysAll) {
  for (const auto& arrival : run("delay=1ms", 1000)) EXPECT_EQ(arrival.delay, kMillisecond);
}

TEST(UdpFaultyCarrier, VariesTheDelayEvenly) {
  double sum = 0;
  Time least = kNever, most = 0;
  const auto arrivals = run("delay=1ms,jitter=0.5ms", 20000);
  ASSERT_EQ(arrivals.size(), 20000u);
  for (const auto& arrival : arrivals) {
    sum += static_cast<double>(arrival.delay);
    least = std::min(least, arrival.delay);
    most = std::max(most, arrival.delay);
  }
  EXPECT_NEAR(sum / 20000, 1e6, 15e3);
  EXPECT_GE(least, 500 * kMicrosecond);
  EXPECT_LE(least, 510 * kMicrosecond);
  EXPECT_LE(most, 1500 * kMicrosecond);
  EXPECT_GE(most, 1490 * kMicrosecond);
}

TEST(UdpFaultyCarrier, LetsLaterOnesOvertake) {
  const auto arrivals = run("reorder=25%,hold=100us", 20000);
  ASSERT_EQ(arrivals.size(), 20000u);
  int late = 0;
  std::uint64_t highest = 0;
  for (const auto& arrival : arrivals) {
    EXPECT_TRUE(arrival.delay == 0 || arrival.delay == 100 * kMicrosecond);
    if (arrival.number < highest) ++late;
    highest = std::max(highest, arrival.number);
  }
  EXPECT_NEAR(late, 5000, 400);
}

TEST(UdpFaultyCarrier, Duplicates) {
  std::map<std::uint64_t, int> copies;
  for (const auto& arrival : run("duplicate=5%", 20000)) ++copies[arrival.number];
  int twice = 0;
  for (const auto& [number, count] : copies) {
    EXPECT_LE(count, 2);
    if (count == 2) ++twice;
  }
  EXPECT_EQ(copies.size(), 20000u);
  EXPECT_NEAR(twice, 1000, 185);
}

TEST(UdpFaultyCarrier, FlipsOneToThreeBitsNearTheFront) {
  Line line(parse_fault_plan("corrupt=25%").plan);
  int corrupted = 0;
  for (int i = 0; i < 4000; ++i) {
    line.feed(0);
    const auto got = line.receive();
    ASSERT_EQ(got.size(), 1u);
    int bits = 0;
    for (std::size_t at = 0; at < kBytes; ++at) {
      const int here = std::popcount(std::to_integer<unsigned>(got[0][at]));
      bits += here;
      EXPECT_TRUE(here == 0 || at < 48) << at;
    }
    EXPECT_LE(bits, 3);
    if (bits != 0) ++corrupted;
  }
  EXPECT_NEAR(corrupted, 1000, 165);
  EXPECT_EQ(line.carrier().faults().corrupted, static_cast<std::uint64_t>(corrupted));
}

TEST(UdpFaultyCarrier, SwallowsWhatIsTooLong) {
  Line line(parse_fault_plan("mtu=1400").plan);
  line.feed(1, 1400);
  EXPECT_EQ(line.receive().size(), 1u);
  line.feed(2, 1401);
  EXPECT_EQ(line.receive().size(), 0u);
  EXPECT_EQ(line.carrier().faults().too_long, 1u);
}

TEST(UdpFaultyCarrier, LetsThroughNoMoreThanItsRate) {
  FaultPlan plan;
  plan.rate = 1e6;  // 1000-byte datagrams: one a millisecond
  plan.queue = 10'000;
  Line line(plan);
  const auto arrivals = line.run(2000, kMillisecond / 2, 1000);  // twice the rate, for a second
  EXPECT_NEAR(static_cast<double>(arrivals.size()), 1010, 2);
  for (const auto& arrival : arrivals) EXPECT_LE(arrival.delay, 10 * kMillisecond);
  EXPECT_EQ(line.carrier().faults().over_rate + arrivals.size(), 2000u);
}

TEST(UdpFaultyCarrier, DoesNotQueueBelowItsRate) {
  FaultPlan plan;
  plan.rate = 1e6;
  Line line(plan);
  const auto arrivals = line.run(100, 2 * kMillisecond, 1000);
  ASSERT_EQ(arrivals.size(), 100u);
  for (const auto& arrival : arrivals) EXPECT_EQ(arrival.delay, kMillisecond);  // its own transmission time
}

TEST(UdpFaultyCarrier, RepeatsUnderTheSameSeed) {
  const char* plan = "loss=5%,delay=1ms,jitter=0.5ms,reorder=25%,duplicate=5%,corrupt=1%,seed=3";
  const auto once = run(plan, 2000);
  EXPECT_EQ(once, run(plan, 2000));
  EXPECT_NE(once, run(plan, 2000, /*stream=*/1));
  EXPECT_NE(once, run("loss=5%,delay=1ms,jitter=0.5ms,reorder=25%,duplicate=5%,corrupt=1%,seed=4", 2000));
}

TEST(UdpFaultyCarrier, SaysWhenToLookAgain) {
  Line line(parse_fault_plan("delay=1ms").plan);
  EXPECT_EQ(line.carrier().deadline(), kNever);
  line.feed(0);
  EXPECT_TRUE(line.receive().empty());
  EXPECT_EQ(line.carrier().deadline(), kMillisecond);
  line.at(kMillisecond - 1);
  EXPECT_TRUE(line.receive().empty());
  line.at(kMillisecond);
  EXPECT_EQ(line.receive().size(), 1u);
  EXPECT_EQ(line.carrier().deadline(), kNever);
}

TEST(UdpFaultyCarrier, HasBoundedMemory) {
  Line line(parse_fault_plan("delay=1s").plan);
  const std::uint64_t room = DelayedDatagrams::kMostBytes / 2048;
  for (std::uint64_t i = 0; i < room + 10; ++i) {
    line.feed(i);
    EXPECT_TRUE(line.receive().empty());
  }
  EXPECT_EQ(line.carrier().faults().no_memory, 10u);
  line.at(kSecond);
  std::size_t got = 0;
  for (std::size_t more = 1; more != 0; got += more) more = line.receive().size();
  EXPECT_EQ(got, room);
  line.feed(0);  // memory is reused
  EXPECT_TRUE(line.receive().empty());
  EXPECT_EQ(line.carrier().faults().no_memory, 10u);
}

TEST(UdpFaultyCarrier, SendsUntouched) {
  Line line(parse_fault_plan("loss=100%").plan);
  const Address to = *Address::parse("127.0.0.1:1");
  const Outgoing outgoing{.to = &to, .pieces = {}, .bytes = 10, .segment = 10};
  EXPECT_EQ(line.carrier().send({&outgoing, 1}), 1u);
  EXPECT_EQ(line.carrier().counters().sent_bytes, 10u);
}

}  // namespace
}  // namespace aqueduct::conduits::udp
