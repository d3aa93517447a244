// The entry points of the mock network: objects, limits, queues.

#include "conduits/ibv/tests/mock_device.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace aqueduct::conduits::ibv::mock {
namespace {

Network* current = nullptr;  // a global, because verbs are plain functions

struct Channel : ibv_comp_channel {};

/// Reads one byte without waiting.
bool take_news(int descriptor) {
  char news = 0;
  return ::read(descriptor, &news, 1) == 1;
}

template <class T>
T* refuse(int error) {
  errno = error;
  return nullptr;
}

}  // namespace

/// The functions in the table of verbs.
struct Calls {
  using Lock = std::lock_guard<std::recursive_mutex>;
  using Context = Network::Context;

  static const Device& device_of(const ibv_context* context) {
    return current->devices[static_cast<const Context*>(context)->device_index];
  }

  static ibv_device** get_device_list(int* count) {
    const Lock lock(current->mutex_);
    current->list_.clear();
    for (std::size_t i = 0; i < current->devices.size(); ++i) {
      if (i >= current->shown_.size()) current->shown_.push_back(std::make_unique<ibv_device>());
      ibv_device& shown = *current->shown_[i];
      shown.transport_type = current->devices[i].transport;
      std::strncpy(shown.name, current->devices[i].name.c_str(), sizeof shown.name - 1);
      current->list_.push_back(&shown);
    }
    *count = static_cast<int>(current->list_.size());
    current->list_.push_back(nullptr);
    return current->list_.data();
  }
  static void free_device_list(ibv_device**) {}
  static const char* get_device_name(ibv_device* device) { return device->name; }

  static ibv_context* open_device(ibv_device* device) {
    const Lock lock(current->mutex_);
    const auto found = std::ranges::find(current->shown_, device, &std::unique_ptr<ibv_device>::get);
    const auto index = static_cast<std::size_t>(found - current->shown_.begin());
    if (current->faults.gone) return refuse<ibv_context>(ENODEV);
    if (!current->devices[index].opens) return refuse<ibv_context>(EACCES);
    auto context = std::make_unique<Context>();
    int ends[2];
    if (::pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) return nullptr;
    context->device_index = index;
    context->device = device;
    context->async_fd = ends[0];
    context->events_end = ends[1];
    context->ops.post_send = post_send;
    context->ops.post_recv = post_recv;
    context->ops.post_srq_recv = post_srq_recv;
    context->ops.poll_cq = poll_cq;
    context->ops.req_notify_cq = req_notify_cq;
    current->contexts_.push_back(context.get());
    return context.release();
  }
  static int close_device(ibv_context* plain) {
    const Lock lock(current->mutex_);
    const std::unique_ptr<Context> context(static_cast<Context*>(plain));
    std::erase(current->contexts_, context.get());
    ::close(context->async_fd);
    ::close(context->events_end);
    return 0;
  }
  static int query_device(ibv_context* context, ibv_device_attr* attributes) {
    *attributes = device_of(context).limits;
    return 0;
  }
  static int query_device_ex(ibv_context* context, ibv_device_attr_ex* attributes) {
    const Device& device = device_of(context);
    *attributes = {};
    attributes->orig_attr = device.limits;
    attributes->odp_caps.general_caps = device.pages_on_demand != 0 ? unsigned{IBV_ODP_SUPPORT} : 0;
    attributes->odp_caps.per_transport_caps.rc_odp_caps = device.pages_on_demand;
    return 0;
  }
  static int query_port(ibv_context* context, std::uint8_t, _compat_ibv_port_attr* attributes) {
    std::memcpy(static_cast<void*>(attributes), &device_of(context).port, sizeof(ibv_port_attr));
    return 0;
  }
  static int query_gid(ibv_context* context, std::uint32_t, std::uint32_t index, ibv_gid_entry* entry,
                       std::uint32_t, std::size_t) {
    const auto& gids = device_of(context).gids;
    if (index >= gids.size()) return ENODATA;
    *entry = gids[index];
    return 0;
  }
  static int get_async_event(ibv_context* plain, ibv_async_event* event) {
    const Lock lock(current->mutex_);
    auto& context = static_cast<Context&>(*plain);
    if (!take_news(context.async_fd)) return -1;
    *event = {};
    event->event_type = context.events.front();
    event->element.port_num = 1;
    context.events.pop_front();
    return 0;
  }
  static void ack_async_event(ibv_async_event*) {}

