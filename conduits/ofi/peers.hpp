#pragma once

#include "conduits/ofi/fid.hpp"
#include "core/clock.hpp"
#include "core/conduit.hpp"

#include <cstdint>
#include <vector>

namespace aqueduct::conduits::ofi {

/// One peer, as this endpoint knows it.
struct Peer {
  fi_addr_t at = FI_ADDR_NOTAVAIL;  ///< in the address vector, from the first use on
  std::uint32_t in_flight = 0;      ///< outstanding requests
  bool gone = false;
  bool heard = false;                   ///< it has sent something
  bool reached = false;                 ///< the provider has taken something for it
  std::uint8_t refused_pings = 0;       ///< since then: for which the provider had no connection
  bool is_hinted = false;               ///< gets poll hints, while something is under way to it
  core::Clock::time_point next_hint{};  ///< when the next one is due
  /// For a gone peer: the time after which its outstanding requests are taken as never completing.
  core::Clock::time_point give_up_at{};
};

/// The peers' addresses. The provider learns an address at the first post to that peer.
class Peers {
 public:
  void learn(fid_av& av, std::vector<std::vector<std::byte>> addresses);
  Peer& operator[](Rank rank) noexcept { return peers_[rank]; }
  const Peer& operator[](Rank rank) const noexcept { return peers_[rank]; }
  Rank count() const noexcept { return static_cast<Rank>(peers_.size()); }

  /// Makes sure that the provider knows a peer's address. Answers 0, or the negative error with which it refuses the
  /// address.
  int reach(Rank rank) noexcept { return peers_[rank].at != FI_ADDR_NOTAVAIL ? 0 : insert(rank); }

 private:
  int insert(Rank rank) noexcept;

  fid_av* av_ = nullptr;
  std::vector<Peer> peers_;
  std::vector<std::vector<std::byte>> addresses_;
};

}  // namespace aqueduct::conduits::ofi
