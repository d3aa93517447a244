#pragma once

#include "coll/contributions.hpp"
#include "coll/dropped_streams.hpp"
#include "coll/engine/set_up_calls.hpp"
#include "coll/piece_stream.hpp"
#include "team/team_state.hpp"

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace aqueduct::coll {

struct BarrierState;
struct ExchangePiece;

/// The calls of a team that begin with an exchange.
enum class SetUp : std::uint8_t { none, team, segment, release, scratch, tree };

/// Set-up exchanges over the network. A peer may begin an exchange earlier than this rank. Its messages are then kept
/// until this rank begins the exchange too.
class Exchanges final : public SetUpCalls {
 public:
  explicit Exchanges(aqueduct::detail::EndpointState& state);

  /// Gives `mine` to every member and returns every member's contribution, by team index. Collective. For set-up: it
  /// allocates, so it is not fast.
  ///
  /// A member on which something has failed takes part all the same and passes `problem`. Every member then gets the
  /// first problem in team order, with the rank of that member if the problem names none. If members have made different
  /// calls, every member gets mismatch, and none takes part in a further exchange of its call; but one whose memory runs out
  /// in this very exchange does not find it, and waits.
  /// Errors: the members' problems; mismatch; peer_lost, no_memory, too_large; in_handler and closed (the team has ended), on
  ///         this member only: nothing happened. If memory runs out in the middle, some members may have succeeded: see `agree`.
  /// Cost:   2 (P - 1) messages among P members: up a tree, and down it. Where ranks share processors, the work of all
  ///         counts, not the number of rounds. Each member receives every contribution once.
  Result<Contributions> exchange(aqueduct::detail::TeamState& team, SetUp call,
                                 std::span<const std::byte> mine, Status problem = {}) noexcept;
  /// As above, for members that have no team yet: `team` only names the ranks, and `exchanges` counts the exchanges
  /// under its id. Also for a further exchange of a call.
  Result<Contributions> exchange(aqueduct::detail::TeamState& team, std::uint64_t& exchanges,
                                 std::span<const std::byte> mine, Status problem = {}) noexcept;

  /// Tells whether all members have succeeded so far: every member gets ok, or every member gets the same failure, the
  /// first one in team order (or mismatch, if members are in `exchange`). The callers then keep or undo what they have begun. A
  /// member takes the memory for the answer before it says anything itself, so it cannot be the only one that fails.
  Status agree(aqueduct::detail::TeamState& team, Status mine) noexcept;

  /// The most bytes of one member's contribution. Chosen: the keys of several rails are far smaller.
  static constexpr std::size_t kMostOfOne = std::size_t{64} << 10;
  /// The most messages of a peer that are kept for exchanges that this rank has not begun. Chosen: a peer takes part in
  /// one exchange at a time, of two rounds; the rest is for leftovers of exchanges that a lost member has ended. Beyond
  /// it the oldest gives way.
  static constexpr std::uint16_t kMostStreamsOfPeer = 256;

  /// In teams of up to this many members, all but the first are its children in the tree. Measured (decision 109): with 64
  /// ranks on two processors such a tree takes 0.7 times as long as one of radix 16.
  static constexpr Rank kFlat = 64;
  /// The radix of the tree of larger teams. Chosen: the first member sends each of its children what all have given.
  static constexpr std::uint32_t kRadix = 16;

  std::uint64_t under_way(std::uint64_t team) const noexcept override;
  std::uint64_t begun(std::uint64_t team) const noexcept override;
  bool give_up(std::uint64_t team, std::uint64_t number, Status why) noexcept override;
  bool finishing() const noexcept override;

  /// The team has ended on this rank: nothing of it will be waited for.
  void leave(std::uint64_t team) noexcept { forget(team, std::uint64_t(-1)); }

  /// The number of messages that are kept for exchanges to come.
  std::size_t kept() const noexcept { return streams_.size(); }

 private:
  /// Which exchange of a call it is.
  enum class Turn : std::uint8_t { first, later };

  /// What one member has sent in one round.
  struct Stream {
    PieceStream pieces;
    bool agrees = false;      ///< it has sent no bytes, as it is in `agree`
    Status problem;           ///< the sender has failed, or has sent a wrong message
    std::uint64_t begun = 0;  ///< when the first piece came, counted in streams
    bool is_over() const noexcept { return pieces.whole() || agrees || !problem; }
  };

  /// Names a round of an exchange.
  struct RoundId {
    aqueduct::detail::TeamState& team;
    std::uint64_t number;
    std::uint32_t round;
  };
  /// Fills `all` with what the members have given, their problems included. Errors: those of the transport, or a loss.
  Status gather(aqueduct::detail::TeamState& team, std::uint64_t number, Contributions& all,
                std::span<const std::byte> mine, Status problem, SetUp call) noexcept;
  /// Ok if all members have made the same call; otherwise this one has no further exchange.
  Status same_call(aqueduct::detail::TeamState& team, const Contributions& all) noexcept;
  void take(Rank from, const ExchangePiece& piece, core::Bytes payload) noexcept;
  void keep(Rank from, const ExchangePiece& piece, core::Bytes payload);
  /// As gather, for `agree`. Returns the first problem.
  Status gather_problems(aqueduct::detail::TeamState& team, std::uint64_t number, Status mine) noexcept;
  Stream& stream_of(const StreamKey& key);
  Status send(const RoundId& id, Rank to, core::Bytes stream, Status problem) noexcept;
  /// Tells a member of a problem, or that all is well here.
  Status tell(const RoundId& id, Rank to, Status problem) noexcept;
  /// Waits for what a member sends in a round, and returns it. Errors: a loss, no_memory.
  Result<Stream*> wait_for(const RoundId& id, Rank from) noexcept;
  /// The bytes that a member has sent. None: it is in `agree`, so it gives nothing.
  Status receive(const RoundId& id, Rank from, Blob& out) noexcept;
  /// Returns what the other end has given to `tell`. Errors: also mismatch, if it is in `exchange`.
  Status hear(const RoundId& id, Rank from) noexcept;
  /// Whether the team is broken here, and a call of it begins. Then this member was in an operation of the team where others were
  /// in an exchange that they give up, and the call comes after it.
  static bool comes_after(Turn turn, const BarrierState* barrier) noexcept;
  std::uint64_t number_of(Turn turn, BarrierState* barrier, std::uint64_t& exchanges) noexcept;
  /// This member's call is the one that was given up. It has no further exchange. The member's next operation of the team ends
  /// at once: the others are in another one, so it would wait for them in vain, or let it end well on some of them.
  static void leave_given_up(BarrierState& barrier) noexcept;
  Result<Contributions> exchange_as(Turn turn, aqueduct::detail::TeamState& team, std::uint64_t& exchanges,
                                    std::span<const std::byte> mine, Status problem, SetUp call) noexcept;
  /// Runs `what` with the number of a new exchange.
  template <class What>
  Status as_exchange(Turn turn, aqueduct::detail::TeamState& team, std::uint64_t& exchanges,
                     const What& what) noexcept;
  /// An exchange that this rank takes part in.
  struct UnderWay {
    std::uint64_t team;
    std::uint64_t number;
    bool comes_after;  ///< its call is not the one that is given up: it begins again, with the next number
    UnderWay* next;
    Status given_up{};  ///< why nothing is waited for any more; ok: it goes on
  };
  bool is_under_way(std::uint64_t team, std::uint64_t number) const noexcept {
    return find(team, number) != nullptr;
  }
  UnderWay* find(std::uint64_t team, std::uint64_t number) const noexcept;
  /// Requires: it is under way. Then this member says nothing more in it: the news of the member that has found it tells all members.
  bool is_given_up(std::uint64_t team, std::uint64_t number) const noexcept {
    return !find(team, number)->given_up;
  }
  /// Whether nobody will wait for it, because the exchange is over.
  bool is_late(const ExchangePiece& piece) const noexcept;
  /// Drops the oldest message of the sender that is for no exchange under way: there are too many of them.
  void drop_one_of(Rank sender) noexcept;
  /// Drops the messages of an exchange that is over, and of earlier ones of the team.
  void forget(std::uint64_t team, std::uint64_t number) noexcept;
  /// For the stall report: what this rank waits for.
  std::string waits_for(const RoundId& id, Rank from) const;

  aqueduct::detail::EndpointState& state_;
  std::map<StreamKey, Stream> streams_;
  std::vector<std::uint16_t> streams_of_;  ///< [sender]
  std::uint64_t begun_ = 0;
  UnderWay* under_way_ = nullptr;
  DroppedStreams dropped_;
};

}  // namespace aqueduct::coll