  static ibv_pd* alloc_pd(ibv_context* context) {
    auto* const domain = new ibv_pd{};
    domain->context = context;
    return domain;
  }
  static int dealloc_pd(ibv_pd* domain) {
    delete domain;
    return 0;
  }
  static ibv_mr* reg_mr(ibv_pd* domain, void* memory, std::size_t bytes, int access) {
    const Lock lock(current->mutex_);
    if (current->faults.gone) return refuse<ibv_mr>(ENODEV);
    if ((access & IBV_ACCESS_ON_DEMAND) != 0) {
      if (device_of(domain->context).pages_on_demand == 0) return refuse<ibv_mr>(EOPNOTSUPP);
      current->on_demand_ += bytes;
    } else {
      if (current->locked_ + bytes > current->faults.lockable) return refuse<ibv_mr>(ENOMEM);
      current->locked_ += bytes;
      current->peak_ = std::max(current->peak_, current->locked_);
    }
    const std::uint32_t key = current->next_++;
    auto region = std::make_unique<ibv_mr>();
    *region = {domain->context, domain, memory, bytes, 0, key, key};
    return (current->regions_[key] = {std::move(region), access}).what.get();
  }
  static int dereg_mr(ibv_mr* region) {
    const Lock lock(current->mutex_);
    const auto found = current->regions_.find(region->lkey);
    const bool pinned = (found->second.access & IBV_ACCESS_ON_DEMAND) == 0;
    (pinned ? current->locked_ : current->on_demand_) -= region->length;
    current->regions_.erase(found);
    return 0;
  }

  static ibv_comp_channel* create_comp_channel(ibv_context* context) {
    int ends[2];
    if (::pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) return nullptr;
    auto* const channel = new Channel{};
    channel->context = context;
    channel->fd = ends[0];
    channel->refcnt = ends[1];  // the field has no other use here
    return channel;
  }
  static int destroy_comp_channel(ibv_comp_channel* channel) {
    ::close(channel->fd);
    ::close(channel->refcnt);
    delete static_cast<Channel*>(channel);
    return 0;
  }
  static ibv_cq* create_cq(ibv_context* context, int entries, void*, ibv_comp_channel* channel, int) {
    if (entries > device_of(context).limits.max_cqe) return refuse<ibv_cq>(EINVAL);
    auto* const queue = new Completions{};
    queue->context = context;
    queue->channel = channel;
    queue->cqe = entries;
    return queue;
  }
  static int destroy_cq(ibv_cq* queue) {
    delete static_cast<Completions*>(queue);
    return 0;
  }
  static int get_cq_event(ibv_comp_channel* channel, ibv_cq** queue, void**) {
    *queue = nullptr;
    return take_news(channel->fd) ? 0 : -1;
  }
  static void ack_cq_events(ibv_cq*, unsigned) {}

