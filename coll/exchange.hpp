#pragma once

#include "coll/piece_stream.hpp"
#include "team/team_state.hpp"

#include <cstddef>
#include <map>
#include <span>
#include <tuple>
#include <vector>

namespace aqueduct::coll {

struct ExchangePiece;

/// What arrives of exchanges, perhaps before this rank has begun them.
class Exchanges {
 public:
  explicit Exchanges(aqueduct::detail::EndpointState& state);

  /// Gives `mine` to every member and returns what each gave, by team index. Collective; for set-up, not for
  /// speed: it allocates.
  ///
  /// A member that has nothing to give, because something failed there, takes part all the same and passes `problem`:
  /// every member gets that then, the first in team order, with this rank if it names none.
  /// Errors: those; peer_lost, in_handler (which is said here alone, and nothing has happened), no_memory, too_large.
  ///         Where memory ends in the middle some members may have been served: see `agree`.
  /// Cost:   ceil(log2 P) rounds; everything passes each member once.
  /// Source: Bruck et al., IEEE Trans. Parallel Distrib. Syst. 8(11), 1997.
  Result<std::vector<Blob>> exchange(aqueduct::detail::TeamState& team, std::span<const std::byte> mine,
                                     Status problem = {}) noexcept;

  /// Whether all members have come so far: ok on all of them, or the same failure on all of them. What an exchange has
  /// begun is kept or undone by this.
  Status agree(aqueduct::detail::TeamState& team, Status mine) noexcept;

  /// A peer's exchange waits for no more than this, in bytes of one member; chosen: keys of several rails are far below.
  static constexpr std::size_t kMostOfOne = std::size_t{64} << 10;
  /// Messages of a peer that are kept for exchanges which this rank has not come to; chosen. A peer takes part in one at a
  /// time, of at most 32 rounds; the rest is room for what is left of those that a lost member has ended.
  static constexpr std::uint16_t kMostStreamsOfPeer = 256;

  /// How many messages are kept that nobody has asked for yet.
  std::size_t kept() const noexcept { return streams_.size(); }

 private:
  /// What one member sends in one round.
  struct Stream {
    PieceStream pieces;
    Status problem;  ///< of the sender, or of what it has sent
  };
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t, Rank>;  // team, number, round, sender
  static constexpr std::size_t kSender = 3;                                   // in a key

  /// A round of an exchange.
  struct Place {
    aqueduct::detail::TeamState& team;
    std::uint64_t number;
    std::uint32_t round;
  };
  void take(Rank from, const ExchangePiece& piece, core::Bytes payload) noexcept;
  void keep(Rank from, const ExchangePiece& piece, core::Bytes payload);
  Status send(const Place& place, Rank to, core::Bytes stream, Status problem) noexcept;
  Status receive(const Place& place, Rank from, Blob& out) noexcept;
  /// Of an exchange that is over, and of those before it, nothing is of use any more.
  void forget(const Place& place) noexcept;

  aqueduct::detail::EndpointState& state_;
  std::map<Key, Stream> streams_;
  std::vector<std::uint16_t> streams_of_;  ///< [sender]
  bool out_of_memory_ = false;  ///< a message was lost for lack of memory: who waits for it waits in vain
};

}  // namespace aqueduct::coll
