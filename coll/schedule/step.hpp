#pragma once

#include <aqueduct/rank.hpp>

#include <cstdint>

namespace aqueduct::coll {

/// Memory that a step reads or writes.
enum class Space : std::uint8_t {
  none,
  in,       ///< the member's input buffer
  out,      ///< the member's output buffer
  scratch,  ///< the operation's part of the team's scratch: at the same offset on all members
  temp,     ///< memory of this member alone, which no peer writes
  // Of an operation whose members tell one another where their outputs are (announced.hpp). Each member decides by itself
  // where peers are to put what is for its output: there, if peers reach its output, otherwise in its scratch.
  landed,  ///< bytes that peers have put: at Step::with in the output, or at this place in scratch. Only as `from`
  where,  ///< the address of such bytes. Only as `from` of a put, of kAnnouncementBytes bytes
  told,   ///< at the peer, behind the address that the peer has put to Step::slot. Only as `to` of a put
};

/// Bytes in a space: `runs` pieces of Step::bytes each, `pitch` apart.
struct Place {
  Space space = Space::none;
  std::uint64_t offset = 0;
  std::uint64_t pitch = 0;  ///< ignored if the step has one run; of a copy it may be `backwards`

  friend bool operator==(const Place&, const Place&) = default;
};

/// The pitch of runs each of which lies this distance *before* the one before it.
constexpr std::uint64_t backwards(std::uint64_t pitch) noexcept { return ~pitch + 1; }

/// Numbers a counter of an operation on one member. Counters begin at 0 and only rise. Peers raise them after the bytes
/// that they announce; the member itself raises those that count its own completions.
using Counter = std::uint16_t;
inline constexpr Counter kNoCounter = 0xffff;

/// The length of an address as members tell it to one another.
inline constexpr std::uint64_t kAnnouncementBytes = 16;

/// One step of a lane.
///
/// A lane runs its steps in order. A step begins when the step before it has begun and `wait_for` of this member is at
/// least `wait_until`, which is all that is ever added to that counter: two messages of one peer may arrive in either
/// order, so a wait for less would not say which of them have arrived. A copy or reduction is over before the next step of its lane begins. A put or get goes on: its
/// source may be overwritten, or its bytes read, when `done` has been raised.
struct Step {
  enum class Kind : std::uint8_t {
    nothing,  ///< only waits, and raises `done`
    put,      ///< writes `from` to the peer's `to`, then adds `add` to the peer's counter `raise`
    get,      ///< reads the peer's `from` into `to`
    signal,   ///< adds `add` to the peer's counter `raise`
    copy,     ///< copies `from` to `to`, on this member
    reduce,   ///< to = from ∘ with, by elements, on this member; `to` may be `from` or `with`
    native,   ///< the whole operation, by the conduit: this member's part of it. Goes on like a put
    tell,     ///< this lane touches the user's buffers no more. Without this step: when the lane ends
  };
  Kind kind = Kind::nothing;
  Rank peer = kNoRank;  ///< position in the team; of put, get and signal; never this member
  Place from;
  Place with;  ///< of reduce: the right operand; of `landed` and `where`: the place in the output
  Place to;
  std::uint64_t bytes = 0;  ///< of one run
  std::uint64_t runs = 1;
  /// Where an address stands: with `told` in this member's scratch, with `where` in its temporary memory, from which it is put.
  std::uint64_t slot = 0;
  Counter wait_for = kNoCounter;
  Counter raise = kNoCounter;
  Counter done =
      kNoCounter;  ///< raised by 1 on this member when the step's own effect is over (`nothing`: at once)
  std::uint16_t add = 1;
  std::uint32_t wait_until = 0;  ///< all that is ever added to that counter

  friend bool operator==(const Step&, const Step&) = default;
};

}  // namespace aqueduct::coll
