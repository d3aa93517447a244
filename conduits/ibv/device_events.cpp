#include "conduits/ibv/device_events.hpp"

namespace aqueduct::conduits::ibv {

void DeviceEvents::take() noexcept {
  striping_.take_events();
  ibv_async_event event{};
  while (env_.verbs.get_async_event(env_.objects.context.get(), &event) == 0) {
    const char* const text = env_.verbs.event_type_str(event.event_type);
    switch (event.event_type) {
      case IBV_EVENT_DEVICE_FATAL:
      case IBV_EVENT_CQ_ERR:
      case IBV_EVENT_SRQ_ERR: losses_.give_up(text); break;
      case IBV_EVENT_PORT_ERR:
        env_.log.warn("ibv: rank {}: the link of {}:{} is down ({}): peers are lost if it stays so", env_.me,
                      env_.port.device, event.element.port_num, text);
        break;
      case IBV_EVENT_PORT_ACTIVE:
        env_.log.info("ibv: rank {}: the link of {}:{} is up again", env_.me, env_.port.device,
                      event.element.port_num);
        break;
      case IBV_EVENT_GID_CHANGE:
      case IBV_EVENT_LID_CHANGE:
        env_.log.warn(
            "ibv: rank {}: {}:{} has other addresses now ({}): peers that are not connected yet will not be",
            env_.me, env_.port.device, event.element.port_num, text);
        break;
      case IBV_EVENT_QP_FATAL:
      case IBV_EVENT_QP_REQ_ERR:
      case IBV_EVENT_QP_ACCESS_ERR:
        if (const Connection* const connection = connections_.find_by_pair(event.element.qp->qp_num);
            connection != nullptr) {
          env_.log.warn("ibv: rank {}: {}: the queue pair of rank {}: {}", env_.me, env_.port.device,
                        connection->peer, text);
          losses_.suspect(connection->peer, text);
        }
        break;
      default: env_.log.debug("ibv: rank {}: {}: {}", env_.me, env_.port.device, text); break;
    }
    env_.verbs.ack_async_event(&event);
  }
}

}  // namespace aqueduct::conduits::ibv
