#pragma once

#include "conduits/ibv/environment.hpp"

#include <utility>
#include <vector>

namespace aqueduct::conduits::ibv {

/// Which peers are gone. A peer that the device or the launcher reports stays on a list until the next poll, which ends what
/// was under way to it.
class Losses {
 public:
  explicit Losses(const Environment& env);

  /// The device, or the network, says that the peer cannot be reached.
  void suspect(Rank peer, const char* why) noexcept;
  bool is_suspected(Rank peer) const noexcept;
  /// The launcher says so.
  void forget(Rank peer) noexcept;
  /// The device fails: nothing arrives or ends any more. Nobody can be reached, nor this rank itself for its own atomics.
  void give_up(const char* why) noexcept;

  bool is_broken() const noexcept { return broken_; }
  bool is_gone(Rank peer) const noexcept { return gone_[peer] != 0; }
  /// False: it was gone already.
  bool mark_gone(Rank peer) noexcept { return std::exchange(gone_[peer], std::uint8_t{1}) == 0; }
  /// True also for ranks that are not of the job.
  bool is_out_of_reach(Rank peer) const noexcept;

  /// How operations with that peer end.
  Status status_of(Rank peer) const noexcept {
    return {peer == env_.me ? ErrorCode::network_failed : ErrorCode::peer_lost, peer};
  }
  /// What to answer to a post to a peer without a connection.
  core::Post no_connection(Rank peer) const noexcept;

  /// Whether the next poll has peers to end.
  bool any() const noexcept { return !forgotten_.empty() || !suspected_.empty(); }
  /// Calls `end(peer)` for each of them, which returns how many calls it made to the inbox, and tells the inbox of those that
  /// the launcher has not reported. Returns how many calls were made in all.
  template <class End>
  int take(core::Inbox& inbox, const End& end) noexcept {
    int calls = 0;
    for (const Rank peer : taken(forgotten_)) calls += end(peer);
    for (const Rank peer : taken(suspected_)) {
      calls += end(peer);
      if (peer == env_.me) continue;
      inbox.lost(peer);  // answered by `forget`, which has nothing left to do
      ++calls;
    }
    forgotten_.reserve(gone_.size());
    suspected_.reserve(gone_.size());
    return calls;
  }

 private:
  static std::vector<Rank> taken(std::vector<Rank>& list) noexcept { return std::exchange(list, {}); }

  const Environment& env_;
  std::vector<std::uint8_t> gone_;  // by rank
  std::vector<Rank> forgotten_;     // the launcher's word
  std::vector<Rank> suspected_;     // the device's word
  bool broken_ = false;
};

}  // namespace aqueduct::conduits::ibv
