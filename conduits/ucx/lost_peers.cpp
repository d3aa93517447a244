#include "conduits/ucx/lost_peers.hpp"

#include <chrono>
#include <utility>

namespace aqueduct::conduits::ucx {
namespace {

// Twice the time for which a rank that leaves may still answer. UCX never again touches the memory of operations that
// it has not completed by then.
constexpr std::chrono::seconds kLostTimeout = 2 * kCloseTimeout;

}  // namespace

/// Ends the operations on a lost peer that UCX no longer works on. UCX still uses the callers' memory for the others,
/// because an answer to them may be in flight. They end when UCX completes them (finish_rest).
void LostPeers::report(Peer& peer) noexcept {
  if (peer.gone) return;
  peer.gone = true;
  const Status lost{ErrorCode::peer_lost, peer.rank};
  const bool ends_here = peers_.can_force_close(peer);
  if (ends_here) {
    // Completes all of the peer's operations in UCX, with a callback each.
    ucp_request_param_t param;
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_EP_CLOSE_FLAG_FORCE;
    const ucs_status_ptr_t answer = ucp_.ep_close_nbx(std::exchange(peer.ep, nullptr), &param);
    if (UCS_PTR_IS_PTR(answer))
      peer.closing = answer;
    else
      operations_.end_puts(std::exchange(peer.puts, nullptr), lost);
  }
  operations_.end_unanswered(peer.rank, lost);
  if (!ends_here) packets_.replace(peer.packets);
  peer.give_up_at = clock_.now() + kLostTimeout;
  unfinished_.push_back(peer.rank);
  log_.debug("ucx: rank {} is gone: {}", peer.rank,
             peer.why == UCS_OK ? "the launcher says so" : ucp_.status_string(peer.why));
  delivery_.lost(peer.rank);
}

/// Waits for UCX to complete the remaining operations on lost peers. For a peer that UCX does not watch, it never
/// completes them, and the wait ends after kLostTimeout.
void LostPeers::finish_rest() noexcept {
  const auto now = clock_.now();
  std::erase_if(unfinished_, [&](Rank rank) {
    Peer& peer = peers_[rank];
    const Status lost{ErrorCode::peer_lost, rank};
    if (peer.closing != nullptr && ucp_.request_check_status(peer.closing) != UCS_INPROGRESS) {
      ucp_.request_free(std::exchange(peer.closing, nullptr));
      operations_.end_puts(std::exchange(peer.puts, nullptr), lost);
    }
    if (peer.operations == 0 && peer.closing == nullptr) return true;
    if (now < peer.give_up_at) return false;
    // UCX will never complete the rest. They must not take room from operations on other peers.
    if (peer.closing != nullptr) ucp_.request_free(std::exchange(peer.closing, nullptr));
    operations_.end_puts(std::exchange(peer.puts, nullptr), lost);
    operations_.abandon(rank, lost);
    return true;
  });
}

}  // namespace aqueduct::conduits::ucx
