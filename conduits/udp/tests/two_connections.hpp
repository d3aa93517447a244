#pragma once

#include "conduits/udp/protocol/connection.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <vector>

namespace aqueduct::conduits::udp::connection_tests {

using Buffer = std::vector<std::byte>;

/// Faults of one direction of the network.
struct Faults {
  double loss = 0;
  double duplicate = 0;
  double reorder = 0;  ///< probability of ten times the delay on top
  /// Probability that one protected bit flips; for unprotected ones UDP's checksum would drop the datagram.
  double corrupt = 0;
  Time delay = 50 * kMicrosecond;
  Time jitter = 0;
  std::size_t mtu = 65'507;  ///< longer datagrams do not arrive, unless IP may fragment them
};

/// A UpperLayer that records events, or calls a test's functions.
class RecordingLayer final : public UpperLayer {
 public:
  struct Completed {
    core::Token token;
    Status status;
  };
  struct Refusal {
    std::string call;
    std::uint32_t segment;
    std::uint64_t offset;
    std::size_t bytes;
  };
  std::vector<Buffer> messages;
  std::vector<Refusal> refusals;
  std::vector<Completed> completions;
  std::vector<Signal> signals;
  std::vector<Buffer> segments;
  std::function<void(core::Bytes)> on_message;
  std::function<void(core::Token, Status)> on_completed;
  std::function<void(Signal)> on_signalled;

  bool has_memory = true;
  std::size_t asked_messages = 0, asked_bytes = 0, asked_signals = 0;  ///< for the latest packet

  bool ready(std::size_t messages_more, std::size_t bytes, std::size_t signals_more) noexcept override {
    asked_messages = messages_more, asked_bytes = bytes, asked_signals = signals_more;
    return has_memory;
  }
  void message(Rank, core::Bytes bytes) noexcept override {
    if (on_message) return on_message(bytes);
    messages.emplace_back(bytes.begin(), bytes.end());
  }
  void completed(core::Token token, Status status) noexcept override {
    if (on_completed) return on_completed(token, status);
    completions.push_back({token, status});
  }
  void signalled(Rank, Signal signal) noexcept override {
    if (on_signalled) return on_signalled(signal);
    signals.push_back(signal);
  }
  core::MutableBytes segment(std::uint32_t id) noexcept override {
    return id < segments.size() ? core::MutableBytes(segments[id]) : core::MutableBytes{};
  }
  void refused(Rank, const char* call, std::uint32_t segment, std::uint64_t offset,
               std::size_t bytes) noexcept override {
    refusals.push_back({call, segment, offset, bytes});
  }
};

/// Options that both ends of a test share.
struct Agreement {
  Security security = Security::header;
  std::uint64_t seed = 1;
  std::size_t most_datagram = 65'504;
  std::size_t mtu_hint = 0;
  std::uint32_t window = 65'536;
};

/// One end.
struct Station {
  RecordingLayer upper;
  Common common;
  std::unique_ptr<Connection> connection;
  Faults out;  ///< of the direction to the other end
  Time paused_until = 0;
  Connection::Liveness life = Connection::Liveness::alive;  ///< result of the last tick
  bool lost = false;    ///< the connection has ended because of its timers
  bool closed = false;  ///< a close packet of the peer has arrived
  std::uint64_t packets_sent = 0;

  Station(Rank me, const Agreement& agreed) : common(upper, me, 77) {
    common.security = agreed.security;
    common.secret.fill(static_cast<std::byte>(me + 1));
    common.most_datagram = agreed.most_datagram;
    common.mtu_hint = agreed.mtu_hint;
    common.window = agreed.window;
  }
};

/// Two connections and a network between them, in virtual time. Time jumps to the next event.
class TwoConnections {
 public:
  static constexpr Time kBegin = 1'000 * kSecond;

  explicit TwoConnections(const Agreement& agreed = {}) : a(0, agreed), b(1, agreed), dice_(agreed.seed) {
    a.connection = std::make_unique<Connection>(a.common, 1, b.common.secret, now_);
    b.connection = std::make_unique<Connection>(b.common, 0, a.common.secret, now_);
  }

  Station a, b;
  /// Called with each datagram that leaves, and with each that is handed to a connection.
  std::function<void(const Station& from, core::Bytes datagram)> on_sent;
  std::function<void(const Station& to, core::Bytes datagram)> on_arrival;
  /// Whether to drop this datagram, in addition to the faults.
  std::function<bool(const Station& from, core::Bytes datagram)> drops;
  /// Wake-ups at which there was nothing to do yet. A real endpoint would have spun.
  std::uint64_t idle_spins = 0;
  std::uint64_t batches = 0;  ///< GSO batches that left, from both ends

  Time now() const { return now_; }
  Station& other(const Station& one) { return &one == &a ? b : a; }
  void both(const Faults& faults) { a.out = b.out = faults; }

  /// Sends what may leave, as an endpoint does after a post.
  void serve(Station& station) {
    if (station.lost || now_ < station.paused_until) return;
    bool may_fragment = false;
    for (batch_.clear(); station.connection->fill(now_, batch_, may_fragment); batch_.clear())
      transmit(station, may_fragment);
  }
  void send_close(Station& station) {
    batch_.clear();
    station.connection->fill_close(now_, batch_);
    transmit(station, false);
  }
  /// The station does nothing for `length`; arriving datagrams wait.
  void pause(Station& station, Time length) { station.paused_until = now_ + length; }

