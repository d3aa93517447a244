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

/// What one rail carries of a large transfer.
struct Share {
  enum class State : std::uint8_t {
    none,
    waits,    ///< for room: it goes in one of the next polls
    by_rail,  ///< a rail's queue pair has it
    by_first  ///< it is a flight of the first port
  };

  std::uint64_t id = 0;  ///< of each posting another one, so that what comes late is known for that
  std::uint64_t offset = 0;
  core::MutableBytes buffer;         ///< of a put only read
  Registration* borrowed = nullptr;  ///< of the buffer, on the rail
  Rail* rail = nullptr;              ///< null: the first port
  std::uint32_t rail_key = 0;        ///< the peer's segment, as that rail knows it
  State state = State::none;
};

/// A large transfer that is dealt over several rails. It ends, once, when all its shares have.
struct StripedTransfer {
  core::Token token = 0;
  std::uint64_t key = 0;  ///< handle of the peer's segment
  Rank peer = 0;
  std::uint32_t shares_left = 0;  ///< shares that have not ended; 0: the place is free
  ibv_wr_opcode opcode = IBV_WR_RDMA_WRITE;
  Status status{};  ///< of the first share that failed
  std::array<Share, kMostRails> shares;
};

/// All that one endpoint has under way: as many as the rails' queues have room for, so those are never too short.
class StripedTransfers {
 public:
  static constexpr std::uint32_t kMost = 32;

  /// Before the first `begin`: an endpoint with one port needs no places.
  void open() { places_.resize(kMost); }

  /// A place for one; null: all are taken.
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
  /// A share is about to be posted: its new id.
  std::uint64_t next_id(const StripedTransfer& transfer, const Share& share) noexcept {
    const auto transfer_at = static_cast<std::uint64_t>(&transfer - places_.data());
    const auto share_at = static_cast<std::uint64_t>(&share - transfer.shares.data());
    return ++serial_ * kShares + transfer_at * kMostRails + share_at;
  }
  StripedTransfer& transfer_of(std::uint64_t id) noexcept { return places_[id % kShares / kMostRails]; }
  /// Null: that posting has been given up since.
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
