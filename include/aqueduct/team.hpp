#pragma once

#include <aqueduct/coll_types.hpp>
#include <aqueduct/endpoint.hpp>
#include <aqueduct/rank_list.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace aqueduct {

namespace detail {
struct TeamState;
}

/// An ordered set of ranks: the participants of a barrier or a collective.
///
/// Threads: belongs to its endpoint, and to that endpoint's thread.
class Team {
 public:
  Team(Team&&) noexcept;
  Team& operator=(Team&&) noexcept;
  ~Team();

  /// The number of members.
  Rank size() const noexcept;
  /// My index among the members.
  Rank index() const noexcept;
  /// The members' ranks in the job, in team order, listed at the first call. Empty if there is no memory for the list;
  /// `rank_of` needs none.
  std::span<const Rank> members() const noexcept;
  /// A member's rank in the job; kNoRank if the index is outside the team.
  Rank rank_of(Rank index) const noexcept;
  /// A rank's index in this team; kNoRank if it is not a member.
  Rank index_of(Rank rank) const noexcept;

  /// The members' ranks, as a list to compute with. Errors: no_memory.
  /// Cost: constant if they are at equal distances, otherwise proportional to their number.
  Result<RankList> rank_list() const noexcept;
  /// The members on this rank's host, in team order. Lost members are among them.
  ///
  /// Errors: no_memory; closed; invalid_argument (in a forked child).
  /// Cost:   no message; a look at each member.
  Result<RankList> on_my_host() const noexcept;
  /// One member of each host, in team order: of the members there, the first. All members get the same list. Its size
  /// is the number of hosts, and `create` or `split` makes a team of it. Errors and cost: as on_my_host.
  Result<RankList> host_leaders() const noexcept;
  /// Stores in `into[i]` which index in `other` the member has whose index here is `indices[i]`; kNoRank for a stranger
  /// there. An index of kNoRank gives kNoRank. `into` may be the memory of `indices`. Sends nothing.
  ///
  /// Errors: invalid_argument (the lengths differ), out_of_range (an index is outside this team). `into` is unchanged.
  Status translate(std::span<const Rank> indices, const Team& other, std::span<Rank> into) const noexcept;
  /// Compares the members of two teams. Sends nothing.
  Likeness compare(const Team& other) const noexcept;

  /// Splits the team: members with the same colour form a new team, ordered by key, then by index. Collective over this
  /// team. A member that passes no colour gets an empty optional. Keys may be negative.
  ///
  /// Errors: peer_lost, in_handler (returned to the caller only), no_memory; mismatch (a member calls another form below).
  ///         If one member gets mismatch, all do, and mostly also with no_memory. But the last step is each member's own: if
  ///         memory runs out there, that member alone gets no_memory, and all calls of the new team fail with no_memory and
  ///         its rank on those that have the team; likewise if it alone hears in time of a loss among the other members of this team.
  Result<std::optional<Team>> split(std::optional<std::uint32_t> colour, std::int64_t key);
  /// Makes a team of the listed members of this team, in the list's order. Collective over this team; the other members
  /// get an empty optional, and with an empty list all do.
  ///
  /// Shape:  the same list on every member.
  /// Errors: those of the first form; invalid_argument, with the rank (a listed rank is not in this team); mismatch, with
  ///         the rank of the first member that differs from member 0 (their lists differ, or one of them has called
  ///         another form of split, or dup). All members get the error if one does, and the team can be used afterwards.
  /// Cost:   that of the first form.
  Result<std::optional<Team>> split(const RankList& members);
  /// A second team of the same members in the same order, with barriers, collective calls and memory of its own: for a
  /// library that must not meddle with the calls of its caller. Collective over this team.
  ///
  /// Errors: those of split(members), but for strangers.
  /// Cost:   that of a split.
  Result<Team> dup();

