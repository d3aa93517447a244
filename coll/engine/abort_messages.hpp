#pragma once

#include <aqueduct/rank.hpp>

#include "am/layer_handlers.hpp"
#include "coll/engine/agreement_wire.hpp"
#include "coll/engine/call_description.hpp"
#include "core/endpoint_state.hpp"
#include "team/team_state.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace aqueduct::coll {

/// The messages by which a member tells the others of its call: TeamAgreement::take_news says when. One for each endpoint.
///
/// Nothing here waits. What finds no room to be sent is queued, also if there is no memory; what arrives for a team that this
/// rank has not made yet is kept. Both are bounded. What is dropped leaves a team whose members wait for one another; the stall
/// report then compares their calls (CallQuestions). The log names the first call that is dropped, and says how many were when
/// the queue is empty again.
class AbortMessages {
 public:
  /// News of another rank. It runs inside a handler. It must check that `from` is a member of the team, since a message
  /// can say anything. Returns false if this rank has no such team: the news is then kept until `take_kept`.
  using Arrived = bool (*)(void* owner, std::uint64_t team, Rank from, std::uint64_t number,
                           const CallDescription& call);

  /// `handler`: for tests, which use a number that is free.
  AbortMessages(core::EndpointState& state, Arrived receiver, void* owner,
                HandlerId handler = am::kCollAbort);
  AbortMessages(const AbortMessages&) = delete;
  AbortMessages& operator=(const AbortMessages&) = delete;

  /// Tells all other members of the team. May be called inside progress. The team may end afterwards, if `forget` is called before.
  ///
  /// Cost: a short message for each other member.
  void tell(const aqueduct::detail::TeamState& team, std::uint64_t number,
            const CallDescription& call) noexcept;

  /// Tries again to send what is queued. Returns whether there is more.
  bool advance() noexcept;
  bool busy() const noexcept { return !queue_.empty(); }

  /// This rank has made the team: delivers what has arrived for it.
  void take_kept(std::uint64_t team) noexcept;
  /// The team ends on this rank: drops what has arrived for it. What is queued is still sent, if there is room or memory for it.
  void forget(std::uint64_t team) noexcept;
  void peer_lost(Rank peer) noexcept;

  std::size_t queued() const noexcept { return queue_.size(); }
  std::size_t kept() const noexcept { return kept_.size(); }

  /// The most news that wait for room to be sent; each is 64 bytes, and 4 for each member that it has not reached.
  /// Chosen.
  static constexpr std::size_t kMostQueued = 64;
  /// The most news that are kept for teams to come: of all peers, and of one. Chosen: a peer has one for each of the
  /// teams that it has made earlier than this rank and that its program uses wrongly.
  static constexpr std::size_t kMostKept = 256;
  static constexpr std::size_t kMostKeptOfPeer = 16;

 private:
  struct Queued {
    AbortedCall news;
    std::vector<Rank> to;
    /// There was no memory for more of the list: members from the `next`-th one behind this rank on are told in turn. Null: the
    /// list has all.
    const aqueduct::detail::TeamState* rest = nullptr;
    Rank next = 1;
    Rank next_member() const noexcept;
    bool is_over() const noexcept { return to.empty() && rest == nullptr; }
  };
  struct Kept {
    AbortedCall news;
    Rank from;
  };

  bool send(Rank to, const AbortedCall& news) noexcept;
  void send_on(Queued& one) noexcept;
  bool list_rest(Queued& one) noexcept;
  void queue(Queued one) noexcept;
  void erase_told() noexcept;
  void drop(const AbortedCall& news) noexcept;
  void tell_how_many_dropped() noexcept;
  void arrived(Rank from, const AbortedCall& news) noexcept;
  void keep(Rank from, const AbortedCall& news) noexcept;

  core::EndpointState& state_;
  Arrived receiver_;
  void* owner_;
  HandlerId handler_;
  std::vector<Queued> queue_;
  std::uint64_t dropped_ = 0;  ///< since the queue was empty
  std::vector<Kept> kept_;     ///< the oldest first
};

}  // namespace aqueduct::coll