  static ibv_srq* create_srq(ibv_pd* domain, ibv_srq_init_attr* wanted) {
    const auto& limits = device_of(domain->context).limits;
    if (wanted->attr.max_wr > static_cast<std::uint32_t>(limits.max_srq_wr)) return refuse<ibv_srq>(EINVAL);
    auto* const queue = new Receives{};
    queue->context = domain->context;
    return queue;
  }
  static int destroy_srq(ibv_srq* queue) {
    delete static_cast<Receives*>(queue);
    return 0;
  }
  static ibv_qp* create_qp(ibv_pd* domain, ibv_qp_init_attr* wanted) {
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
  static int modify_qp(ibv_qp* plain, ibv_qp_attr* wanted, int mask) {
    const Lock lock(current->mutex_);
    auto& pair = static_cast<Pair&>(*plain);
    const auto& limits = device_of(pair.context).limits;
    if ((mask & IBV_QP_QKEY) != 0) pair.datagram_key = wanted->qkey;
    if (current->faults.gone) return ENODEV;
    if ((mask & IBV_QP_DEST_QPN) != 0 && !device_of(pair.context).connects) return ENETUNREACH;
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
    return 0;
  }
  static int destroy_qp(ibv_qp* plain) {
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
  static ibv_ah* create_ah(ibv_pd* domain, ibv_ah_attr*) {
    auto* const way = new ibv_ah{};
    way->context = domain->context;
    return way;
  }
  static int destroy_ah(ibv_ah* way) {
    delete way;
    return 0;
  }
  static const char* wc_status_str(ibv_wc_status status) {
    return status == IBV_WC_REM_ACCESS_ERR  ? "remote access error"
           : status == IBV_WC_RETRY_EXC_ERR ? "transport retry counter exceeded"
                                            : "another error";
  }
  static const char* event_type_str(ibv_event_type type) {
    return type == IBV_EVENT_PORT_ERR       ? "port error"
           : type == IBV_EVENT_DEVICE_FATAL ? "fatal error of the device"
                                            : "another event";
  }

  static int post_send(ibv_qp* plain, ibv_send_wr* request, ibv_send_wr** bad) {
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
  static void count(ibv_wr_opcode what) {
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
  static void receive(std::deque<Receive>& posted, const ibv_recv_wr* request) {
    for (; request != nullptr; request = request->next) posted.push_back({request->wr_id, *request->sg_list});
    for (const auto& [number, pair] : current->pairs_) {  // requests may have waited for this receive
      if (!pair->requests.empty()) current->begin_all(*pair);
    }
  }
  static int post_recv(ibv_qp* pair, ibv_recv_wr* request, ibv_recv_wr**) {
    const Lock lock(current->mutex_);
    receive(static_cast<Pair*>(pair)->receives, request);
    return 0;
  }
  static int post_srq_recv(ibv_srq* queue, ibv_recv_wr* request, ibv_recv_wr**) {
    const Lock lock(current->mutex_);
    receive(static_cast<Receives*>(queue)->posted, request);
    return 0;
  }
  static int poll_cq(ibv_cq* plain, int most, ibv_wc* found) {
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
  static int req_notify_cq(ibv_cq* queue, int) {
    const Lock lock(current->mutex_);
    static_cast<Completions*>(queue)->armed = true;
    return 0;
  }
};

Device::Device() {
  limits.vendor_id = 0x2c9;  // an adapter's
  limits.max_mr_size = UINT64_MAX;
  limits.max_qp = 1000;
  limits.max_qp_wr = 1024;
  limits.max_sge = 30;
  limits.max_cqe = 32767;
  limits.max_srq = 10;
  limits.max_srq_wr = 4096;
  limits.max_qp_rd_atom = 16;
  limits.max_qp_init_rd_atom = 16;
  limits.atomic_cap = IBV_ATOMIC_HCA;
  limits.phys_port_cnt = 1;
  port.state = IBV_PORT_ACTIVE;
  port.max_mtu = IBV_MTU_4096;
  port.active_mtu = IBV_MTU_4096;
  port.max_msg_sz = 1u << 30;
  port.gid_tbl_len = 4;
  port.lid = 1;
  port.active_width = 2;
  port.active_speed = 32;
  port.link_layer = IBV_LINK_LAYER_INFINIBAND;
  ibv_gid_entry gid{};
  gid.gid.raw[0] = 0xfe;
  gid.gid.raw[1] = 0x80;
  gids.push_back(gid);
}

void Device::make_iwarp() {
  transport = IBV_TRANSPORT_IWARP;
  limits.atomic_cap = IBV_ATOMIC_NONE;
  limits.max_sge = 6;
  limits.max_sge_rd = 1;
  most_inline = 80;
  port.link_layer = IBV_LINK_LAYER_ETHERNET;
}

Network::Network() {
  current = this;
  use_for_calls(*this);
}
Network::~Network() { current = nullptr; }

Device& Network::device_of(const Pair& pair) {
  return devices[static_cast<const Context*>(pair.context)->device_index];
}

void Network::event(ibv_event_type type) {
  const std::lock_guard lock(mutex_);
  for (Context* const context : contexts_) {
    context->events.push_back(type);
    const char news = 1;
    if (::write(context->events_end, &news, 1) != 1) ++counts.breaches;
  }
}

Verbs Network::verbs() const {
  return {.get_device_list = Calls::get_device_list,
          .free_device_list = Calls::free_device_list,
          .get_device_name = Calls::get_device_name,
          .open_device = Calls::open_device,
          .close_device = Calls::close_device,
          .query_device = Calls::query_device,
          .query_device_ex = Calls::query_device_ex,
          .query_port = Calls::query_port,
          .query_gid = Calls::query_gid,
          .get_async_event = Calls::get_async_event,
          .ack_async_event = Calls::ack_async_event,
          .alloc_pd = Calls::alloc_pd,
          .dealloc_pd = Calls::dealloc_pd,
          .reg_mr = Calls::reg_mr,
          .dereg_mr = Calls::dereg_mr,
          .create_comp_channel = Calls::create_comp_channel,
          .destroy_comp_channel = Calls::destroy_comp_channel,
          .create_cq = Calls::create_cq,
          .destroy_cq = Calls::destroy_cq,
          .get_cq_event = Calls::get_cq_event,
          .ack_cq_events = Calls::ack_cq_events,
          .create_srq = Calls::create_srq,
          .destroy_srq = Calls::destroy_srq,
          .create_qp = Calls::create_qp,
          .modify_qp = Calls::modify_qp,
          .destroy_qp = Calls::destroy_qp,
          .create_ah = Calls::create_ah,
          .destroy_ah = Calls::destroy_ah,
          .wc_status_str = Calls::wc_status_str,
          .event_type_str = Calls::event_type_str,
          .connections = connection_calls()};
}

}  // namespace aqueduct::conduits::ibv::mock
