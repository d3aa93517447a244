#pragma once

#include "coll/schedule/brief.hpp"
#include "coll/schedule/shape.hpp"
#include "coll/schedule/step.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace aqueduct::coll {

/// Memory that an operation uses beside the user's buffers. The same on all members: the most that any of them needs.
struct Needs {
  std::uint64_t scratch = 0;  ///< bytes, in the team's scratch
  std::uint64_t temp = 0;     ///< bytes, of each member's own
  std::uint32_t counters = 0;
};

/// What an algorithm sends in all: the checker counts it, and the documents print it.
struct Cost {
  std::uint64_t messages = 0;  ///< puts, gets and signals of all members
  std::uint64_t bytes = 0;     ///< of puts and gets, of all members
  std::uint32_t depth = 0;  ///< the longest chain of messages, each begun after the arrival of the one before
  bool depth_is_limit = false;  ///< some shapes have shorter chains: `depth` is the number of rounds
};

/// A number that an algorithm takes, such as the radix of a tree.
struct Parameter {
  std::string_view name;
  std::uint32_t least = 0;
  std::uint32_t most = 0;
  std::uint32_t usual = 0;  ///< the value if nobody chooses
};

/// How an algorithm on a team's board goes (coll/shared): `none`, it is a schedule. From `mapped` on, members access each
/// other's buffers where they can; in a `stream` they never do, and bytes of any length go through the board in pieces.
enum class BoardMethod : std::uint8_t {
  none,
  flat,
  tree,
  last,
  dissemination,
  chain,
  domain_lines,
  mapped,
  two_stage,
  domains,
  large_tree,
  domain_blocks,
  tiles,
  cyclic_tiles,
  domain_tiles,
  claims,
  stream
};

/// Another way to the same steps, for a caller that follows all members of a large team: what `Algorithm::step` would compute
/// anew in many steps is computed once, into *notes* of all members.
struct Noted {
  std::size_t (*size)(const Shape&) noexcept;  ///< how many notes there are
  void (*write)(const Shape&, std::span<std::int8_t> notes) noexcept;
  Step (*step)(const Shape&, std::span<const std::int8_t> notes, Rank position, std::uint32_t lane,
               std::uint32_t index) noexcept;
  /// brief_of(step(...)).
  Brief (*brief)(const Shape&, std::span<const std::int8_t> notes, Rank position, std::uint32_t lane,
                 std::uint32_t index) noexcept;
};

/// An algorithm for one collective operation, as data.
///
/// All functions are pure: the same arguments give the same answer on every member, and nothing is allocated. `step` is
/// random access: step i of a lane is computed without the steps before it. So the engine keeps no schedule, the checker
/// follows any member, and the simulator runs tens of thousands of them.
///
/// The functions describe movement with Sync::none at both ends, where buffers may be touched at any time during the
/// operation. Passes for the other modes are added around it (schedule.hpp). An algorithm that writes into a peer's `out`
/// or reads a peer's `in` says so by `direct`: the passes for Sync::mine then include the peers. One that `reads` has signals
/// of its own for that.
struct Algorithm {
  std::string_view name;
  Operation operation;
  std::span<const Parameter> parameters;
  /// Members write to the outputs of peers. With Addresses::local these are announced first (announced.hpp).
  bool direct = false;
  /// Calls with Sync::mine at the beginning go as with Sync::all (fit.hpp): a barrier, or a tree of signals, in place of a flag
  /// from each peer that lends its buffer.
  bool behind_barrier = false;
  /// It goes by the groups of members that share a host (Shape::groups): a team without refuses it.
  bool hosts = false;
  /// It goes by the tree of the team (Shape::team_tree): a team without refuses it. Only a setting chooses it.
  bool team_tree = false;
  /// Members read from their peers: up to three messages for an edge. Only a setting chooses it.
  bool reads = false;
  /// It cuts a block into a part for each member.
  bool cuts = false;
  /// The team's conduit carries it out: a team whose conduit does not offer it refuses it (coll/tune/native_choice.hpp).
  bool native = false;
  /// Carried out on the team's board, in memory that all members have mapped, and not by steps: a team without one refuses it.
  BoardMethod board = BoardMethod::none;
  /// Null if the algorithm can do this; otherwise the reason why not, for `explain`.
  const char* (*refusal)(const Shape&) noexcept;
  Needs (*needs)(const Shape&) noexcept;
  /// The number of lanes of a member, 1 to 4.
  std::uint32_t (*lanes)(const Shape&, Rank position) noexcept;
  std::uint32_t (*length)(const Shape&, Rank position, std::uint32_t lane) noexcept;
  Step (*step)(const Shape&, Rank position, std::uint32_t lane, std::uint32_t index) noexcept;
  Cost (*cost)(const Shape&) noexcept;
  const Noted* noted = nullptr;  ///< null: its steps cost little as they are
  /// brief_of(step(...)), without what a replay does not ask for. Null: that is what it takes.
  Brief (*brief)(const Shape&, Rank position, std::uint32_t lane, std::uint32_t index) noexcept = nullptr;
  /// The program's own (added.hpp); null: the library's.
  const AddedAlgorithm* added = nullptr;
};

}  // namespace aqueduct::coll