  /// From now on the team has this tree, and the algorithm `team-tree` of broadcast, scatter, gather and reduce goes by it where
  /// a setting asks for that algorithm (AQUEDUCT_COLL_BROADCAST=team-tree). Collective over this team; waits for all members,
  /// and for this one's operations of the team. The tree is this team's alone: teams that are made of it have that of
  /// AQUEDUCT_COLL_TREE, as every new team.
  ///
  /// Shape:      the words that AQUEDUCT_COLL_TREE takes (docs/collectives/teams.md, "Trees of the team"), or the parent of each
  ///             member by index, and kNoRank for the root. "none", or no parents: the team has no tree. Members may use
  ///             different words for the same tree.
  /// Completion: all members have the tree.
  /// Lifetime:   `words` and `parents` until the call returns.
  /// Errors:     invalid_argument on all members, with the rank whose argument is wrong: the words cannot be read, or the words
  ///             or the parents do not form a tree of this team (the log says why), or a plan of the team is bound, or a
  ///             split-phase barrier is not over. mismatch on all members: a member gives another tree than member 0, or
  ///             makes another call. Also peer_lost, no_memory, and the failure that has broken the team. After an error the
  ///             team has the tree that it had. in_handler, closed: on this member only.
  /// Cost:       two set-up exchanges of the team, and 24 to 28 bytes for each member.
  Status use_tree(std::string_view words) noexcept;
  Status use_tree(std::span<const Rank> parents) noexcept;

  /// Makes a team of the given ranks, in this order. Collective over these ranks; other ranks need not know of it.
  ///
  /// The tag and the set of ranks name the team while it exists. To make two teams of the same ranks at once, the members
  /// use two tags. Members may make several teams in turn, and all of them make their common teams in the same order.
  ///
  /// Shape:      the same ranks in the same order, and the same tag, on every member.
  /// Completion: all members know of the team, and may use it.
  /// Errors:     invalid_argument (the list is empty, names a rank twice, or lacks this rank; a team of that tag and
  ///             these ranks exists here; members give the same ranks in different orders, and then all get the error),
  ///             out_of_range, peer_lost, no_memory (as for split; a member that cannot even list the ranks takes no
  ///             part), in_handler. Members that give different sets of ranks or different tags wait for each other,
  ///             because each may be about to make the other's team too. Their stall reports name the rank for which they
  ///             wait, and say if it uses a team that is unknown here.
  /// Cost:       two exchanges of 2 (P - 1) messages for P members.
  static Result<Team> create(Endpoint& ep, std::span<const Rank> members, std::uint64_t tag);
  static Result<Team> create(Endpoint& ep, const RankList& members, std::uint64_t tag);

  /// Ends the team on all members: collective over it. It returns all that the team holds, and its number on the wire is
  /// never used again. The destructor of a Team that was not ended frees this rank's memory, but a tag of `create` and a
  /// conduit's own barrier stay noted until the job ends.
  ///
  /// Requires:   no barrier of the team is in flight on this rank, and its segments have been released. Collective
  ///             operations in flight are waited for.
  /// Completion: every member has called it. Afterwards size, index and members remain, and calls that communicate
  ///             return `closed`.
  /// Errors:     invalid_argument (a barrier is in flight, or this is the team of all ranks; nothing has happened),
  ///             peer_lost and no_memory (a member is lost, or could not make the team; this rank's side ends
  ///             nevertheless), closed (it has ended), in_handler.
  /// Cost:       ceil(log2 P) rounds of one message each, for P members.
  Status end() noexcept;

