#pragma once

#include "conduits/ofi/lost_peers.hpp"
#include "conduits/ofi/peers.hpp"
#include "core/clock.hpp"

#include <chrono>

namespace aqueduct::conduits::ofi {

class Messages;

/// Finds peers that have died while this rank only waits for what they send. A provider reports a broken connection only
/// when something is sent over it, so a rank that waits sends something now and then to the peers that it has sent to or heard from.
class Pings {
 public:
  Pings(Peers& peers, LostPeers& lost, Rank me, core::EndpointClock clock)
      : peers_(peers), lost_(lost), me_(me), clock_(clock) {}

  /// Called while this rank waits. Pings some peers, if that is due.
  void go_on(Messages& messages) noexcept;

 private:
  // Chosen: with 16 peers at a time, a loss is found within a second in jobs of that size, and nobody is kept from sleeping.
  static constexpr std::chrono::seconds kEvery{1};
  static constexpr Rank kMostAtOnce = 16;
  // A provider that makes connections by itself (rxm) tries for ever to make a new one to a process that has ended, and refuses
  // everything meanwhile. Chosen: long enough for a connection that broke by accident, and is made anew.
  static constexpr std::uint8_t kMostRefused = 5;
  static constexpr std::uint64_t kMostUnderWay = 16;  // chosen: less than any provider has room for

  Peers& peers_;
  LostPeers& lost_;
  Rank me_;
  const core::EndpointClock clock_;
  core::Clock::time_point next_at_{};
  Rank next_ = 0;
};

}  // namespace aqueduct::conduits::ofi
