#pragma once

#include "conduits/udp/carrier/time.hpp"
#include "conduits/udp/protocol/congestion.hpp"
#include "conduits/udp/protocol/rtt.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <queue>
#include <random>
#include <vector>

namespace aqueduct::conduits::udp::connection_tests {

/// A bottleneck that all flows share: a connection with a queue, and a return path without a queue.
struct PathShape {
  double rate = 125e6;              ///< bytes per second
  Time delay = kMillisecond;        ///< round trip with empty queues
  std::uint64_t queue = 1'000'000;  ///< capacity of the queue in bytes; packets that do not fit are dropped
  double loss = 0;                  ///< probability that a packet is lost before the queue
};

struct FlowShape {
  std::size_t packet = 1472;
  std::size_t burst = 65'000;
  Time starts = 0;
  std::uint64_t seed = 1;
};

/// Senders with Congestion and RoundTrip over one bottleneck, in virtual time. Packets are not retransmitted: each flow
/// always has other bytes to send, so as many bytes arrive as a reliable protocol would deliver.
class SimulatedPath {
 public:
  struct Flow {
    FlowShape shape;
    Congestion congestion;
    RoundTrip rtt{10 * kMillisecond, 100 * kMillisecond};
    std::uint64_t delivered = 0, lost = 0, timeouts = 0;  ///< bytes, bytes, count
    std::uint64_t in_flight = 0;
    std::uint64_t budget = UINT64_MAX;  ///< bytes that the application has to send

    explicit Flow(const FlowShape& of) : shape(of), congestion(of.packet, of.burst, of.seed) {}

   private:
    friend class SimulatedPath;
    struct Packet {
      std::uint64_t number;
      Time sent_at;
      RateSnapshot snapshot;
    };
    std::deque<Packet> packets;  ///< unacknowledged, oldest first
    std::uint64_t next = 0;
    Time may_send = 0;  ///< pacing
    Time last_news = 0;
    Time wakes = kNever;
  };

  explicit SimulatedPath(const PathShape& shape, std::uint64_t seed = 1) : shape_(shape), dice_(seed) {}

  /// Flows live as long as the path.
  Flow& add(const FlowShape& shape) {
    flows_.push_back(std::make_unique<Flow>(shape));
    flows_.back()->last_news = shape.starts;
    wake(flows_.size() - 1, shape.starts);
    return *flows_.back();
  }
  PathShape& shape() { return shape_; }
  Time now() const { return now_; }
  std::uint64_t longest_queue() const { return longest_queue_; }
  void forget_longest_queue() { longest_queue_ = 0; }

  /// Gives more bytes to a flow whose budget is used up.
  void give(Flow& flow, std::uint64_t bytes) {
    flow.budget += bytes;
    for (std::size_t i = 0; i < flows_.size(); ++i) {
      if (flows_[i].get() == &flow) wake(i, now_);
    }
  }

  void run_until(Time end) {
    while (!events_.empty() && events_.top().at <= end) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.at;
      Flow& flow = *flows_[event.flow];
      if (event.arrives) {
        arrive(flow, event.number);
      } else {
        if (flow.wakes != event.at) continue;  // the timer was set anew
        flow.wakes = kNever;
        expire(flow);
      }
      transmit(event.flow);
    }
    now_ = end;
  }

 private:
  struct Event {
    Time at;
    std::uint64_t order;  ///< events at the same time happen in the order of creation
    std::size_t flow;
    std::uint64_t number;
    bool arrives;  ///< the acknowledgement of `number` arrives; else a timer expires
    bool operator<(const Event& other) const { return at != other.at ? at > other.at : order > other.order; }
  };

  void wake(std::size_t index, Time at) {
    Flow& flow = *flows_[index];
    if (at >= flow.wakes) return;
    flow.wakes = at;
    events_.push({at, order_++, index, 0, false});
  }

  void arrive(Flow& flow, std::uint64_t number) {
    if (flow.packets.empty() || number < flow.packets.front().number) return;  // counted as lost already
    // One queue keeps the order, so packets that left earlier are lost.
    std::uint64_t lost = 0;
    for (; flow.packets.front().number < number; flow.packets.pop_front()) lost += flow.shape.packet;
    const auto packet = flow.packets.front();
    flow.packets.pop_front();
    flow.in_flight -= lost + flow.shape.packet;
    flow.lost += lost;
    flow.delivered += flow.shape.packet;
    flow.last_news = now_;
    flow.rtt.sample(now_ - packet.sent_at, now_);
    flow.rtt.recovered();
    flow.congestion.acknowledged(now_, flow.shape.packet, packet.sent_at, packet.snapshot);
    flow.congestion.acknowledged_round(now_, now_ - packet.sent_at, flow.rtt.least(), flow.in_flight, lost);
  }

  void expire(Flow& flow) {
    if (flow.packets.empty() || now_ - flow.last_news < flow.rtt.timeout()) return;
    flow.lost += flow.in_flight;
    ++flow.timeouts;
    flow.packets.clear();
    flow.in_flight = 0;
    flow.last_news = now_;
    flow.rtt.back_off();
    flow.congestion.timed_out(now_);
  }

  void transmit(std::size_t index) {
    Flow& flow = *flows_[index];
    const std::size_t bytes = flow.shape.packet;
    const auto room = [&] { return flow.in_flight + bytes <= flow.congestion.window(); };
    while (room() && flow.budget >= bytes && now_ >= flow.may_send) {
      std::size_t sent = 0;
      const std::size_t quantum = flow.congestion.quantum();
      for (; room() && flow.budget >= bytes && sent + bytes <= quantum; sent += bytes) send(index);
      flow.may_send = now_ + static_cast<Time>(static_cast<double>(sent) * 1e9 / flow.congestion.rate());
    }
    if (room() && flow.budget < bytes) flow.congestion.application_limited(flow.in_flight);
    if (room() && flow.budget >= bytes) wake(index, flow.may_send);
    if (!flow.packets.empty()) wake(index, std::max(flow.last_news + flow.rtt.timeout(), now_));
  }

  void send(std::size_t index) {
    Flow& flow = *flows_[index];
    const std::size_t bytes = flow.shape.packet;
    if (flow.packets.empty()) flow.last_news = now_;
    const std::uint64_t number = flow.next++;
    flow.packets.push_back({number, now_, flow.congestion.sent(now_, bytes, flow.in_flight)});
    flow.in_flight += bytes;
    if (flow.budget != UINT64_MAX) flow.budget -= bytes;
    if (static_cast<double>(dice_() >> 11) * 0x1p-53 < shape_.loss) return;
    const Time waits = std::max<Time>(free_at_ - now_, 0);
    const auto queued = static_cast<std::uint64_t>(static_cast<double>(waits) * 1e-9 * shape_.rate);
    if (queued + bytes > shape_.queue) return;
    longest_queue_ = std::max(longest_queue_, queued + bytes);
    free_at_ = now_ + waits + static_cast<Time>(static_cast<double>(bytes) * 1e9 / shape_.rate);
    events_.push({free_at_ + shape_.delay, order_++, index, number, true});
  }

  PathShape shape_;
  std::mt19937_64 dice_;
  std::vector<std::unique_ptr<Flow>> flows_;
  std::priority_queue<Event> events_;
  Time now_ = 0;
  Time free_at_ = 0;
  std::uint64_t order_ = 0;
  std::uint64_t longest_queue_ = 0;
};

}  // namespace aqueduct::conduits::udp::connection_tests
