#pragma once

#include "coll/model/calendar.hpp"
#include "coll/model/large_pages.hpp"
#include "coll/model/replay.hpp"
#include "coll/model/replay_event.hpp"
#include "coll/model/watched_messages.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace aqueduct::coll {

/// The ports of all members and the messages between them: conventions 2 to 4 of loggp.hpp.
///
/// Messages wait in *windows* of the least latency of the machine: no message takes less, so within a window what happens
/// at one rank cannot change what happens at another. A window may be done rank by rank, in any order of ranks, each in the order of its
/// own times. Only links are shared: messages that enter the network in a window are routed when all ranks have done it,
/// in the order of their times.
class Ports {
 public:
  using Event = ReplayEvent;

  Ports(const Machine& machine, const ReplayOptions& options, Rank ranks);
  /// All ports are free, and no message is under way.
  void begin();

  const LogGP& between(Rank a, Rank b, std::uint64_t bytes) const noexcept {
    return only_ != nullptr ? *only_ : machine_.between(a, b, bytes);
  }
  /// Convention 2: gives a message to a port. `head`: what arrives, but for its time. Returns when the source is free.
  Picoseconds hand_over(Rank from, Picoseconds at, std::uint64_t bytes, Event head) {
    Port& port = ports_[from];
    const LogGP& link = between(from, head.rank, bytes);
    const Picoseconds entered = std::max(at, port.sends);
    const Picoseconds left = entered + link.bytes_time(bytes);
    port.sends = left + link.gap;
    ++messages_;
    too_much_ |= __builtin_add_overflow(bytes_, bytes, &bytes_) || left >= kMostTime;
    if (has_hosts_ && machine_.host_of(from) != machine_.host_of(head.rank)) {
      ++messages_between_hosts_;
      bytes_between_hosts_ += bytes;
    }
    head.from = from;
    if (options_.links != nullptr) {
      enter(head, entered, bytes, link);
    } else {
      head.time = entered + link.latency;
      heads_.push(head);
    }
    return left;
  }
  /// Convention 4: a port takes a head. Returns when all bytes are in place.
  Picoseconds take(const Event& head) {
    const LogGP& link = between(head.from, head.rank, head.carried());
    Picoseconds& free = ports_[head.rank].takes;
    const Picoseconds in_place = std::max(head.time, free) + link.bytes_time(head.carried());
    free = in_place + (head.kind == Event::Kind::part ? 0 : link.gap);
    too_much_ |= in_place >= kMostTime;
    if (options_.watcher != nullptr) watch(head, in_place, link);
    return in_place;
  }

  /// When a port will have taken all heads so far: no later one is in place before.
  Picoseconds takes(Rank rank) const noexcept { return ports_[rank].takes; }

  const void* touched(Rank rank) const noexcept { return &ports_[rank]; }

  /// The earliest window in which something happens, or a message enters the network; Calendar::kNone if there is none.
  std::uint64_t first_window() { return std::min(heads_.first(), entries_.first()); }
  /// What happens at ranks. Others than messages may join it, in this window or later ones.
  Calendar<Event>& heads() noexcept { return heads_; }
  std::uint64_t window_of(Picoseconds time) const noexcept { return time >> shift_; }
  Picoseconds end_of(std::uint64_t window) const noexcept { return (window + 1) << shift_; }
  /// Sends the messages that have entered the network in this window over its links.
  void route(std::uint64_t window);

  /// Whether a time or a sum has come near the limit of 64 bits (kMostTime): what follows may be wrong.
  bool too_much() const noexcept { return too_much_; }
  std::uint64_t messages() const noexcept { return messages_; }
  std::uint64_t bytes() const noexcept { return bytes_; }
  std::uint64_t messages_between_hosts() const noexcept { return messages_between_hosts_; }
  std::uint64_t bytes_between_hosts() const noexcept { return bytes_between_hosts_; }

 private:
  struct Port {
    Picoseconds sends = 0;  ///< free for the next message from then on
    Picoseconds takes = 0;
  };

  void enter(Event head, Picoseconds entered, std::uint64_t bytes, const LogGP& link);
  void watch(const Event& head, Picoseconds in_place, const LogGP& link);

  const Machine& machine_;
  const ReplayOptions& options_;
  const LogGP* only_;  ///< if all messages cost the same
  bool too_much_ = false;
  bool has_hosts_;  ///< with several ranks, so messages between hosts are counted
  unsigned shift_;  ///< of windows
  LargeVector<Port> ports_;
  Calendar<Event> heads_;
  Calendar<Event> entries_;                 ///< with links: messages that enter the network
  std::optional<WatchedMessages> watched_;  ///< with links and a watcher
  std::uint64_t messages_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t messages_between_hosts_ = 0;
  std::uint64_t bytes_between_hosts_ = 0;

 public:
  /// Of memory: a port, and events of each member, on their way and among those that are done.
  static constexpr std::uint64_t kBytesOfMember =
      sizeof(Port) + 4 * sizeof(Event) + 2 * sizeof(std::uint32_t);
};

}  // namespace aqueduct::coll
