#pragma once

#include "conduits/ibv/environment.hpp"

#include <utility>
#include <vector>

namespace aqueduct::conduits::ibv {

/// The peers that are lost. A peer that the device or the launcher reports is queued; the next poll ends all operations
/// with it.
class Losses {
 public:
  explicit Losses(const Environment& env);

  /// The device reports that the peer cannot be reached. It is lost with the next poll.
  void suspect(Rank peer, const char* why) noexcept;
  bool is_suspected(Rank peer) const noexcept;
  /// The launcher reports that the peer is lost.
  void forget(Rank peer) noexcept;
  /// The device has failed, so nothing arrives or completes any more. All peers are suspected, and this rank too: its
  /// own atomics go through the device.
  void give_up(const char* why) noexcept;

  bool is_broken() const noexcept { return broken_; }
  bool is_gone(Rank peer) const noexcept { return gone_[peer] != 0; }
  /// Marks the peer as lost. False: it was already.
  bool mark_gone(Rank peer) noexcept { return std::exchange(gone_[peer], std::uint8_t{1}) == 0; }
  /// Whether posts to the peer must fail. True also for numbers that are no rank of the job.
  bool is_out_of_reach(Rank peer) const noexcept;

  /// The status of operations with a lost peer.
  Status status_of(Rank peer) const noexcept {
    return {peer == env_.me ? ErrorCode::network_failed : ErrorCode::peer_lost, peer};
  }
  /// The answer to a post to a peer without a connection: `retry`, or `failed` if there will be none.
  core::Post no_connection(Rank peer) const noexcept;

  /// Whether lost peers are queued for the next poll.
  bool any() const noexcept { return !forgotten_.empty() || !suspected_.empty(); }
  /// Calls `end(peer)` for each queued peer, and then Inbox::lost if the device reported it. `end` returns how many
  /// calls it made to the inbox. Returns the number of all such calls.
  template <class End>
  int take(core::Inbox& inbox, const End& end) noexcept {
    int calls = 0;
    for (const Rank peer : taken(forgotten_)) calls += end(peer);
    for (const Rank peer : taken(suspected_)) {
      calls += end(peer);
      if (peer == env_.me) continue;
      inbox.lost(peer);  // the endpoint answers with `forget`, which then does nothing
      ++calls;
    }
    return calls;
  }

 private:
  /// The ranks of a list, which is empty afterwards and has its room: no memory is needed here.
  const std::vector<Rank>& taken(std::vector<Rank>& list) noexcept {
    taken_.clear();
    taken_.swap(list);
    return taken_;
  }

  const Environment& env_;
  std::vector<std::uint8_t> gone_;  // by rank
  std::vector<Rank> forgotten_;     // reported by the launcher, until the next poll
  std::vector<Rank> suspected_;     // reported by the device, until the next poll
  std::vector<Rank> taken_;         // the list that `take` walks through
  bool broken_ = false;
};

}  // namespace aqueduct::conduits::ibv
