#pragma once

#include "coll/schedule/schedule.hpp"
#include "coll/scratch/layout.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace aqueduct::coll {

/// A set of members of a team of at most kMostCleared.
using Members = std::uint64_t;

/// Who writes to whom in the operations of a small team: puts, and signals, which raise a counter.
///
/// A member's own schedule names those to which it writes. Those that write to it are named by the schedules of the
/// others, so the steps of all members are read once for each shape, and the answer is kept. Members are counted from
/// the root: an operation with another root is the same operation, shifted (a test holds all algorithms to that). Where it
/// is not (shifts_with_root), each root has an answer of its own, and members are counted from member 0.
///
/// Shapes that differ only in their bytes, and give every lane of every member the same length, must have the same peers
/// in all steps: bytes decide how many segments there are, not who sends them. So another number of bytes costs P
/// lengths, not all steps. A test holds all algorithms to it;
/// one that the program has added is read again.
///
/// An operation with more than kMostRead steps is not read: it counts as one in which all write to all. It sends so many
/// messages that a few clears more are nothing beside them.
///
/// The answers depend on the number of members, and for algorithms that go by hosts on which members share one. So all teams
/// that are alike in both, and have no tree of their own, may share one object (SharedSenders), and no others: shapes are compared without their groups.
class Senders {
 public:
  static constexpr std::uint64_t kMostRead = 2048;

  /// Requires: ranks <= kMostCleared. Allocates all that it will ever use.
  explicit Senders(Rank ranks);

  struct Entry {
    const Algorithm* algorithm = nullptr;
    Shape shape;                ///< with root 0, if another root only shifts the members
    std::uint64_t version = 0;  ///< which of the operations that have been here
    std::uint64_t lengths = 0;  ///< a hash of the lengths of all lanes
    /// [receiver]: those that write to it. All counted from counted_from().
    std::span<Members> rows;
  };

  /// Where a caller that keeps shapes has found one, to find it again without a hash. For one shape, with any root, of one team.
  struct Ticket {
    Entry* entry = nullptr;
    std::uint64_t version = 0;
    // For the team's scratch: which of its epochs knows the operation, with which roots.
    std::uint64_t noted_in = 0;
    Members noted_roots = 0;
  };

  /// What is known of the operation. Valid until the next call.
  /// Cost: a hash and a comparison of the shape; with other bytes than before, the lengths of all members' lanes; the
  ///       first time, a call for each step of all members.
  Entry& of(const Algorithm& algorithm, const Shape& shape) noexcept;
  /// The same, by few instructions if the ticket still holds. An empty one is filled.
  Entry& of(const Algorithm& algorithm, const Shape& shape, Ticket& ticket) noexcept {
    if (ticket.entry == nullptr || ticket.entry->version != ticket.version) {
      ticket.entry = &of(algorithm, shape);
      ticket.version = ticket.entry->version;
    }
    return *ticket.entry;
  }

  /// The member from which the members of an operation are counted.
  static Rank counted_from(const Shape& shape) noexcept { return shifts_with_root(shape) ? shape.root : 0; }
  /// A set of members counted from `root`, as positions in the team.
  Members from_root(Members members, Rank root) const noexcept {
    return root == 0 ? members : ((members << root) | (members >> (ranks_ - root))) & all_;
  }
  Members all() const noexcept { return all_; }

 private:
  static constexpr std::size_t kKept = 16;

  void learn(Entry& entry, const Algorithm& algorithm, const Shape& shape) noexcept;
  void read(const Algorithm& algorithm, const Shape& shape, std::span<Members> rows) const noexcept;

  Rank ranks_;
  Members all_;
  std::array<Entry, kKept> entries_;
  std::vector<Members> rows_;  ///< [entry][receiver]
};

/// The Senders of an endpoint's teams: one for all teams of a size whose members share hosts alike and whose trees are alike, as long as there is one.
class SharedSenders {
 public:
  /// `groups`, `tree`: null if no algorithm goes by hosts, or by a tree of the team. May throw std::bad_alloc.
  std::shared_ptr<Senders> of_team(Rank ranks, const Groups* groups, const TeamTree* tree);

 private:
  /// [the number of members, then the group of each if there are groups, and the parent of each if there is a tree]
  std::map<std::vector<Rank>, std::weak_ptr<Senders>> by_team_;
};

}  // namespace aqueduct::coll
