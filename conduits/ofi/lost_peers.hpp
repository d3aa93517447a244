#pragma once

#include "conduits/ofi/local_buffers.hpp"
#include "conduits/ofi/peers.hpp"
#include "conduits/ofi/provider.hpp"
#include "conduits/ofi/requests.hpp"
#include "core/clock.hpp"
#include "core/conduit.hpp"
#include "core/log.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace aqueduct::conduits::ofi {

/// Knows which peers are lost, and ends the requests that the provider still has for them.
///
/// The launcher (`forget`) and the provider (`suspect`) report losses. The next poll takes all packets that those peers
/// have sent. Then `mark_gone` stops all posts to them, and `end_requests` ends the outstanding operations.
class LostPeers {
 public:
  LostPeers(Peers& peers, Requests& requests, LocalBuffers& local, const Provider& provider, Rank me,
            std::chrono::milliseconds give_back, core::Log& log, core::EndpointClock clock)
      : peers_(peers),
        requests_(requests),
        local_(local),
        provider_(provider),
        me_(me),
        give_back_(give_back),
        log_(log),
        clock_(clock) {}

  /// Called once the peers are known. Nothing is allocated after that.
  void reserve();

  void forget(Rank peer) noexcept;
  /// All ranks are at the end of the job: a connection that breaks from now on is that of a rank which has finished.
  void expect_ends() noexcept { ends_expected_ = true; }
  /// Logs it once for each peer.
  void suspect(Rank peer, const char* why) noexcept;
  /// The provider refuses `what` for a peer, and would refuse it again.
  void refused(Rank peer, const char* what, std::int64_t error) noexcept;
  /// The provider has failed: no peer can be reached, not even this rank itself, whose atomics go through the provider.
  /// The caller has logged why.
  void suspect_all() noexcept;
  bool is_suspected(Rank peer) const noexcept;
  /// The status with which operations on a lost peer end.
  Status status_of(Rank peer) const noexcept {
    return {peer == me_ ? ErrorCode::network_failed : ErrorCode::peer_lost, peer};
  }

  /// Whether a reported loss waits for the next poll.
  bool has_news() const noexcept { return !forgotten_.empty() || !suspected_.empty(); }
  /// Marks all reported peers as gone. Returns how many suspects there are, for `report`.
  std::size_t mark_gone() noexcept;
  /// Reports the first `count` suspects to the layers above; returns the calls made.
  int report(std::size_t count, core::Inbox& inbox) noexcept;

  /// Ends the requests of gone peers as far as their memory allows it; returns the calls made.
  int end_requests(core::Inbox& inbox) noexcept;
  /// Whether `end_requests` has something to end by now.
  bool is_due() const noexcept { return deadline_ != kNever && deadline_ <= clock_.now(); }
  /// The time from now until `end_requests` has something to end.
  std::chrono::nanoseconds within() const noexcept {
    return deadline_ == kNever ? std::chrono::nanoseconds::max() : deadline_ - clock_.now();
  }

 private:
  static constexpr auto kNever = core::Clock::time_point::max();

  bool is_known(Rank peer) const noexcept { return peers_[peer].gone || is_suspected(peer); }
  void mark_gone(Rank peer) noexcept;
  void replace(std::uint32_t count, core::Clock::time_point now) noexcept;

  Peers& peers_;
  Requests& requests_;
  LocalBuffers& local_;
  const Provider& provider_;
  Rank me_;
  std::chrono::milliseconds give_back_;
  core::Log& log_;
  const core::EndpointClock clock_;
  std::vector<Rank> forgotten_;
  std::vector<Rank> suspected_;
  bool ends_expected_ = false;
  core::Clock::time_point deadline_ = kNever;  // of the first gone peer whose requests the provider still has
};

}  // namespace aqueduct::conduits::ofi