  /// First half of a split-phase barrier: announces that I have arrived, and returns at once.
  ///
  /// The barrier does not complete puts. For others to see my puts after the barrier, I wait for these puts before
  /// notify.
  ///
  /// The barriers of a team, its collective calls (coll.hpp), and what makes or ends something of it (split, dup, end,
  /// use_tree, use_scratch, Segment::create and release) are one sequence: all members begin them in the same order. If one calls a barrier where another calls a broadcast, both get `mismatch`, when they exchange a message or
  /// a stall is reported (AQUEDUCT_STALL_WARN), and none of these calls of the team works any more. A conduit's own
  /// barrier, as smp has for members that share a host, is not part of it, and a team without scratch has no sequence:
  /// there the members of the wrong barrier wait for ever. No program may rely on that.
  ///
  /// Cost:   one message deep with 2 to 8 members, otherwise about log P: an all-reduce of 8 bytes; shared memory only,
  ///         with a barrier of smp.
  /// Errors: in_handler; invalid_argument if the previous notify has not been waited for; refused if kMostBarriers
  ///         barriers are in flight; no_memory without a rank; closed. Nothing has happened. no_memory with the
  ///         rank of a member that could not make the team.
  Status notify() noexcept;
  /// As notify, with a value. If two members give different values, all members get `mismatch` from `wait`. A member that
  /// gives none agrees with every value. The team can be used after such a mismatch.
  ///
  /// Cost: that of notify; the value travels in the same messages.
  Status notify(std::uint32_t value) noexcept;
  /// As notify, with a value that equals no other: all members get `mismatch` from `wait`, whatever they give. One member alone
  /// can tell all others so that something has gone wrong.
  Status disagree() noexcept;
  /// Returns whether `wait` would return at once, after at most one round of progress: every member has notified, or
  /// one is lost and the network is through with what this rank has sent it for the barrier.
  bool try_wait() noexcept;
  /// Second half: waits until every member has notified.
  ///
  /// Errors: mismatch (different values, or different calls); peer_lost, also if the member was lost before this rank's
  ///         notify; in_handler; invalid_argument without a notify; closed.
  Status wait() noexcept;
  /// The value on which the members of the last barrier of `wait` or `barrier` have agreed, also if this one gave none; nothing if
  /// nobody gave one, they differ, or the barrier failed. Holds until this member begins the team's next barrier.
  std::optional<std::uint32_t> agreed() const noexcept;
  /// A whole barrier: notify and wait. Errors: those of both.
  Status barrier() noexcept;
  Status barrier(std::uint32_t value) noexcept;

  /// Begins a barrier and returns an Event that ends once every member has begun it. Several may be in flight. Those of
  /// notify and of barrier_nb are one sequence, which all members begin in the same order.
  ///
  /// Each is announced to the others at once, though those before it have not ended, and they may end in any order. With
  /// a conduit's own barrier, and on a team without scratch, they go one after the other: then each is announced when
  /// the one before it has ended here, which takes this rank's progress.
  ///
  /// Completion: remote; like `wait`. Puts are not completed, as for notify.
  /// Errors:     mismatch, peer_lost, closed (the team ended first); of the call itself: refused (kMostBarriers are in
  ///             flight, or AQUEDUCT_OPERATIONS events are held; nothing has happened), no_memory (without a rank: likewise), in_handler,
  ///             invalid_argument (in a forked child).
  Event barrier_nb() noexcept;
  Event barrier_nb(std::uint32_t value) noexcept;
  /// The most barriers of one team in flight on a member, with that of notify. Chosen.
  static constexpr std::size_t kMostBarriers = 8;

  /// The members of this team that are not lost, as a new team in the same order. Collective over these: a member that
  /// does not know of a loss yet learns of it here. If a further member is lost meanwhile, the new team is without that
  /// one too, or already has lost it: then some members may have got the team, and others wait for them. So whenever a
  /// call on the new team returns peer_lost, call this again, on either team.
  ///
  /// Errors: those of `create`, where invalid_argument also says that an earlier call's team of the same ranks has not
  ///         ended; closed.
  Result<Team> without_lost();

  /// Says which algorithm a collective call on this team would use, and why the others would not be used: some lines of
  /// text; or why no call can be so. `bytes`: of one block, in elements of `element` bytes. It answers for buffers that
  /// only their own members know, and for operators that commute. Sends nothing.
  ///
  /// Elements that are combined as wider ones, such as Half, are asked for by their type.
  std::string explain(Collective operation, std::uint64_t bytes, std::uint32_t element = 1,
                      const CollOptions& options = {});
  std::string explain(Collective operation, std::uint64_t bytes, ElementType type,
                      const CollOptions& options = {});

  explicit Team(std::unique_ptr<detail::TeamState> state);
  detail::TeamState& state() noexcept { return *state_; }

 private:
  std::unique_ptr<detail::TeamState> state_;
};

}  // namespace aqueduct
