// The mock network carries out requests, one after the other.

#include <aqueduct/copy_bytes.hpp>

#include "conduits/ibv/tests/mock_device.hpp"

#include <algorithm>
#include <cstring>

#include <unistd.h>

namespace aqueduct::conduits::ibv::mock {
namespace {

constexpr std::size_t kRoute = 40;

std::size_t length_of(const Request& request) {
  std::size_t all = 0;
  for (const ibv_sge& piece : request.pieces) all += piece.length;
  return all;
}

bool listens(const Pair* pair) {
  return pair != nullptr && (pair->state == IBV_QPS_RTR || pair->state == IBV_QPS_RTS);
}

std::byte* at(std::uint64_t address) { return reinterpret_cast<std::byte*>(address); }

// As adapters do: an aligned word becomes visible as a whole, once, and after all earlier bytes.
void place(std::byte* to, const std::vector<std::byte>& bytes) {
  aqueduct::detail::copy_bytes(to, bytes.data(), bytes.size());
}

// What a device sends of memory: an aligned word is read as a whole.
std::vector<std::byte> sent_by_adapter(std::uint64_t address, std::size_t count) {
  std::vector<std::byte> sent(count);
  aqueduct::detail::copy_bytes(sent.data(), at(address), count);
  return sent;
}

// What an iWARP device sends of memory. As with siw, the bytes of a short payload that lie on the second page are
// wrong.
std::vector<std::byte> sent_by_siw(std::uint64_t address, std::size_t count) {
  std::vector<std::byte> sent = sent_by_adapter(address, count);
  const std::size_t on_first_page = 4096 - address % 4096;
  if (count <= 32 && on_first_page < count)
    std::fill(sent.begin() + on_first_page, sent.end(), std::byte{0xee});
  return sent;
}

}  // namespace

Pair* Network::find(std::uint32_t number) {
  const auto found = pairs_.find(number);
  return found != pairs_.end() ? found->second : nullptr;
}

// A key is valid only in its protection domain, and so only on one device.
bool Network::local(const Pair& pair, const ibv_sge& piece) const {
  const auto found = regions_.find(piece.lkey);
  if (found == regions_.end() || found->second.what->pd != pair.pd) return false;
  const auto start = reinterpret_cast<std::uint64_t>(found->second.what->addr);
  return piece.addr >= start && piece.addr + piece.length <= start + found->second.what->length;
}

std::byte* Network::remote(const Pair& pair, std::uint64_t address, std::uint32_t key, std::size_t bytes,
                           int access) const {
  const auto found = regions_.find(key);
  if (found == regions_.end() || (found->second.access & access) == 0) return nullptr;
  if (found->second.what->pd != pair.pd) return nullptr;
  const auto start = reinterpret_cast<std::uint64_t>(found->second.what->addr);
  const bool inside = address >= start && address + bytes <= start + found->second.what->length;
  return inside ? at(address) : nullptr;
}

bool Network::gather(const Pair& pair, const Request& request, std::vector<std::byte>& bytes) {
  if ((request.what.send_flags & IBV_SEND_INLINE) != 0) {
    bytes = request.bytes;
    return true;
  }
  for (const ibv_sge& piece : request.pieces) {
    if (!local(pair, piece)) return false;
    bytes.insert(bytes.end(), at(piece.addr), at(piece.addr) + piece.length);
  }
  if (device_of(pair).iwarp() && request.pieces.size() == 1) {
    bytes = sent_by_siw(request.pieces[0].addr, request.pieces[0].length);
  }
  return true;
}

// Whether the device supports the request. iWARP has neither immediate data nor atomics; its reads have few pieces.
bool Network::can_begin(const Pair& pair, const ibv_send_wr& request) {
  const Device& device = device_of(pair);
  if (!device.iwarp()) return true;
  if (request.opcode == IBV_WR_RDMA_READ) return request.num_sge <= device.limits.max_sge_rd;
  return request.opcode == IBV_WR_RDMA_WRITE || request.opcode == IBV_WR_SEND;
}

// On iWARP all requests but reads complete when they leave.
void Network::complete_early(Pair& pair, Request& request) {
  request.completed =
      device_of(pair).iwarp() && pair.state == IBV_QPS_RTS && request.what.opcode != IBV_WR_RDMA_READ;
  if (!request.completed || (request.what.send_flags & IBV_SEND_SIGNALED) == 0) return;
  ibv_wc what{};
  what.wr_id = request.what.wr_id;
  what.qp_num = pair.qp_num;
  ++counts.completions;
  complete(pair.send_cq, {what, &pair, request.number});
}

bool Network::scatter(const Pair& pair, const Request& request, const std::byte* bytes, std::size_t count) {
  for (const ibv_sge& piece : request.pieces) {
    if (!local(pair, piece)) return false;
    // On iWARP the peer's answer to a read is a write.
    const bool writable = (regions_.at(piece.lkey).access & IBV_ACCESS_REMOTE_WRITE) != 0;
    if (device_of(pair).iwarp() && !writable) return false;
    const std::size_t part = std::min<std::size_t>(count, piece.length);
    std::memcpy(at(piece.addr), bytes, part);
    bytes += part;
    count -= part;
  }
  return count == 0;
}

void Network::complete(ibv_cq* queue, Completions::Entry entry) {
  auto& into = static_cast<Completions&>(*queue);
  if (static_cast<int>(into.entries.size()) >= into.cqe) ++counts.overruns;
  into.entries.push_back(entry);
  if (!into.armed || into.channel == nullptr) return;
  into.armed = false;
  const char news = 1;
  if (::write(into.channel->refcnt, &news, 1) != 1) ++counts.breaches;
}

/// A message goes into the oldest receive. False: there is none.
bool Network::take(Pair& peer, const std::vector<std::byte>& bytes, ibv_wc what, std::size_t offset) {
  auto& posted = peer.srq != nullptr ? static_cast<Receives*>(peer.srq)->posted : peer.receives;
  if (posted.empty()) return false;
  const Receive receive = posted.front();
  posted.pop_front();
  what.wr_id = receive.id;
  what.qp_num = peer.qp_num;
  if (what.opcode == IBV_WC_RECV) {
    what.byte_len = static_cast<std::uint32_t>(bytes.size() + offset);
    if (!local(peer, receive.piece)) {
      what.status = IBV_WC_LOC_PROT_ERR;
    } else if (what.byte_len > receive.piece.length) {
      what.status = IBV_WC_LOC_LEN_ERR;
    } else {
      std::memcpy(at(receive.piece.addr) + offset, bytes.data(), bytes.size());
    }
  }
  complete(peer.recv_cq, {what, &peer, 0});
  return true;
}

void Network::datagram(Pair& pair, Request& request) {
  ++counts.datagrams;
  std::vector<std::byte> bytes;
  ibv_wc sent{};
  sent.wr_id = request.what.wr_id;
  sent.status = gather(pair, request, bytes) ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR;
  if (pair.state == IBV_QPS_ERR) sent.status = IBV_WC_WR_FLUSH_ERR;
  if (sent.status == IBV_WC_SUCCESS && faults.stop_datagrams > 0) {
    --faults.stop_datagrams;
    sent.status = IBV_WC_LOC_QP_OP_ERR;
  }
  if (sent.status != IBV_WC_SUCCESS) {
    pair.state = IBV_QPS_ERR;
    return complete(pair.send_cq, {sent, &pair, request.number});
  }
  Pair* const peer = find(request.what.wr.ud.remote_qpn);
  const bool arrives = listens(peer) && peer->datagram_key == request.what.wr.ud.remote_qkey;
  if (faults.drop_datagrams > 0) {
    --faults.drop_datagrams;
  } else if (arrives) {
    ibv_wc got{};
    got.opcode = IBV_WC_RECV;
    static_cast<void>(take(*peer, bytes, got, kRoute));
  }
  complete(pair.send_cq, {sent, &pair, request.number});
}

ibv_wc_status Network::carry_out(Pair& pair, Pair& peer, Request& request, bool& not_ready) {
  const ibv_send_wr& what = request.what;
  std::vector<std::byte> bytes;
  ibv_wc arrival{};
  arrival.imm_data = what.imm_data;
  std::byte* target = nullptr;
  switch (what.opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      if (!gather(pair, request, bytes)) return IBV_WC_LOC_PROT_ERR;
      target =
          remote(peer, what.wr.rdma.remote_addr, what.wr.rdma.rkey, bytes.size(), IBV_ACCESS_REMOTE_WRITE);
      if (target == nullptr && !bytes.empty()) return IBV_WC_REM_ACCESS_ERR;
      place(target, bytes);
      if (what.opcode == IBV_WR_RDMA_WRITE) return IBV_WC_SUCCESS;
      arrival.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
      arrival.wc_flags = IBV_WC_WITH_IMM;
      not_ready = !take(peer, bytes, arrival, 0);
      return IBV_WC_SUCCESS;
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
      if (!gather(pair, request, bytes)) return IBV_WC_LOC_PROT_ERR;
      arrival.opcode = IBV_WC_RECV;
      arrival.wc_flags = what.opcode == IBV_WR_SEND ? 0u : unsigned{IBV_WC_WITH_IMM};
      not_ready = !take(peer, bytes, arrival, 0);
      return IBV_WC_SUCCESS;
    case IBV_WR_RDMA_READ:
      if (pair.reads == 0) ++counts.breaches;
      target = remote(peer, what.wr.rdma.remote_addr, what.wr.rdma.rkey, length_of(request),
                      IBV_ACCESS_REMOTE_READ);
      if (target == nullptr) return IBV_WC_REM_ACCESS_ERR;
      bytes = device_of(peer).iwarp() ? sent_by_siw(what.wr.rdma.remote_addr, length_of(request))
                                      : sent_by_adapter(what.wr.rdma.remote_addr, length_of(request));
      return scatter(pair, request, bytes.data(), length_of(request)) ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
    case IBV_WR_ATOMIC_CMP_AND_SWP: {
      target = remote(peer, what.wr.atomic.remote_addr, what.wr.atomic.rkey, 8, IBV_ACCESS_REMOTE_ATOMIC);
      if (target == nullptr) return IBV_WC_REM_ACCESS_ERR;
      std::uint64_t old = 0;
      std::memcpy(&old, target, 8);
      const bool adds = what.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
      const std::uint64_t swapped = old == what.wr.atomic.compare_add ? what.wr.atomic.swap : old;
      const std::uint64_t result = adds ? old + what.wr.atomic.compare_add : swapped;
      std::memcpy(target, &result, 8);
      return scatter(pair, request, reinterpret_cast<const std::byte*>(&old), 8) ? IBV_WC_SUCCESS
                                                                                 : IBV_WC_LOC_PROT_ERR;
    }
    default: ++counts.breaches; return IBV_WC_LOC_QP_OP_ERR;
  }
}

/// False: the receiver is not ready, and the request is retried.
bool Network::begin(Pair& pair, Request& request) {
  Pair* const peer = find(pair.peer);
  ibv_wc what{};
  what.wr_id = request.what.wr_id;
  what.qp_num = pair.qp_num;
  if (pair.state == IBV_QPS_ERR) {
    what.status = IBV_WC_WR_FLUSH_ERR;
  } else if (faults.next != IBV_WC_SUCCESS) {
    what.status = faults.next;
    faults.next = IBV_WC_SUCCESS;
  } else if (!listens(peer) || peer->peer != pair.qp_num || &device_of(pair) != &device_of(*peer) ||
             device_of(pair).unplugged) {  // each device has its own cable
    what.status = IBV_WC_RETRY_EXC_ERR;
  } else {
    bool not_ready = false;
    what.status = carry_out(pair, *peer, request, not_ready);
    peer->waits = false;
    device_of(pair).bytes += length_of(request);
    if (not_ready) {
      ++counts.not_ready;
      if (!device_of(pair).iwarp()) return false;
      what.status = IBV_WC_RNR_RETRY_EXC_ERR;  // the retries are used up
    }
  }
  if (what.status != IBV_WC_SUCCESS) pair.state = IBV_QPS_ERR;
  if (request.completed) return true;
  if (what.status != IBV_WC_SUCCESS || (request.what.send_flags & IBV_SEND_SIGNALED) != 0) {
    ++counts.completions;
    complete(pair.send_cq, {what, &pair, request.number});
  }
  return true;
}

void Network::begin_all(Pair& pair, bool now) {
  const Device& device = device_of(pair);
  const bool silent = faults.silent || device.silent || (device.slow && !now) || pair.overlooked;
  while (!pair.requests.empty() && (!silent || pair.qp_type == IBV_QPT_UD)) {
    if (pair.qp_type == IBV_QPT_UD) {
      datagram(pair, pair.requests.front());
    } else if (!begin(pair, pair.requests.front())) {
      return;
    }
    pair.requests.pop_front();
  }
}

void Network::resume() {
  const std::lock_guard lock(mutex_);
  faults.silent = false;
  for (Device& device : devices) device.silent = false;
  for (const auto& [number, pair] : pairs_) begin_all(*pair);
}

void Network::kill(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  if (Pair* const pair = find(number); pair != nullptr) pair->state = IBV_QPS_RESET;
  hang_up(*this, number);
}

}  // namespace aqueduct::conduits::ibv::mock
