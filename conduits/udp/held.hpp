#pragma once

#include "core/conduit.hpp"

#include <cstring>
#include <unordered_map>
#include <vector>

namespace aqueduct::conduits::udp {

/// What arrived while the owner of an endpoint was not polling, in order, until it does.
///
/// Bounded by what the layers above let be in flight: messages of peers and operations of the owner's; and by the number of
/// counters, as signals are added up.
class Held {
 public:
  bool empty() const noexcept { return events_.empty(); }

  void message(Rank from, core::Bytes bytes) {
    Event event{.kind = Kind::message, .peer = from, .at = bytes_.size(), .bytes = bytes.size()};
    bytes_.resize(bytes_.size() + ((bytes.size() + 7) & ~std::size_t{7}));  // the next one is aligned as well
    if (!bytes.empty()) std::memcpy(bytes_.data() + event.at, bytes.data(), bytes.size());
    events_.push_back(event);
  }
  void completed(core::Token token, Status status) {
    events_.push_back({.kind = Kind::completed, .token = token, .status = status});
  }
  /// Signals of one counter are added up: any number may come, and each takes no room of its own.
  void signalled(Rank from, Signal signal) {
    const auto [found, is_new] = signals_.try_emplace(signal.slot, events_.size());
    if (is_new) {
      events_.push_back({.kind = Kind::signalled, .peer = from, .signal = signal});
    } else {
      events_[found->second].signal.add += signal.add;
    }
  }
  void lost(Rank peer) { events_.push_back({.kind = Kind::lost, .peer = peer}); }

  void swap(Held& other) noexcept {
    events_.swap(other.events_);
    bytes_.swap(other.bytes_);
    signals_.swap(other.signals_);
  }
  /// Hands all of it over; returns how many calls that took.
  int deliver(core::Inbox& inbox) noexcept {
    signals_.clear();
    for (const Event& event : events_) {
      switch (event.kind) {
        case Kind::message: inbox.packet(event.peer, {bytes_.data() + event.at, event.bytes}); break;
        case Kind::completed: inbox.completed(event.token, event.status); break;
        case Kind::signalled: inbox.signalled(event.peer, event.signal); break;
        case Kind::lost: inbox.lost(event.peer); break;
      }
    }
    const int calls = static_cast<int>(events_.size());
    events_.clear();
    bytes_.clear();
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

  std::vector<Event> events_;
  std::vector<std::byte> bytes_;
  std::unordered_map<SignalSlot, std::size_t> signals_;  // where in events_ a counter's sum is
};

}  // namespace aqueduct::conduits::udp
