#pragma once

#include "coll/model/replay_event.hpp"

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace aqueduct::coll {

/// What a watcher must know of messages over links beside what their port sees: when a message entered the network, which a late
/// head does not tell, and the bytes of all its packets.
class WatchedMessages {
 public:
  struct Message {
    Picoseconds entered = 0;
    std::uint64_t bytes = 0;
  };

  explicit WatchedMessages(Rank ranks) : sending_(ranks) {}

  /// A message or a packet of one that entered the network at `entered`; its own time is that at which it reaches the port. Requires:
  /// in the order of entering. So packets of one sender's messages do not mix.
  void route(const ReplayEvent& packet, Picoseconds entered) {
    Sending& sending = sending_[packet.from];
    if (!std::exchange(sending.under_way, true)) sending.message = {entered, 0};
    sending.message.bytes += packet.carried();
    if (packet.kind == ReplayEvent::Kind::part) return;
    sending.under_way = false;
    flying_.emplace(key_of(packet), sending.message);
  }
  /// The message whose last packet a port takes. Of those with one key the first one: convention 4.
  Message take(const ReplayEvent& packet) {
    const auto found = flying_.lower_bound(key_of(packet));
    const Message message = found->second;
    flying_.erase(found);
    return message;
  }

 private:
  struct Sending {
    Message message;
    bool under_way = false;
  };
  using Key = std::tuple<Picoseconds, Rank, Rank>;
  static Key key_of(const ReplayEvent& packet) { return {packet.time, packet.from, packet.rank}; }

  std::vector<Sending> sending_;        // [rank]
  std::multimap<Key, Message> flying_;  // by the time at the port, the sender and the receiver
};

}  // namespace aqueduct::coll
