#pragma once

#include "conduits/ibv/outstanding_requests.hpp"
#include "conduits/ibv/wire.hpp"
#include "core/conduit.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace aqueduct::conduits::ibv {

class Rail;

/// The part of a striped transfer that one rail carries.
struct Share {
  enum class State : std::uint8_t {
    none,
    waits,    ///< for room: one of the next polls posts it
    by_rail,  ///< posted on a rail
    by_first  ///< posted on the first port
  };

  std::uint64_t id = 0;  ///< unique for each post, so that stale completions can be recognised
  std::uint64_t offset = 0;
  core::MutableBytes buffer;         ///< in a put only read
  Registration* borrowed = nullptr;  ///< registration of the buffer on the rail
  Rail* rail = nullptr;              ///< null: the first port
  std::uint32_t rail_key = 0;        ///< remote key of the peer's segment on that rail
  State state = State::none;
};

/// A large transfer that is cut into shares, one for each rail. It ends when all its shares have ended.
struct StripedTransfer {
  core::Token token = 0;
  std::uint64_t key = 0;  ///< handle of the peer's segment
  Rank peer = 0;
  std::uint32_t shares_left = 0;  ///< shares that have not ended; 0: this entry is free
  ibv_wr_opcode opcode = IBV_WR_RDMA_WRITE;
  Status status{};  ///< of the first share that failed
  std::array<Share, kMostRails> shares;
};

/// All striped transfers of one endpoint. There are no more than a rail's queue has places, so that every share finds
/// room there.
class StripedTransfers {
 public:
  static constexpr std::uint32_t kMost = 32;

  /// Requires: called before the first `begin`. An endpoint with one port does without the memory.
  void open() { places_.resize(kMost); }

  /// A free entry; null: there is none.
  StripedTransfer* begin(Rank peer, std::uint64_t key, ibv_wr_opcode opcode, core::Token token) noexcept {
    const auto free = std::ranges::find(places_, 0u, &StripedTransfer::shares_left);
    if (free == places_.end()) return nullptr;
    *free = {};
    free->token = token;
    free->key = key;
    free->peer = peer;
    free->opcode = opcode;
    return &*free;
  }
  /// A new id for a share that is about to be posted.
  std::uint64_t next_id(const StripedTransfer& transfer, const Share& share) noexcept {
    const auto transfer_at = static_cast<std::uint64_t>(&transfer - places_.data());
    const auto share_at = static_cast<std::uint64_t>(&share - transfer.shares.data());
    return ++serial_ * kShares + transfer_at * kMostRails + share_at;
  }
  StripedTransfer& transfer_of(std::uint64_t id) noexcept { return places_[id % kShares / kMostRails]; }
  /// The share with this id. Null: the id is stale, since the share was posted again or has ended.
  Share* find(std::uint64_t id) noexcept {
    Share& share = transfer_of(id).shares[id % kMostRails];
    return share.id == id && share.state != Share::State::none ? &share : nullptr;
  }

  std::span<StripedTransfer> all() noexcept { return places_; }
  bool any() const noexcept { return under_way_ != 0; }
  void began() noexcept { ++under_way_; }
  void ended() noexcept { --under_way_; }
  bool any_share(Share::State state) const noexcept {
    return any() && std::ranges::any_of(places_, [&](const StripedTransfer& transfer) {
             return transfer.shares_left > 0 &&
                    std::ranges::find(transfer.shares, state, &Share::state) != transfer.shares.end();
           });
  }

 private:
  static constexpr std::uint64_t kShares = std::uint64_t{kMost} * kMostRails;

  std::vector<StripedTransfer> places_;
  std::uint64_t serial_ = 0;
  std::uint32_t under_way_ = 0;
};

}  // namespace aqueduct::conduits::ibv
