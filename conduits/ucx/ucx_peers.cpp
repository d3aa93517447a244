#include "conduits/ucx/ucx_conduit.hpp"

#include <algorithm>
#include <chrono>

namespace aqueduct::conduits::ucx {
namespace {

using Clock = std::chrono::steady_clock;

// Chosen: far more than the last words take to leave, and little for those who wait for the end of a job.
constexpr std::chrono::seconds kFarewell{1};
// Twice as long as a rank that leaves may still answer: what UCX has not ended by then, it never touches again.
constexpr std::chrono::seconds kLastWord = 2 * kFarewell;

bool means_lost(ucs_status_t status) noexcept {
  switch (status) {
    case UCS_ERR_CONNECTION_RESET:
    case UCS_ERR_ENDPOINT_TIMEOUT:
    case UCS_ERR_CANCELED:
    case UCS_ERR_NOT_CONNECTED:
    case UCS_ERR_REJECTED:
    case UCS_ERR_SHMEM_SEGMENT:  // of a process that is gone
    case UCS_ERR_TIMED_OUT: return true;
    default: return UCS_IS_ENDPOINT_ERROR(status) || UCS_IS_LINK_ERROR(status);
  }
}

}  // namespace

/// Connects to a peer if that has not been done: done, or what a post there is to answer. The connection is made while both
/// sides make progress.
core::Post UcxConduit::reach(Peer& peer) noexcept {
  if (peer.ep != nullptr && !peer.failed) [[likely]]
    return core::Post::done();
  if (peer.gone || peer.failed) return core::Post::failed(ErrorCode::peer_lost);
  if (peer.address.empty()) return core::Post::failed(ErrorCode::not_supported);
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
  params.address = reinterpret_cast<const ucp_address_t*>(peer.address.data());
  params.err_mode = peer.watched ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
  if (peer.watched) {
    params.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.err_handler.cb = on_failure;
    params.err_handler.arg = &peer;
  }
  const ucs_status_t status = ucp_.ep_create(worker_, &params, &peer.ep);
  if (status == UCS_OK) return core::Post::done();
  peer.ep = nullptr;
  if (no_room(status)) return core::Post::retry();
  log_.error(
      "ucx: rank {} cannot reach rank {}: {}. Both need a transport in common: compare aqinfo, "
      "AQUEDUCT_UCX_TRANSPORTS "
      "and AQUEDUCT_UCX_DEVICES on the two hosts",
      me_, peer.rank, ucp_.status_string(status));
  condemn(peer, status);  // no second attempt would find more
  return core::Post::failed(ErrorCode::network_failed);
}

/// A peer that cannot be reached, or that lacks a word of ours or we one of its, is a lost one: whoever waits for it must
/// learn that.
void UcxConduit::condemn(Peer& peer, ucs_status_t why) noexcept {
  if (peer.gone || peer.failed) return;
  peer.failed = true;
  peer.why = why;
  losing_.push_back(peer.rank);
}

/// What the layers above are told of an answer of UCX's: ok means that it had no room.
ErrorCode UcxConduit::code_of(const Peer& peer, ucs_status_t status, const char* what) noexcept {
  if (no_room(status)) return ErrorCode::ok;
  if (means_lost(status) || peer.failed) return ErrorCode::peer_lost;
  log_.error("ucx: rank {}: {} for rank {} failed: {}", me_, what, peer.rank, ucp_.status_string(status));
  return ErrorCode::network_failed;
}

Status UcxConduit::status_of(Rank rank, ucs_status_t status) noexcept {
  if (status == UCS_OK) return {};
  const ErrorCode code = code_of(peers_[rank], status, "an operation");
  return {code == ErrorCode::ok ? ErrorCode::no_memory : code, rank};
}

// Called by UCX during progress.
void UcxConduit::on_failure(void* arg, ucp_ep_h, ucs_status_t status) {
  Peer& peer = *static_cast<Peer*>(arg);
  peer.owner->condemn(peer, status);
}

/// Whether UCX ends at once what it has for that peer. Never where it does not watch; and over cards it aborts the program if
/// its own words that were to connect the two still wait (ucp_request.c:684 of 1.13.1), which it does not tell.
bool UcxConduit::can_force_close(const Peer& peer) const noexcept {
  return peer.ep != nullptr && peer.watched && !context_.has_hardware();
}

void UcxConduit::settle_losses() noexcept {
  // What ends here may tell of further losses; those come after.
  for (std::size_t i = 0; i < losing_.size(); ++i) settle(peers_[losing_[i]]);
  losing_.clear();
}

/// Ends what a lost peer was to take part in and UCX is through with. The rest has the callers' memory, which an answer
/// that is on its way already may still reach: that ends as soon as UCX says so (settle_rest).
void UcxConduit::settle(Peer& peer) noexcept {
  if (peer.gone) return;
  peer.gone = true;
  const Status lost{ErrorCode::peer_lost, peer.rank};
  const bool ends_here = can_force_close(peer);
  if (ends_here) {
    // Ends what UCX has of it, each with its callback.
    ucp_request_param_t param;
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_EP_CLOSE_FLAG_FORCE;
    const ucs_status_ptr_t answer = ucp_.ep_close_nbx(std::exchange(peer.ep, nullptr), &param);
    if (UCS_PTR_IS_PTR(answer))
      peer.closing = answer;
    else
      end_puts(std::exchange(peer.puts, nullptr), lost);
  }
  for (Pending& one : pending_.all()) {
    // An answer of the peer's does not come any more.
    if (one.in_use && one.peer == peer.rank && one.parts == Pending::kAnswer) end(one, lost);
  }
  if (!ends_here) packets_.replace(peer.packets);
  peer.give_up = Clock::now() + kLastWord;
  leaving_.push_back(peer.rank);
  log_.debug("ucx: rank {} is gone: {}", peer.rank,
             peer.why == UCS_OK ? "the launcher says so" : ucp_.status_string(peer.why));
  ++calls_;
  inbox_->lost(peer.rank);
}

/// Waits for UCX's word about what lost peers have left behind. It has none for a peer that it does not watch.
void UcxConduit::settle_rest() noexcept {
  const auto now = Clock::now();
  std::erase_if(leaving_, [&](Rank rank) {
    Peer& peer = peers_[rank];
    if (peer.closing != nullptr && ucp_.request_check_status(peer.closing) != UCS_INPROGRESS) {
      ucp_.request_free(std::exchange(peer.closing, nullptr));
      end_puts(std::exchange(peer.puts, nullptr), {ErrorCode::peer_lost, rank});
    }
    if (peer.operations == 0 && peer.closing == nullptr) return true;
    if (now < peer.give_up) return false;
    give_up(peer);
    return true;
  });
}

/// UCX keeps what it has for that peer, and never goes on with it; others are not to lack it.
void UcxConduit::give_up(Peer& peer) noexcept {
  const Status lost{ErrorCode::peer_lost, peer.rank};
  if (peer.closing != nullptr) ucp_.request_free(std::exchange(peer.closing, nullptr));
  end_puts(std::exchange(peer.puts, nullptr), lost);
  std::size_t orphans = 0;
  for (Pending& one : pending_.all()) {
    if (!one.in_use || one.peer != peer.rank) continue;
    one.orphan = true;
    ++orphans;
    ++calls_;
    inbox_->completed(one.token, lost);
  }
  pending_.replace(orphans);
}

/// Ends the connections once what was sent has arrived, or after a time, since peers may be gone.
void UcxConduit::close() noexcept {
  send_answers();
  const auto until = Clock::now() + kFarewell;
  std::vector<ucs_status_ptr_t> closing;
  for (Peer& peer : peers_) {
    if (peer.closing != nullptr) ucp_.request_free(std::exchange(peer.closing, nullptr));
    if (peer.ep == nullptr || peer.gone) continue;
    // The ranks of a process end together, and one after the other: none answers any more, or waits for a word of another.
    const bool ends_with_me = std::ranges::binary_search(process_.mine, peer.rank);
    ucp_request_param_t param;
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = ends_with_me && can_force_close(peer) ? UCP_EP_CLOSE_FLAG_FORCE : 0;
    const ucs_status_ptr_t answer = ucp_.ep_close_nbx(std::exchange(peer.ep, nullptr), &param);
    if (!UCS_PTR_IS_PTR(answer)) continue;
    if (ends_with_me) {
      ucp_.request_free(answer);
    } else {
      closing.push_back(answer);
    }
  }
  while (!closing.empty() && Clock::now() < until) {
    ucp_.worker_progress(worker_);
    std::erase_if(closing, [&](ucs_status_ptr_t request) {
      if (ucp_.request_check_status(request) == UCS_INPROGRESS) return false;
      ucp_.request_free(request);
      return true;
    });
  }
  for (const ucs_status_ptr_t request : closing) ucp_.request_free(request);
  for (const Key& key : keys_.all()) {  // which what was on its way may have used until now
    if (key.rkey != nullptr) ucp_.rkey_destroy(key.rkey);
  }
  for (const auto& [memory, handle] : segments_) {
    if (handle != nullptr) ucp_.mem_unmap(context_.handle(), handle);
  }
  for (const auto& [memory, handle] : allocated_) context_.keep(handle);
  // UCX 1.13.1 aborts the program if it still has something for a lost peer then (ucp_ep.c:437, over cards).
  const bool owes = std::ranges::any_of(peers_, [](const Peer& peer) {
    return peer.gone && peer.ep != nullptr && (peer.operations != 0 || peer.packets != 0);
  });
  if (owes) {
    // Nobody makes progress on it any more, so that it calls nothing of this endpoint's.
    log_.debug("ucx: rank {}: UCX has not ended what it has for lost peers: its worker stays as it is", me_);
    context_.stay();
  } else {
    ucp_.worker_destroy(worker_);
  }
}

}  // namespace aqueduct::conduits::ucx
