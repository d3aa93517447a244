#pragma once

#include "conduits/ibv/bounced_transfers.hpp"
#include "conduits/ibv/connections.hpp"
#include "conduits/ibv/rails.hpp"
#include "conduits/ibv/remote_access.hpp"
#include "conduits/ibv/striped_transfers.hpp"

#include <cstdint>
#include <optional>

namespace aqueduct::conduits::ibv {

/// Striped transfers: puts and gets that are cut into shares, one for each rail, and end when all shares have ended.
///
/// If a share fails on a rail, it goes by the first port, and the rail is not used with that peer again. Other errors
/// then show on the first port, and are handled as for any transfer.
class Striping {
 public:
  Striping(const Environment& env, Losses& losses, const Memory& memory, Requests& requests,
           RemoteAccess& access, Connections& connections, BouncedTransfers& bounces, Rails& rails)
      : env_(env),
        losses_(losses),
        memory_(memory),
        requests_(requests),
        access_(access),
        connections_(connections),
        bounced_(bounces),
        rails_(rails) {}

  /// There are rails: from now on transfers of at least two shares are striped.
  void open() {
    most_whole_ = 2 * env_.options.rail_bytes - 1;
    transfers_.open();
  }
  /// The longest transfer that is never striped, in bytes.
  std::size_t most_whole() const noexcept { return most_whole_; }

  /// Starts a striped transfer. Nothing: the caller must use the first port.
  std::optional<core::Post> post(Rank peer, std::uint64_t key, std::uint64_t offset,
                                 core::MutableBytes buffer, ibv_wr_opcode opcode, core::Token token) noexcept;
  /// Takes completions from the rails, and posts the shares that wait. Returns how many calls it made to the inbox.
  /// Sets `more` if completions may be left.
  int poll(core::Inbox& inbox, bool& more) noexcept {
    if (!transfers_.any()) [[likely]]
      return 0;
    const int calls = take_completions(inbox, more);
    return calls + post_waiting(inbox);
  }
  /// The first part of `poll`: posts nothing, and so reads none of the callers' memory.
  int take_completions(core::Inbox& inbox, bool& more) noexcept;
  /// A share that went by the first port has ended.
  int end(core::Token share, const Status& status, core::Inbox& inbox) noexcept {
    Share* const found = transfers_.find(share);
    return found != nullptr ? end_share(*found, status, inbox) : 0;
  }
  /// Ends all transfers with a lost peer. Requires: its queue pair on the first port is destroyed.
  int end_all_with(Rank peer, core::Inbox& inbox) noexcept;
  /// Takes the asynchronous events of the rails' devices.
  void take_events() noexcept;

  /// Whether shares wait for room; whether rails have some.
  bool any_waits() const noexcept { return transfers_.any_share(Share::State::waits); }
  bool any_by_rail() const noexcept { return transfers_.any_share(Share::State::by_rail); }

 private:
  core::Post begin_share(StripedTransfer& transfer, Share& share) noexcept;
  std::optional<core::Post> begin_by_rail(StripedTransfer& transfer, Share& share) noexcept;
  void give_back(Share& share) noexcept;
  int end_share(Share& share, Status status, core::Inbox& inbox) noexcept;
  int post_waiting(core::Inbox& inbox) noexcept;

  void leave_rail(Rail& rail, Rank peer, const char* why) noexcept;
  void leave_rail(Rail& rail, const char* why) noexcept;
  void take_events(Rail& rail) noexcept;

  const Environment& env_;
  Losses& losses_;
  const Memory& memory_;
  Requests& requests_;
  RemoteAccess& access_;
  Connections& connections_;
  BouncedTransfers& bounced_;
  Rails& rails_;
  StripedTransfers transfers_;
  std::size_t most_whole_ = SIZE_MAX;
  std::size_t turn_ = 0;  // which rail gets the next share
};

}  // namespace aqueduct::conduits::ibv
