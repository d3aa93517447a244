#include "conduits/ucx/peers.hpp"

#include "core/memory_probe.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace aqueduct::conduits::ucx {
namespace {

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

Peers::Peers(Context& context, Worker& worker, Rank ranks, Rank me, core::Log& log, core::EndpointClock clock)
    : context_(context),
      ucp_(context.ucp()),
      worker_(worker),
      me_(me),
      log_(log),
      clock_(clock),
      peers_(ranks) {
  failed_.reserve(ranks);
  for (Rank rank = 0; rank < ranks; ++rank) {
    peers_[rank].owner = this;
    peers_[rank].rank = rank;
  }
}

bool Peers::learn(Rank rank, std::span<const std::byte> address, bool on_this_host) {
  Peer& peer = peers_[rank];
  peer.address.assign(address.begin(), address.end());
  peer.watched = context_.can_watch(on_this_host);
  return peer.watched;
}

core::Post Peers::connect(Peer& peer) noexcept {
  if (peer.gone || peer.failed) return core::Post::failed(ErrorCode::peer_lost);
  if (peer.address.empty()) return core::Post::failed(ErrorCode::not_supported);
  // UCX 1.13.1 ends the program if it finds no memory here ("could not allocate memory for slow_elems").
  if (!core::gets_memory()) return core::Post::retry(ErrorCode::no_memory);
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
  params.address = reinterpret_cast<const ucp_address_t*>(peer.address.data());
  params.err_mode = peer.watched ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
  if (peer.watched) {
    params.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.err_handler.cb = on_failure;
    params.err_handler.arg = &peer;
  }
  const ucs_status_t status = ucp_.ep_create(worker_.handle(), &params, &peer.ep);
  if (status == UCS_OK) return core::Post::done();
  peer.ep = nullptr;
  if (no_room(status)) return retry_of(status);
  log_.error(
      "ucx: rank {} cannot reach rank {}: {}. Both need a transport in common: compare aqinfo, "
      "AQUEDUCT_UCX_TRANSPORTS and AQUEDUCT_UCX_DEVICES on the two hosts",
      me_, peer.rank, ucp_.status_string(status));
  fail(peer, status);  // a second attempt would fail in the same way
  return core::Post::failed(ErrorCode::network_failed);
}

void Peers::fail(Peer& peer, ucs_status_t why) noexcept {
  if (peer.gone) return;
  if (peer.why == UCS_OK) peer.why = why;
  if (std::exchange(peer.failed, true)) return;
  failed_.push_back(peer.rank);
}

ErrorCode Peers::code_of(const Peer& peer, ucs_status_t status, const char* what) noexcept {
  if (no_room(status)) return ErrorCode::ok;
  if (means_lost(status) || peer.failed) return ErrorCode::peer_lost;
  log_.error("ucx: rank {}: {} for rank {} failed: {}", me_, what, peer.rank, ucp_.status_string(status));
  return ErrorCode::network_failed;
}

Status Peers::status_of(Rank rank, ucs_status_t status) noexcept {
  if (status == UCS_OK) return {};
  const ErrorCode code = code_of(peers_[rank], status, "an operation");
  return {code == ErrorCode::ok ? ErrorCode::no_memory : code, rank};
}

// Called by UCX during progress.
void Peers::on_failure(void* arg, ucp_ep_h, ucs_status_t status) {
  Peer& peer = *static_cast<Peer*>(arg);
  peer.owner->fail(peer, status);
}

// A flush ends when the connection is made. One on a lost peer, or on one that UCX does not watch, may never end.
bool Peers::settled() noexcept {
  if (!std::exchange(settles_, true)) {
    for (const Peer& peer : peers_) {
      if (peer.ep == nullptr || !peer.watched || peer.gone || peer.failed) continue;
      ucp_request_param_t param;
      param.op_attr_mask = 0;
      const ucs_status_ptr_t answer = ucp_.ep_flush_nbx(peer.ep, &param);
      if (UCS_PTR_IS_PTR(answer)) settling_.push_back(answer);
    }
  }
  std::erase_if(settling_, [&](ucs_status_ptr_t request) {
    if (ucp_.request_check_status(request) == UCS_INPROGRESS) return false;
    ucp_.request_free(request);
    return true;
  });
  return settling_.empty();
}

void Peers::close(std::span<const Rank> mine) noexcept {
  const auto until = clock_.now() + kCloseTimeout;
  std::vector<ucs_status_ptr_t> closing;
  for (Peer& peer : peers_) {
    if (peer.closing != nullptr) ucp_.request_free(std::exchange(peer.closing, nullptr));
    if (peer.ep == nullptr || peer.gone) continue;
    // The ranks of a process end together, one after the other: none of them answers any more, or waits for another's message.
    const bool ends_with_me = std::ranges::binary_search(mine, peer.rank);
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
  while (!closing.empty() && clock_.now() < until) {
    worker_.progress();
    std::erase_if(closing, [&](ucs_status_ptr_t request) {
      if (ucp_.request_check_status(request) == UCS_INPROGRESS) return false;
      ucp_.request_free(request);
      return true;
    });
  }
  for (const ucs_status_ptr_t request : closing) ucp_.request_free(request);
}

bool Peers::is_owed_to_lost() const noexcept {
  return std::ranges::any_of(peers_, [](const Peer& peer) {
    return peer.gone && peer.ep != nullptr && (peer.operations != 0 || peer.packets != 0);
  });
}

}  // namespace aqueduct::conduits::ucx
