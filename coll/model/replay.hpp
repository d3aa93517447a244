#pragma once

#include "coll/model/loggp.hpp"
#include "coll/schedule/schedule.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace aqueduct::coll {

/// What lies between ports if messages share links. The replay asks for messages in the order of the times at which
/// they enter the network; at one time that of the lower rank first.
class Links {
 public:
  virtual ~Links() = default;
  /// A replay begins: all links are free.
  virtual void begin() = 0;
  /// So many messages are announced before they are asked for, at most.
  static constexpr std::size_t kAnnounced = 16;
  /// Announces messages that `arrival` will be asked for, in the same order, so that what is known of their links can be
  /// fetched from memory meanwhile. `part`: it is a packet, and the next one from this rank is of the same message. All packets of
  /// a message go the same way.
  virtual void announce(Rank from, Rank to, bool part);
  /// When the head of a message reaches the port of `to`. At least `entered` + the latency of `link`, which is that
  /// between the two ranks. If a link on the way is slower than a port, the head is late by so much that the last byte is right.
  virtual Picoseconds arrival(Picoseconds entered, Rank from, Rank to, std::uint64_t bytes,
                              const LogGP& link) = 0;
};

/// Is told what happens in a replay, not in the order of time. For traces.
class Watcher {
 public:
  virtual ~Watcher() = default;
  enum class What : std::uint8_t { post, copy, reduce, compute, receive };
  /// The processor of a rank is busy. `peer` and `bytes` of what it posts.
  virtual void busy(Rank rank, What what, Picoseconds begin, Picoseconds end, Rank peer,
                    std::uint64_t bytes) = 0;
  /// A message has entered the network at `from`, and is in place at `to`.
  virtual void message(Rank from, Rank to, std::uint64_t bytes, Picoseconds entered,
                       Picoseconds in_place) = 0;
};

/// Noise of an operating system: each processor stops for `length` in every `period`. When it does so first is taken by
/// chance from the rank and the seed.
struct Detours {
  Picoseconds period = 0;  ///< 0: no noise
  Picoseconds length = 0;
  std::uint64_t seed = 0;

  /// When work of `length` that begins at `begin` is over on this rank.
  Picoseconds end_of(Rank rank, Picoseconds begin, Picoseconds work) const noexcept;
};

/// One operation of a replay.
struct ReplayedCall {
  const Algorithm* algorithm = nullptr;
  Shape shape;
  std::span<const MemberBlocks> blocks{};  ///< of blocks that differ, each member's view; none: all are alike
};

struct ReplayOptions {
  /// When each member calls. Empty: all at 0.
  std::span<const Picoseconds> calls;
  /// Of several operations: whether a member calls all of them at once. Otherwise it calls each when its call before has
  /// ended and `compute` has passed.
  bool in_flight = false;
  Picoseconds compute = 0;
  Detours detours;
  Links* links = nullptr;
  /// With links: longer messages than four times this are cut into packets, so that messages share a link. 0: never.
  std::uint64_t packet = 0;
  Watcher* watcher = nullptr;
  /// Ends a replay of more messages with a problem. 0: no limit.
  std::uint64_t most_messages = 0;
};

/// Times of one member, of all its calls: from the first call to the end of the last.
struct ReplayedMember {
  Picoseconds called = 0;
  Picoseconds ended = 0;
  Picoseconds drained = 0;
  Picoseconds busy = 0;  ///< of its processor

  Picoseconds idle() const noexcept { return ended - called > busy ? ended - called - busy : 0; }
};

struct Replayed {
  Picoseconds time = 0;  ///< from the first call to the last end
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  // Those of them whose ends are on different hosts. Counted only if a host of the machine holds several ranks.
  std::uint64_t messages_between_hosts = 0;
  std::uint64_t bytes_between_hosts = 0;
  std::vector<ReplayedMember> members;
  std::string problem;  ///< empty: it has come to its end
};

/// Replays the schedules of all members of a team, with one call or several, by the conventions of loggp.hpp.
///
/// Requires:  all waits are for all that is ever added to their counter, as aqcheck proves.
/// Cost:      O(messages + steps) time, O(ranks · counters + messages in flight) memory.
/// Errors:    Replayed::problem: a schedule that waits for ever, a machine that breaks a convention, a native step.
Replayed replay(std::span<const ReplayedCall> calls, const Machine& machine,
                const ReplayOptions& options = {});
Replayed replay(const Algorithm& algorithm, const Shape& shape, const Machine& machine,
                const ReplayOptions& options = {});

/// The memory that a replay takes at least, in bytes.
std::uint64_t replay_memory(std::span<const ReplayedCall> calls);

/// Why a machine cannot be replayed on; null if it can.
const char* problem_of(const Machine& machine) noexcept;

}  // namespace aqueduct::coll
