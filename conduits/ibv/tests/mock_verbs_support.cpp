// The mock network as a whole, and its table of verbs.

#include "conduits/ibv/tests/mock_calls.hpp"

#include <unistd.h>

namespace aqueduct::conduits::ibv::mock {

Network::Network() {
  Calls::current = this;
  use_for_calls(*this);
}
Network::~Network() { Calls::current = nullptr; }

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
