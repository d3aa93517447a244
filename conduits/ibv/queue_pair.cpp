#include "conduits/ibv/queue_pair.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace aqueduct::conduits::ibv {
namespace {

// Specified: up to 7 retries of a packet without an answer; for a receiver that is not ready, 7 means without limit.
// Soft RoCE takes 7 as without limit in both cases (rxe_comp.c of Linux 6.1), and would never report that a peer's host
// is gone.
constexpr std::uint8_t kRetries = 6;
constexpr std::uint8_t kForEver = 7;
// Specified: code 12 is 0.64 ms.
constexpr std::uint8_t kNotReadyPause = 12;
constexpr std::uint8_t kHops = 64;

}  // namespace

ibv_ah_attr address_vector(const Address& peer, const Port& port, const IbvOptions& options) {
  ibv_ah_attr way{};
  way.dlid = peer.lid;
  way.sl = options.service_level;
  way.port_num = port.number;
  // The global address is needed between subnets of InfiniBand, and always on Ethernet.
  way.is_global = port.ethernet() || std::memcmp(peer.gid.data(), port.gid.raw, 8) != 0 || peer.lid == 0;
  if (way.is_global) {
    std::memcpy(way.grh.dgid.raw, peer.gid.data(), sizeof way.grh.dgid.raw);
    way.grh.sgid_index = static_cast<std::uint8_t>(port.gid_index);
    way.grh.hop_limit = kHops;
    way.grh.traffic_class = options.traffic_class;
  }
  return way;
}

MadePair make_pair(const Verbs& verbs, const Objects& objects, const Port& port, const IbvOptions& options) {
  ibv_qp_init_attr wanted{};
  wanted.send_cq = objects.queue.get();
  wanted.recv_cq = objects.queue.get();
  wanted.srq = objects.receives.get();
  wanted.qp_type = IBV_QPT_RC;
  MadePair made;
  for (std::uint32_t bytes = options.inline_bytes;; bytes = bytes >= 32 ? bytes / 2 : 0) {
    const std::uint32_t receives = wanted.srq != nullptr ? 0 : options.credits;
    wanted.cap = {objects.sizes.depth, receives, objects.sizes.pieces, 1, bytes};
    made.pair = {verbs.create_qp(objects.domain.get(), &wanted), {verbs.destroy_qp}};
    made.inline_bytes = std::min(bytes, wanted.cap.max_inline_data);
    if (made.pair != nullptr || bytes == 0) break;
  }
  if (made.pair == nullptr) return made;
  ibv_qp_attr state{};
  state.qp_state = IBV_QPS_INIT;
  state.port_num = port.number;
  state.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  if (objects.sizes.atomics) state.qp_access_flags |= IBV_ACCESS_REMOTE_ATOMIC;
  const int where = port.iwarp() ? 0 : IBV_QP_PKEY_INDEX | IBV_QP_PORT;
  const int error = verbs.modify_qp(made.pair.get(), &state, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | where);
  if (error != 0) {
    made.pair.reset();
    errno = error;
  }
  return made;
}

int connect_pair(const Verbs& verbs, ibv_qp& pair, const Objects& objects, const Port& port,
                 const IbvOptions& options, const Address& peer, const Hello& hello, std::uint32_t first) {
  ibv_qp_attr state{};
  state.qp_state = IBV_QPS_RTR;
  state.path_mtu = std::min(port.attributes.active_mtu, static_cast<ibv_mtu>(peer.mtu));
  state.dest_qp_num = hello.pair;
  state.rq_psn = hello.first;
  state.max_dest_rd_atomic = objects.sizes.answers;
  state.min_rnr_timer = kNotReadyPause;
  state.ah_attr = address_vector(peer, port, options);
  int error = verbs.modify_qp(&pair, &state,
                              IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  if (error != 0) return error;
  state.qp_state = IBV_QPS_RTS;
  state.sq_psn = first;
  state.timeout = options.timeout;
  state.retry_cnt = kRetries;
  state.rnr_retry = kForEver;
  state.max_rd_atomic = std::min(objects.sizes.reads, peer.reads);
  return verbs.modify_qp(&pair, &state,
                         IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                             IBV_QP_MAX_QP_RD_ATOMIC);
}

}  // namespace aqueduct::conduits::ibv
