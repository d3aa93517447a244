// Completion queues, receive queues and queue pairs of the mock network, with their limits.

#include "conduits/ibv/tests/mock_calls.hpp"

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace aqueduct::conduits::ibv::mock {

namespace {

struct Channel : ibv_comp_channel {};

}  // namespace

ibv_comp_channel* Calls::create_comp_channel(ibv_context* context) {
  int ends[2];
  if (::pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) return nullptr;
  auto* const channel = new Channel{};
  channel->context = context;
  channel->fd = ends[0];
  channel->refcnt = ends[1];  // the field has no other use here
  return channel;
}

int Calls::destroy_comp_channel(ibv_comp_channel* channel) {
  ::close(channel->fd);
  ::close(channel->refcnt);
  delete static_cast<Channel*>(channel);
  return 0;
}

ibv_cq* Calls::create_cq(ibv_context* context, int entries, void*, ibv_comp_channel* channel, int) {
  if (entries > device_of(context).limits.max_cqe) return refuse<ibv_cq>(EINVAL);
  auto* const queue = new Completions{};
  queue->context = context;
  queue->channel = channel;
  queue->cqe = entries;
  return queue;
}

int Calls::destroy_cq(ibv_cq* queue) {
  delete static_cast<Completions*>(queue);
  return 0;
}

int Calls::get_cq_event(ibv_comp_channel* channel, ibv_cq** queue, void**) {
  *queue = nullptr;
  return take_news(channel->fd) ? 0 : -1;
}

void Calls::ack_cq_events(ibv_cq*, unsigned) {}

ibv_srq* Calls::create_srq(ibv_pd* domain, ibv_srq_init_attr* wanted) {
  const auto& limits = device_of(domain->context).limits;
  if (wanted->attr.max_wr > static_cast<std::uint32_t>(limits.max_srq_wr)) return refuse<ibv_srq>(EINVAL);
  auto* const queue = new Receives{};
  queue->context = domain->context;
  return queue;
}

int Calls::destroy_srq(ibv_srq* queue) {
  delete static_cast<Receives*>(queue);
  return 0;
}

ibv_qp* Calls::create_qp(ibv_pd* domain, ibv_qp_init_attr* wanted) {
  const Lock lock(current->mutex_);
  const Device& device = device_of(domain->context);
  const ibv_qp_cap& room = wanted->cap;
  if (current->faults.gone) return refuse<ibv_qp>(ENODEV);
  if (wanted->qp_type == IBV_QPT_UD && device.iwarp()) return refuse<ibv_qp>(EOPNOTSUPP);
  if (wanted->qp_type == IBV_QPT_RC && current->faults.no_pairs) return refuse<ibv_qp>(ENOMEM);
  if (room.max_inline_data > device.most_inline ||
      room.max_send_wr > static_cast<std::uint32_t>(device.limits.max_qp_wr) ||
      room.max_send_sge > static_cast<std::uint32_t>(device.limits.max_sge)) {
    return refuse<ibv_qp>(EINVAL);
  }
  auto* const pair = new Pair{};
  pair->context = domain->context;
  pair->pd = domain;
  pair->send_cq = wanted->send_cq;
  pair->recv_cq = wanted->recv_cq;
  pair->srq = wanted->srq;
  pair->qp_type = wanted->qp_type;
  pair->room = room;
  pair->qp_num = current->next_++;
  current->pairs_[pair->qp_num] = pair;
  return pair;
}

int Calls::modify_qp(ibv_qp* plain, ibv_qp_attr* wanted, int mask) {
  const Lock lock(current->mutex_);
  auto& pair = static_cast<Pair&>(*plain);
  const auto& limits = device_of(pair.context).limits;
  if ((mask & IBV_QP_QKEY) != 0) pair.datagram_key = wanted->qkey;
  if (current->faults.gone) return ENODEV;
  if ((mask & IBV_QP_DEST_QPN) != 0 && !device_of(pair.context).connects) return ENETUNREACH;
  if ((mask & IBV_QP_DEST_QPN) != 0 && current->refuses_way()) return current->faults.no_way_error;
  if (pair.qp_type == IBV_QPT_UD && wanted->qp_state == IBV_QPS_RTS && current->faults.refused_starts > 0) {
    --current->faults.refused_starts;
    return EIO;
  }
  if ((mask & IBV_QP_PATH_MTU) != 0) current->mtus.push_back(wanted->path_mtu);
  if ((mask & IBV_QP_DEST_QPN) != 0) pair.peer = wanted->dest_qp_num;
  if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) != 0) {
    if (wanted->max_rd_atomic > limits.max_qp_init_rd_atom) return EINVAL;
    pair.reads = wanted->max_rd_atomic;
  }
  if ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) != 0 && wanted->max_dest_rd_atomic > limits.max_qp_rd_atom) {
    return EINVAL;
  }
  pair.state = wanted->qp_state;
  if (pair.state == IBV_QPS_ERR) {
    for (const Receive& receive : pair.receives) {
      ibv_wc flushed{};
      flushed.wr_id = receive.id;
      flushed.qp_num = pair.qp_num;
      flushed.status = IBV_WC_WR_FLUSH_ERR;
      current->complete(pair.recv_cq, {flushed, &pair, 0});
    }
  }
  if (pair.state == IBV_QPS_ERR || pair.state == IBV_QPS_RESET) pair.receives.clear();
  return 0;
}

int Calls::destroy_qp(ibv_qp* plain) {
  const Lock lock(current->mutex_);
  auto* const pair = static_cast<Pair*>(plain);
  for (ibv_cq* const queue : {pair->send_cq, pair->recv_cq}) {
    std::erase_if(static_cast<Completions*>(queue)->entries,
                  [&](const auto& entry) { return entry.pair == pair; });
  }
  current->pairs_.erase(pair->qp_num);
  delete pair;
  return 0;
}

bool Network::refuses_way() {
  if (faults.no_way > 0) return faults.no_way-- > 0;
  return faults.no_way != 0;
}

ibv_ah* Calls::create_ah(ibv_pd* domain, ibv_ah_attr*) {
  const Lock lock(current->mutex_);
  ++current->counts.ways;
  if (current->refuses_way()) return refuse<ibv_ah>(current->faults.no_way_error);
  auto* const way = new ibv_ah{};
  way->context = domain->context;
  return way;
}

int Calls::destroy_ah(ibv_ah* way) {
  delete way;
  return 0;
}

}  // namespace aqueduct::conduits::ibv::mock
