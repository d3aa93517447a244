#pragma once

#include "core/conduit.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
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
    return has_room(now_.events, events) && has_room(signals_, signals) && has_room(now_.bytes, bytes)
               ? true
               : grow(events, signals, bytes);
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

  /// Delivers all events; returns how many. Events that arrive during delivery wait for the next `deliver`. Empty:
  /// there is no memory for those, so nothing was delivered, and later events must be deferred as well.
  std::optional<int> deliver(core::Inbox& inbox) noexcept {
    if (!keep_room()) return std::nullopt;
    std::swap(now_, delivering_);
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

  template <class T>
  static bool has_room(const std::vector<T>& in, std::size_t more) noexcept {
    return in.capacity() - in.size() >= more;
  }
  template <class T>
  static void make_room(std::vector<T>& in, std::size_t more) {
    if (!has_room(in, more)) in.reserve(std::max(2 * in.capacity(), in.size() + more));
  }
  bool grow(std::size_t events, std::size_t signals, std::size_t bytes) noexcept try {
    make_room(now_.events, events);
    make_room(now_.bytes, bytes);
    make_room(signals_, signals);
    return true;
  } catch (const std::exception&) {
    return false;
  }

  /// Gives the other buffer the same capacity, so that room promised by `reserve` exists after the swap too.
  bool keep_room() noexcept try {
    delivering_.events.reserve(now_.events.capacity());
    delivering_.bytes.reserve(now_.bytes.capacity());
    return true;
  } catch (const std::exception&) {
    return false;
  }

  Buffers now_;
  Buffers delivering_;
  std::vector<std::pair<SignalSlot, std::size_t>> signals_;  // sorted: counter, index of its event
};

}  // namespace aqueduct::conduits::udp
