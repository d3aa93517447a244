#include "conduits/ucx/flushes.hpp"

namespace aqueduct::conduits::ucx {
namespace {

// Chosen: outstanding flushes of a connection; later puts wait for the next flush.
constexpr unsigned kMostFlushes = 4;

}  // namespace

void Flushes::flush_dirty() noexcept {
  // A put that ends here may cause another put at once, which belongs to the next round.
  dirty_.swap(flushing_);
  for (const Rank rank : flushing_) {
    Peer& peer = peers_[rank];
    peer.is_dirty = false;
    if (!flush(peer)) make_dirty(peer);
  }
  flushing_.clear();
}

/// True: nothing is left to flush on that connection.
bool Flushes::flush(Peer& peer) noexcept {
  if (peer.gone) return true;
  if (peer.flushes >= kMostFlushes) return false;
  const ucp_request_param_t param = param_for(*peer.puts, Operations::on_flushed);
  const ucs_status_ptr_t answer = ucp_.ep_flush_nbx(peer.ep, &param);
  if (UCS_PTR_IS_ERR(answer) && no_room(UCS_PTR_RAW_STATUS(answer))) return false;
  Operation* const puts = std::exchange(peer.puts, nullptr);
  ++counts_.flushes;
  if (UCS_PTR_IS_PTR(answer)) {
    ++peer.flushes;
  } else {
    operations_.end_puts(puts, peers_.status_of(peer.rank, UCS_PTR_RAW_STATUS(answer)));
  }
  return true;
}

}  // namespace aqueduct::conduits::ucx
