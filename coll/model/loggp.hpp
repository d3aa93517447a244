#pragma once

#include <aqueduct/rank.hpp>

#include <cstdint>
#include <vector>

namespace aqueduct::coll {

// Time in models is a whole number of picoseconds, so all members of a team compute the same.
using Picoseconds = std::uint64_t;

/// 53 days. A replay in which something takes longer ends with a problem, so that nothing exceeds 64 bits.
inline constexpr Picoseconds kMostTime = Picoseconds{1} << 62;
/// That problem.
inline constexpr const char* kTooMuch =
    "its times or the sum of its bytes do not fit 64 bits; with fewer ranks or bytes they do";

/// How long a message takes between two ranks: Culler's LogP with a term for bytes.
///
/// Source: Alexandrov, Ionescu, Schauser and Scheiman, LogGP, J. Parallel Distrib. Comput. 44(1), 1997.
///
/// THE CONVENTIONS. The replay (replay.hpp), the simulator (sim/) and the conduit `sim` follow them to the picosecond.
/// n is the number of bytes of a message, of all its runs; a signal has 0.
///
/// 1. Processor. Each rank has one. It takes `overhead` (o) for each post: of a put, get or signal. A post at time t keeps it
///    busy until t + o. It executes nothing else until then. At t + o it hands the message over to the rank's port, and the
///    lane goes on. Everything else that the engine does takes no time: looks, waits, `tell`, `nothing`. Copies and
///    reductions take no time either, unless Machine says what a byte costs; then they keep the processor busy likewise.
/// 2. Sending. A port sends one message after the other, in the order in which they are handed over. A message handed over at
///    h enters the network at e = max(h, free) and keeps the port until free = e + g + n·G. Any number of messages may wait,
///    and the processor does not wait for them.
/// 3. Flight. The head of the message reaches the target's port at e + L. Requires L >= 1.
/// 4. Receiving. A port takes heads in the order of their times; of the same time, that of the lower sending rank first; of
///    one sender, in the order of their entering. It begins with a head that arrives at a at b = max(a, free), a `free` of its own
///    beside that of sending, and keeps itself until free = b + g + n·G. At b + n·G all bytes are in place and the
///    counter is raised. The target's processor has no part in it.
/// 5. Sources. The source of a put with bytes is free at e + n·G. A signal, and a put without bytes, is over at t + o.
/// 6. Gets. A get is a post whose message has 0 bytes and goes to the owner as in 1 to 4. When it is in place at the owner (4),
///    it hands n bytes over to the owner's port for sending (2), without the owner's processor. The answer flies (3) and is
///    received (4) at the member that asked. The bytes are there, and the get is over, at that b + n·G.
///    If a machine says so (Gets::reads), ranks of a host map one another's memory: the member reads n bytes itself. Its
///    processor is busy for o + L + n·G, then the get is over, and there is no message.
/// 7. Looks. A *look* goes over the lanes from 0 up; each executes steps until it has to wait for a counter. A look goes over
///    the lanes again if a step has raised a counter of the own rank at once (`done` of nothing, copy, reduce, signal, empty
///    put). If it has executed a step, another look follows at once. Otherwise the processor is idle until a
///    message raises a counter of the rank or a put or get of it is over (5, 6); then a look begins at that time. The
///    first look begins when the rank calls. What arrives before that is received as usual.
/// 8. What a look sees. A counter raised by a message is seen from the time of the raise on, also in the middle of a look.
///    `done` of puts with bytes and of gets is raised at the beginning of the first look that begins at or after their end (5, 6),
///    in the order of the ends: the engine learns of completions between looks only.
/// 9. Ties. At one time, first all ports take heads; then what is in place raises counters, and answers of gets are handed over,
///    in the order in which their requests were taken, ranks in order; what a member learns at that time (8, 11) it learns
///    in this order: gets, as ports took their answers; sources that are free, as they were posted; what has arrived, by the
///    ranks where it is. Then processors go on: hand over what they have posted, and continue. Since L >= 1 the order among
///    processors at one time cannot matter.
/// 10. Ends. A member's call ends at the end of the first look after which all its lanes have told or ended, and the member
///    has learnt that its puts and gets are over (8). A member has drained when all its lanes have ended. The time of an
///    operation is that from the first call to the last end of a call.
/// 11. Strided puts. A put of several runs is one message of n = bytes · runs (Strided::whole). The engine over a
///    network does it as Strided::pieces: a post for each run, in order, each with its own o and message of `bytes`
///    bytes; none raises a counter. The member knows that one has arrived at (its b + n·G) + L, without a port or a processor. When
///    it knows it of all, the put is over; between looks (as 8) `done` is raised if there is one, and then the
///    processor posts a signal (o, and a message of 0 bytes) that raises the peer's counter.
///    A get of several runs is a get for each run in Strided::pieces; it is over when the last one is.
///
/// 12. Shared processors. If a machine says so (Machine::cores), the R ranks of a host share its C processors: the i-th of them,
///    in the order of their slots, has processor i·C/R, rounded down. A rank needs it for its looks and its work (1). It asks for it
///    as soon as a look would execute a step, learn of a completion or end a call. The first of a processor's ranks to ask gets
///    it at once. It keeps it until a look has executed nothing; then the processor goes round: for `turn` it stays with the rank
///    that had it, then for `turn` with the next one of its ranks, and so on, as ranks that wait look and yield to one another. It is
///    given to a rank that has asked as soon as it is with that one; at one time, where it takes no time to go round or nobody has had it,
///    to the one that asked first, and of these to the first in the order of slots. All else of a time happens before. A look of such a
///    rank begins with the work of `receive` for each put, signal, piece of a put (11) and answer of a get (6) whose head has
///    reached its port since the look before.
///
/// A message between ranks of different *levels* (Machine) takes o, L, g and G from the level of its two ends; and from the
/// row of its n, if a level has several.
struct LogGP {
  Picoseconds latency = 1;   ///< L
  Picoseconds overhead = 0;  ///< o
  Picoseconds gap = 0;       ///< g
  /// G, in femtoseconds for a byte, so that a fast memory still has three digits.
  std::uint64_t femtoseconds_per_byte = 0;

