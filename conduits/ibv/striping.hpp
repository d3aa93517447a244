#pragma once

#include "conduits/ibv/bounced_transfers.hpp"
#include "conduits/ibv/connections.hpp"
#include "conduits/ibv/rails.hpp"
#include "conduits/ibv/remote_access.hpp"
#include "conduits/ibv/striped_transfers.hpp"

#include <cstdint>
#include <optional>

namespace aqueduct::conduits::ibv {

/// Large transfers over several rails: each is cut into shares, one for each rail, and ends when all of them have.
///
/// A share that a rail does not carry goes by the first port, and the rail is not used with that peer any more. So whatever
/// else is wrong shows there, and is handled as for any other transfer.
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

  /// There are rails: transfers of two shares and more are cut.
  void open() {
    most_whole_ = 2 * env_.options.rail_bytes - 1;
    transfers_.open();
  }
  /// Longer ones may be cut.
  std::size_t most_whole() const noexcept { return most_whole_; }

  /// Begins a transfer. Nothing: it goes by the first port alone.
  std::optional<core::Post> post(Rank peer, std::uint64_t key, std::uint64_t offset,
                                 core::MutableBytes buffer, ibv_wr_opcode opcode, core::Token token) noexcept;
  /// Takes what has ended on the rails, and posts what had no room. Returns how many calls it made to the inbox. `more` becomes
  /// true if there may be other completions.
  int poll(core::Inbox& inbox, bool& more) noexcept {
    if (!transfers_.any()) [[likely]]
      return 0;
    return poll_rails(inbox, more);
  }
  /// A share that went by the first port has ended.
  int end(core::Token share, const Status& status, core::Inbox& inbox) noexcept {
    Share* const found = transfers_.find(share);
    return found != nullptr ? end_share(*found, status, inbox) : 0;
  }
  /// The peer is lost. Its shares on the first port have ended with its queue pair.
  int end_all_with(Rank peer, core::Inbox& inbox) noexcept;
  /// Looks at what the rails' devices report.
  void take_events() noexcept;

  /// Whether shares wait for room, or for a rail.
  bool any_waits() const noexcept { return transfers_.any_share(Share::State::waits); }
  bool any_by_rail() const noexcept { return transfers_.any_share(Share::State::by_rail); }

 private:
  core::Post begin_share(StripedTransfer& transfer, Share& share) noexcept;
  std::optional<core::Post> begin_by_rail(StripedTransfer& transfer, Share& share) noexcept;
  void give_back(Share& share) noexcept;
  int end_share(Share& share, Status status, core::Inbox& inbox) noexcept;
  int poll_rails(core::Inbox& inbox, bool& more) noexcept;

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
  std::size_t turn_ = 0;  // of the rails, to be dealt the next share
};

}  // namespace aqueduct::conduits::ibv
