#pragma once

#include "conduits/ofi/peers.hpp"
#include "conduits/ofi/provider.hpp"
#include "core/clock.hpp"

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

namespace aqueduct::conduits::ofi {

class Messages;

/// Asks the targets of transfers to keep polling while the transfers last (decision 36).
///
/// With manual progress the target's polls carry puts and gets out, but its completion queue does not show them: a rank
/// that waits for something else would take naps of 100 us between its polls. So an initiator sends its targets a hint
/// from time to time, as far as there is room for one.
class PollHints {
 public:
  PollHints(const Provider& provider, Peers& peers, Rank me, core::EndpointClock clock)
      : peers_(peers),
        me_(me),
        clock_(clock),
        needed_(!provider.auto_progress && !provider.quirks->completes_at_post) {}

  /// Called once the peers are known. Nothing is allocated after that.
  void reserve() { targets_.reserve(peers_.count()); }

  /// A put, a get or an atomic is about to be posted.
  void transfer_begins(Rank target) noexcept {
    if (needed_ && target != me_ && !std::exchange(peers_[target].is_hinted, true))
      targets_.push_back(target);
  }
  /// A peer has sent a hint.
  void arrived() noexcept { busy_until_ = clock_.now() + kBusyFor; }

  /// Counts a poll; whether `round` is due.
  bool counts_poll() noexcept { return ++polls_ % kPollsBetween == 0; }
  /// Sends the hints that are due. Returns 1 if this rank itself is to keep polling, else 0.
  int round(Messages& messages) noexcept;

 private:
  // Chosen: 64 polls take some microseconds, beside which reading the clock costs nothing. A rank with a core of its
  // own makes more polls than that before it yields, so a `round` that returns 1 comes first and keeps it from yielding.
  static constexpr std::uint32_t kPollsBetween = 64;
  // Chosen: the hint itself waits behind the bytes of a transfer on the same stream: 20 ms are 20 MB at 1 GB/s. That is
  // far longer than a rank yields by itself, and far less than a job's start takes of a core.
  static constexpr std::chrono::milliseconds kBusyFor{20};
  // Chosen: half of kBusyFor.
  static constexpr std::chrono::milliseconds kHintEvery{10};

  Peers& peers_;
  Rank me_;
  const core::EndpointClock clock_;
  const bool needed_;
  std::vector<Rank> targets_;             // of transfers since the last round, or under way
  core::Clock::time_point busy_until_{};  // of the latest hint that arrived; the epoch: none lately
  std::uint32_t polls_ = 0;
};

}  // namespace aqueduct::conduits::ofi
