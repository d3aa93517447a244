#pragma once

#include "core/conduit.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>
#include <vector>

namespace aqueduct::conduits::udp {

/// Events that arrived while the owner of an endpoint was not polling. Delivered in order at the next poll.
///
/// The size is bounded by what the layers above allow in flight (messages of peers, operations of the owner), and by
/// the number of counters, because signals of one counter are added up. `reserve` reserves room and may fail; after it
/// the functions that add events cannot fail.
class DeferredEvents {
 public:
  bool empty() const noexcept { return now_.events.empty(); }

  /// Reserves room for `events` more events, `signals` of which are signals, and `bytes` of messages. False: no memory.
  bool reserve(std::size_t events, std::size_t signals = 0, std::size_t bytes = 0) noexcept {
    // Written so that nothing overflows.
    const bool has_room = events <= events_room_ - now_.events.size() &&
                          bytes <= bytes_room_ - now_.bytes.size() &&
                          signals <= signals_.capacity() - signals_.size();
    return has_room || grow(events, signals, bytes);
  }
  static constexpr std::size_t aligned(std::size_t bytes) noexcept { return (bytes + 7) & ~std::size_t{7}; }

  void message(Rank from, core::Bytes bytes) noexcept {
    Event event{.kind = Kind::message, .peer = from, .at = now_.bytes.size(), .bytes = bytes.size()};
    now_.bytes.resize(now_.bytes.size() + aligned(bytes.size()));  // keeps the next message aligned
    if (!bytes.empty()) std::memcpy(now_.bytes.data() + event.at, bytes.data(), bytes.size());
    now_.events.push_back(event);
  }
  void completed(core::Token token, Status status) noexcept {
    now_.events.push_back({.kind = Kind::completed, .token = token, .status = status});
  }
  /// Signals of one counter are added up, so any number of them takes the room of one event.
  void signalled(Rank from, Signal signal) noexcept {
    const auto found =
        std::ranges::lower_bound(signals_, signal.slot, {}, &std::pair<SignalSlot, std::size_t>::first);
    if (found != signals_.end() && found->first == signal.slot) {
      now_.events[found->second].signal.add += signal.add;
      return;
    }
    signals_.insert(found, {signal.slot, now_.events.size()});
    now_.events.push_back({.kind = Kind::signalled, .peer = from, .signal = signal});
  }
  void lost(Rank peer) noexcept { now_.events.push_back({.kind = Kind::lost, .peer = peer}); }

  /// Delivers all events; returns how many. Events that arrive during delivery wait for the next `deliver`.
  int deliver(core::Inbox& inbox) noexcept {
    std::swap(now_, delivering_);
    is_delivering_ = true;
    signals_.clear();
    for (const Event& event : delivering_.events) {
      switch (event.kind) {
        case Kind::message:
          inbox.packet(event.peer, {delivering_.bytes.data() + event.at, event.bytes});
          break;
        case Kind::completed: inbox.completed(event.token, event.status); break;
        case Kind::signalled: inbox.signalled(event.peer, event.signal); break;
        case Kind::lost: inbox.lost(event.peer); break;
      }
    }
    const int calls = static_cast<int>(delivering_.events.size());
    delivering_.events.clear();
    delivering_.bytes.clear();
    is_delivering_ = false;
    take_if_larger(delivering_.events, grown_.events);
    take_if_larger(delivering_.bytes, grown_.bytes);
    return calls;
  }

 private:
  enum class Kind : std::uint8_t { message, completed, signalled, lost };
  struct Event {
    Kind kind;
    Rank peer = kNoRank;
    core::Token token = 0;
    Status status{};
    Signal signal{};
    std::size_t at = 0;
    std::size_t bytes = 0;
  };
  struct Buffers {
    std::vector<Event> events;
    std::vector<std::byte> bytes;
  };

  /// `used` of `room` are in use.
  static std::size_t enough(std::size_t room, std::size_t used, std::size_t more) noexcept {
    return more <= room - used ? room : std::max(2 * room, used + more);
  }
  /// Enlarges the buffers that `deliver` swaps, the other one first: room promised by `reserve` must exist after the swap too, and
  /// `deliver` must not fail. While events are delivered, the other buffer cannot move, so a third one takes its place then.
  bool grow(std::size_t events, std::size_t signals, std::size_t bytes) noexcept try {
    const std::size_t all_events = enough(events_room_, now_.events.size(), events);
    const std::size_t all_bytes = enough(bytes_room_, now_.bytes.size(), bytes);
    Buffers& other = is_delivering_ ? grown_ : delivering_;
    other.events.reserve(all_events);
    other.bytes.reserve(all_bytes);
    now_.events.reserve(all_events);
    now_.bytes.reserve(all_bytes);
    signals_.reserve(enough(signals_.capacity(), signals_.size(), signals));
    // Only now: if one buffer had grown and the other had not, the room would be gone after the next swap.
    events_room_ = all_events;
    bytes_room_ = all_bytes;
    return true;
  } catch (const std::exception&) {
    return false;
  }
  template <class T>
  static void take_if_larger(std::vector<T>& into, std::vector<T>& from) noexcept {
    if (from.capacity() > into.capacity()) into.swap(from);
    if (from.capacity() != 0) std::vector<T>().swap(from);
  }

  Buffers now_;
  Buffers delivering_;
  Buffers grown_;                // larger ones for the next delivery, made during this one
  std::size_t events_room_ = 0;  // each of the buffers has, or will have before it is filled
  std::size_t bytes_room_ = 0;
  bool is_delivering_ = false;
  std::vector<std::pair<SignalSlot, std::size_t>> signals_;  // sorted: counter, index of its event
};

}  // namespace aqueduct::conduits::udp
