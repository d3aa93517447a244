// Devices of the mock network: what they are, how they are opened and asked, and their events.

#include "conduits/ibv/tests/mock_calls.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <unistd.h>

namespace aqueduct::conduits::ibv::mock {

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

bool Calls::take_news(int descriptor) {
  char news = 0;
  return ::read(descriptor, &news, 1) == 1;
}

const Device& Calls::device_of(const ibv_context* context) {
  return current->devices[static_cast<const Context*>(context)->device_index];
}

ibv_device** Calls::get_device_list(int* count) {
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

void Calls::free_device_list(ibv_device**) {}

const char* Calls::get_device_name(ibv_device* device) { return device->name; }

ibv_context* Calls::open_device(ibv_device* device) {
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

int Calls::close_device(ibv_context* plain) {
  const Lock lock(current->mutex_);
  const std::unique_ptr<Context> context(static_cast<Context*>(plain));
  std::erase(current->contexts_, context.get());
  ::close(context->async_fd);
  ::close(context->events_end);
  return 0;
}

int Calls::query_device(ibv_context* context, ibv_device_attr* attributes) {
  *attributes = device_of(context).limits;
  return 0;
}

int Calls::query_device_ex(ibv_context* context, ibv_device_attr_ex* attributes) {
  const Device& device = device_of(context);
  *attributes = {};
  attributes->orig_attr = device.limits;
  attributes->odp_caps.general_caps = device.pages_on_demand != 0 ? unsigned{IBV_ODP_SUPPORT} : 0;
  attributes->odp_caps.per_transport_caps.rc_odp_caps = device.pages_on_demand;
  return 0;
}

int Calls::query_port(ibv_context* context, std::uint8_t, _compat_ibv_port_attr* attributes) {
  std::memcpy(static_cast<void*>(attributes), &device_of(context).port, sizeof(ibv_port_attr));
  return 0;
}

int Calls::query_gid(ibv_context* context, std::uint32_t, std::uint32_t index, ibv_gid_entry* entry,
                     std::uint32_t, std::size_t) {
  const auto& gids = device_of(context).gids;
  if (index >= gids.size()) return ENODATA;
  *entry = gids[index];
  return 0;
}

int Calls::get_async_event(ibv_context* plain, ibv_async_event* event) {
  const Lock lock(current->mutex_);
  auto& context = static_cast<Context&>(*plain);
  if (!take_news(context.async_fd)) return -1;
  *event = {};
  event->event_type = context.events.front();
  event->element.port_num = 1;
  context.events.pop_front();
  return 0;
}

void Calls::ack_async_event(ibv_async_event*) {}

const char* Calls::event_type_str(ibv_event_type type) {
  return type == IBV_EVENT_PORT_ERR       ? "port error"
         : type == IBV_EVENT_DEVICE_FATAL ? "fatal error of the device"
                                          : "another event";
}

}  // namespace aqueduct::conduits::ibv::mock
