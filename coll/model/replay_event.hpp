#pragma once

#include "coll/model/loggp.hpp"
#include "coll/schedule/step.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace aqueduct::coll {

/// Whatever happens at a rank at a time.
struct ReplayEvent {
  enum class Kind : std::uint8_t {
    // Heads at a port.
    put,      ///< raises `counter`
    part,     ///< a packet that is not the last of its message
    request,  ///< of a get of `bytes` bytes
    answer,   ///< of a get
    piece,    ///< of a put in pieces: `counter` is the sender's number of it
    // What is in place.
    hand_answer,  ///< the answer of a get goes to the port
    got,          ///< the answer of a get, or of a piece of one, is here
    over,         ///< a put with bytes has left
    known,        ///< a piece has arrived at its target, `from`
    // Processors.
    wake,
    go_on,
    give_out,  ///< the rank's processor, if ranks share processors: when all else of the time has happened
  };
  Picoseconds time = 0;
  std::uint64_t bytes = 0;
  Rank rank = 0;
  Rank from = 0;
  Counter counter = kNoCounter;
  std::uint16_t add = 0;
  Kind kind = Kind::put;
  std::uint8_t call = 0;

  /// The order of conventions 9 and 12.
  int order() const noexcept {
    return kind <= Kind::piece ? 0 : kind <= Kind::known ? 1 : kind <= Kind::go_on ? 2 : 3;
  }
  bool before(const ReplayEvent& other) const noexcept {
    if (time != other.time) return time < other.time;
    if (order() != other.order()) return order() < other.order();
    if (order() == 0) return from < other.from;
    if (order() == 2) return rank < other.rank;
    if (kind != other.kind) return kind < other.kind;
    return kind == Kind::known && from < other.from;
  }
  /// The bytes on the wire.
  std::uint64_t carried() const noexcept { return kind == Kind::request ? 0 : bytes; }
};

/// In their order, and of equals as they stand.
inline void sort_events(std::span<ReplayEvent> events) {
  const auto earlier = [](const ReplayEvent& a, const ReplayEvent& b) { return a.before(b); };
  if (events.size() > 1 && !std::is_sorted(events.begin(), events.end(), earlier))
    std::stable_sort(events.begin(), events.end(), earlier);
}

}  // namespace aqueduct::coll