  /// Hands a copy of a datagram to the station's connection.
  Connection::Verdict hand_over(Station& station, core::Bytes datagram) {
    if (datagram.size() > sizeof(Block)) return Connection::Verdict::rejected;
    if (!datagram.empty()) std::memcpy(block_->bytes, datagram.data(), datagram.size());
    const std::span<std::byte> bytes(block_->bytes, datagram.size());
    auto packet = parse_packet(bytes, station.common.security == Security::full ? Seal::kTrailer : 0);
    if (!packet) return Connection::Verdict::rejected;
    return station.connection->receive(now_, *packet, bytes);
  }

  /// Runs until `done`, or for `limit`. Returns `done()`.
  bool run(Time limit, const std::function<bool()>& done) {
    const Time end = now_ + limit;
    serve(a);
    serve(b);
    while (!done()) {
      const Time next = std::min({arrival(), wakes(a), wakes(b)});
      if (next > end) {
        now_ = end;
        return done();
      }
      now_ = std::max(now_, next);
      take_arrivals();
      for (Station* station : {&a, &b}) {
        if (wakes(*station) <= now_) wake(*station);
      }
    }
    return true;
  }
  void run(Time length) {
    run(length, [] { return false; });
  }

 private:
  struct Flying {
    Time at;
    std::uint64_t order;
    Station* to;
    std::shared_ptr<Buffer> bytes;
    bool operator<(const Flying& other) const { return at != other.at ? at > other.at : order > other.order; }
  };
  struct Block {
    alignas(64) std::byte bytes[65'536];
  };

  Time arrival() const { return flying_.empty() ? kNever : flying_.top().at; }
  Time wakes(const Station& station) const {
    return station.lost ? kNever : std::max(station.connection->deadline(), station.paused_until);
  }

  void wake(Station& station) {
    const std::uint64_t before = station.packets_sent;
    station.life = station.connection->tick(now_);
    if (station.life != Connection::Liveness::alive) {
      station.lost = true;
      station.connection->fail({ErrorCode::peer_lost, station.connection->peer()});
      return;
    }
    serve(station);
    batch_.clear();
    if (station.connection->fill_ping(now_, batch_)) transmit(station, false);
    if (station.packets_sent == before && station.connection->deadline() <= now_) {
      ++idle_spins;
      now_ += kMicrosecond;  // otherwise this loop would never end
    }
  }

  void take_arrivals() {
    while (arrival() <= now_) {
      const Flying flying = flying_.top();
      flying_.pop();
      Station& to = *flying.to;
      if (now_ < to.paused_until) {
        flying_.push({to.paused_until, flying.order, &to, flying.bytes});
        continue;
      }
      if (to.lost) continue;
      if (to.paused_until != 0) {  // as an endpoint does after it was away itself
        to.connection->discount_pause(now_, now_ - std::min(now_, to.connection->heard_at()));
        to.paused_until = 0;
      }
      if (on_arrival) on_arrival(to, *flying.bytes);
      if (hand_over(to, *flying.bytes) == Connection::Verdict::closed) to.closed = true;
      serve(to);
    }
  }

  bool chance(double probability) {
    return probability > 0 && static_cast<double>(dice_() >> 11) * 0x1p-53 < probability;
  }

  void transmit(Station& from, bool may_fragment) {
    const Address nowhere;
    const Outgoing out = batch_.outgoing(nowhere, may_fragment);
    Buffer all;
    ++batches;
    for (const iovec& piece : out.pieces) {
      const auto* at = static_cast<const std::byte*>(piece.iov_base);
      all.insert(all.end(), at, at + piece.iov_len);
    }
    for (std::size_t at = 0; at < all.size(); at += out.segment) {
      const auto bytes = core::Bytes(all).subspan(at, std::min(out.segment, all.size() - at));
      ++from.packets_sent;
      if (on_sent) on_sent(from, bytes);
      if (bytes.size() > from.out.mtu && !may_fragment) continue;
      if (drops && drops(from, bytes)) continue;
      fly(from, bytes);
      if (chance(from.out.duplicate)) fly(from, bytes);
    }
  }

  void fly(Station& from, core::Bytes bytes) {
    const Faults& faults = from.out;
    if (chance(faults.loss)) return;
    auto copy = std::make_shared<Buffer>(bytes.begin(), bytes.end());
    if (chance(faults.corrupt) && !corrupt(from, *copy)) return;
    Time takes = faults.delay;
    if (faults.jitter != 0) takes += static_cast<Time>(dice_() % static_cast<std::uint64_t>(faults.jitter));
    if (chance(faults.reorder)) takes += 10 * faults.delay;
    flying_.push({now_ + takes, order_++, &other(from), std::move(copy)});
  }

  /// Flips a protected bit. False: there is none, so the datagram is dropped.
  bool corrupt(const Station& from, Buffer& bytes) {
    std::size_t covered = 0;
    if (from.common.security == Security::full) covered = bytes.size();
    if (from.common.security == Security::header) {
      PacketHeader header;
      std::memcpy(&header, bytes.data(), sizeof header);
      covered = sizeof header + header.frames;
    }
    if (covered == 0) return false;
    bytes[dice_() % covered] ^= static_cast<std::byte>(1u << dice_() % 8);
    return true;
  }

  Time now_ = kBegin;
  std::mt19937_64 dice_;
  std::uint64_t order_ = 0;
  std::priority_queue<Flying> flying_;
  GsoBatch batch_;
  std::unique_ptr<Block> block_ = std::make_unique<Block>();
};

}  // namespace aqueduct::conduits::udp::connection_tests