  /// n·G, rounded down to whole picoseconds; at most kMostTime.
  constexpr Picoseconds bytes_time(std::uint64_t bytes) const noexcept {
    if (bytes == 0) return 0;
    const std::uint64_t rest = femtoseconds_per_byte % 1000;
    Picoseconds time = 0;
    if (__builtin_mul_overflow(bytes, femtoseconds_per_byte / 1000, &time) || time >= kMostTime)
      return kMostTime;
    time += bytes / 1000 * rest + bytes % 1000 * rest / 1000;
    return time < kMostTime ? time : kMostTime;
  }

  friend bool operator==(const LogGP&, const LogGP&) = default;
};

/// How a put of several runs goes (convention 11).
enum class Strided : std::uint8_t { whole, pieces };

/// How a get goes (convention 6).
enum class Gets : std::uint8_t { messages, reads };

/// What a schedule is replayed on: levels of ranks that are close to one another, the innermost first. Ranks a and b meet
/// at the first level whose groups of consecutive slots, `group` in each, hold both; at the last level if none does.
struct Machine {
  /// What longer messages cost: those of at least `bytes` bytes.
  struct Longer {
    std::uint64_t bytes = 0;
    LogGP link;

    friend bool operator==(const Longer&, const Longer&) = default;
  };
  struct Level {
    Rank group = 1;
    LogGP link;
    std::vector<Longer> longer = {};  ///< in rising order of `bytes`; without shared links only

    const LogGP& at(std::uint64_t bytes) const noexcept {
      const LogGP* found = &link;
      for (const Longer& row : longer) {
        if (row.bytes <= bytes) found = &row.link;
      }
      return *found;
    }
    friend bool operator==(const Level&, const Level&) = default;
  };
  std::vector<Level> levels = std::vector<Level>(1);  ///< at least one
  std::uint64_t copy_femtoseconds_per_byte = 0;
  std::uint64_t reduce_femtoseconds_per_byte = 0;
  Strided strided = Strided::whole;
  Gets gets = Gets::messages;
  Rank host = 1;            ///< how many consecutive slots share a host and its processors
  std::uint32_t cores = 0;  ///< processors of a host; 0: one for each rank
  Picoseconds receive = 0;  ///< of a processor that ranks share, for each message
  Picoseconds turn = 0;     ///< how long a processor stays with each rank that waits
  /// [rank] the slot it has on the machine, if hosts have different numbers of ranks, or neighbouring ranks are on different
  /// hosts. Empty: rank r has slot r. All differ.
  std::vector<Rank> slots = {};

  Rank slot_of(Rank rank) const noexcept { return slots.empty() ? rank : slots[rank]; }
  Rank host_of(Rank rank) const noexcept { return slot_of(rank) / host; }
  /// One more than the highest host of so many ranks.
  Rank hosts(Rank ranks) const noexcept {
    Rank last = slots.empty() ? ranks - 1 : 0;
    for (const Rank slot : slots) last = last < slot ? slot : last;
    return last / host + 1;
  }
  const LogGP& between(Rank a, Rank b, std::uint64_t bytes) const noexcept {
    const Rank slot_a = slot_of(a);
    const Rank slot_b = slot_of(b);
    for (const Level& level : levels) {
      if (slot_a / level.group == slot_b / level.group) return level.at(bytes);
    }
    return levels.back().at(bytes);
  }
  /// Whether ranks wait for processors.
  bool shares_cores() const noexcept { return cores != 0 && cores < host; }
  /// Whether all messages cost the same, but for their bytes.
  bool is_uniform() const noexcept { return levels.size() == 1 && levels.front().longer.empty(); }

  friend bool operator==(const Machine&, const Machine&) = default;
};

}  // namespace aqueduct::coll
