#pragma once

#include <rdma/rdma_cma.h>

#include <cstdint>

namespace aqueduct::conduits::ibv {

/// The functions of librdmacm that this conduit calls. All are null where the library is not installed. Only iWARP
/// needs it, because nothing else makes iWARP connections.
struct ConnectionCalls {
  rdma_event_channel* (*create_event_channel)() = nullptr;
  void (*destroy_event_channel)(rdma_event_channel* channel) = nullptr;
  int (*create_id)(rdma_event_channel* channel, rdma_cm_id** id, void* context,
                   rdma_port_space space) = nullptr;
  int (*destroy_id)(rdma_cm_id* id) = nullptr;
  int (*bind_addr)(rdma_cm_id* id, sockaddr* address) = nullptr;
  int (*listen)(rdma_cm_id* id, int backlog) = nullptr;
  std::uint16_t (*get_src_port)(rdma_cm_id* id) = nullptr;  ///< in network byte order
  int (*resolve_addr)(rdma_cm_id* id, sockaddr* from, sockaddr* to, int milliseconds) = nullptr;
  int (*resolve_route)(rdma_cm_id* id, int milliseconds) = nullptr;
  int (*connect)(rdma_cm_id* id, rdma_conn_param* how) = nullptr;
  int (*accept)(rdma_cm_id* id, rdma_conn_param* how) = nullptr;
  int (*reject)(rdma_cm_id* id, const void* data, std::uint8_t bytes) = nullptr;
  int (*get_cm_event)(rdma_event_channel* channel, rdma_cm_event** event) = nullptr;
  int (*ack_cm_event)(rdma_cm_event* event) = nullptr;

  bool loaded() const noexcept { return create_event_channel != nullptr; }
};

}  // namespace aqueduct::conduits::ibv
