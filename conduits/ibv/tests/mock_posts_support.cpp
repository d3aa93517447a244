// Requests that are posted to the mock network, and completions that are polled.

#include "conduits/ibv/tests/mock_calls.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>

namespace aqueduct::conduits::ibv::mock {

int Calls::post_send(ibv_qp* plain, ibv_send_wr* request, ibv_send_wr** bad) {
  const Lock lock(current->mutex_);
  auto& pair = static_cast<Pair&>(*plain);
  const bool connected = pair.qp_type == IBV_QPT_RC;
  current->counts.doorbells += connected ? 1 : 0;
  int error = pair.state == IBV_QPS_RTS || pair.state == IBV_QPS_ERR ? 0 : EINVAL;
  Device& device = current->device_of(pair);
  if (connected && current->faults.post_send != 0) error = current->faults.post_send;
  if (current->faults.gone) error = ENODEV;
  if (connected && device.post_send != 0) error = device.post_send;
  for (; request != nullptr && error == 0; request = request->next) {
    if (pair.posted - pair.ended >= pair.room.max_send_wr || (connected && current->faults.room == 0)) {
      error = ENOMEM;
      break;
    }
    if (connected && current->faults.room > 0) --current->faults.room;
    Request taken{*request, {}, {}, pair.posted + 1};
    taken.pieces.assign(request->sg_list, request->sg_list + request->num_sge);
    const bool is_inline = (request->send_flags & IBV_SEND_INLINE) != 0;
    for (const ibv_sge& piece : taken.pieces) {
      const auto* const start = reinterpret_cast<const std::byte*>(piece.addr);
      if (is_inline) taken.bytes.insert(taken.bytes.end(), start, start + piece.length);
    }
    if (taken.bytes.size() > pair.room.max_inline_data || taken.pieces.size() > pair.room.max_send_sge) {
      ++current->counts.breaches;
      error = EINVAL;
      break;
    }
    if (connected && (pair.waits || !current->can_begin(pair, *request))) {
      ++current->counts.breaches;
      error = EINVAL;
      break;
    }
    if (connected) count(taken.what.opcode);
    if (connected) ++device.requests;
    ++pair.posted;
    if (connected) current->complete_early(pair, taken);
    pair.requests.push_back(std::move(taken));
  }
  *bad = error != 0 ? request : nullptr;
  Pair* const peer = current->find(pair.peer);
  pair.overlooked = connected && peer != nullptr && peer->overlooks > 0;
  if (pair.overlooked) --peer->overlooks;
  current->begin_all(pair);
  return error;
}

void Calls::count(ibv_wr_opcode what) {
  Counts& counts = current->counts;
  switch (what) {
    case IBV_WR_RDMA_WRITE: ++counts.writes; break;
    case IBV_WR_RDMA_WRITE_WITH_IMM: ++counts.signalled_writes; break;
    case IBV_WR_RDMA_READ: ++counts.reads; break;
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM: ++counts.sends; break;
    default: ++counts.atomics; break;
  }
}

int Calls::receive(std::deque<Receive>& posted, ibv_recv_wr* request, ibv_recv_wr** bad) {
  for (; request != nullptr && current->faults.receives != 0; request = request->next) {
    posted.push_back({request->wr_id, *request->sg_list});
    if (current->faults.receives > 0) --current->faults.receives;
  }
  *bad = request;
  for (const auto& [number, pair] : current->pairs_) {  // requests may have waited for this receive
    if (!pair->requests.empty()) current->begin_all(*pair);
  }
  return *bad == nullptr ? 0 : ENOMEM;
}

int Calls::post_recv(ibv_qp* pair, ibv_recv_wr* request, ibv_recv_wr** bad) {
  const Lock lock(current->mutex_);
  return receive(static_cast<Pair*>(pair)->receives, request, bad);
}

int Calls::post_srq_recv(ibv_srq* queue, ibv_recv_wr* request, ibv_recv_wr** bad) {
  const Lock lock(current->mutex_);
  return receive(static_cast<Receives*>(queue)->posted, request, bad);
}

int Calls::poll_cq(ibv_cq* plain, int most, ibv_wc* found) {
  const Lock lock(current->mutex_);
  if (current->faults.gone) return -ENODEV;
  auto& queue = static_cast<Completions&>(*plain);
  const Device& device = device_of(plain->context);
  const auto begin_slow_ones = [&] {
    for (const auto& [number, pair] : current->pairs_) {
      // On iWARP any poll does, not only the owner's.
      if (pair->send_cq == plain || device.iwarp()) current->begin_all(*pair, true);
    }
  };
  if (device.slow && !device.iwarp()) begin_slow_ones();
  int count = 0;
  for (; count < most && !queue.entries.empty(); ++count) {
    const Completions::Entry entry = queue.entries.front();
    queue.entries.pop_front();
    found[count] = entry.what;
    if (entry.ends != 0) entry.pair->ended = std::max(entry.pair->ended, entry.ends);
  }
  if (device.slow && device.iwarp()) begin_slow_ones();  // completed requests may not have arrived yet
  return count;
}

int Calls::req_notify_cq(ibv_cq* queue, int) {
  const Lock lock(current->mutex_);
  static_cast<Completions*>(queue)->armed = true;
  return 0;
}

const char* Calls::wc_status_str(ibv_wc_status status) {
  return status == IBV_WC_REM_ACCESS_ERR  ? "remote access error"
         : status == IBV_WC_RETRY_EXC_ERR ? "transport retry counter exceeded"
                                          : "another error";
}

}  // namespace aqueduct::conduits::ibv::mock
