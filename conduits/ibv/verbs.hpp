#pragma once

#include "conduits/ibv/connection_calls.hpp"

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <string>

namespace aqueduct::conduits::ibv {

/// The functions of libibverbs that this conduit calls. The functions that move data (ibv_post_send, ibv_poll_cq, …)
/// are not among them: they are inline and go through tables in the objects, so this indirection costs the fast path
/// nothing.
///
/// The library is loaded when this conduit is first asked for, so the same program runs on sites without it. Tests fill
/// the table with a mock device.
struct Verbs {
  ibv_device** (*get_device_list)(int* count) = nullptr;
  void (*free_device_list)(ibv_device** list) = nullptr;
  const char* (*get_device_name)(ibv_device* device) = nullptr;
  ibv_context* (*open_device)(ibv_device* device) = nullptr;
  int (*close_device)(ibv_context* context) = nullptr;
  int (*query_device)(ibv_context* context, ibv_device_attr* attributes) = nullptr;
  /// EOPNOTSUPP if the driver lacks the extended query. The library does not export it, but reaches it through the
  /// context.
  int (*query_device_ex)(ibv_context* context, ibv_device_attr_ex* attributes) = nullptr;
  int (*query_port)(ibv_context* context, std::uint8_t port, _compat_ibv_port_attr* attributes) = nullptr;
  int (*query_gid)(ibv_context* context, std::uint32_t port, std::uint32_t index, ibv_gid_entry* entry,
                   std::uint32_t flags, std::size_t entry_bytes) = nullptr;
  int (*get_async_event)(ibv_context* context, ibv_async_event* event) = nullptr;
  void (*ack_async_event)(ibv_async_event* event) = nullptr;

  ibv_pd* (*alloc_pd)(ibv_context* context) = nullptr;
  int (*dealloc_pd)(ibv_pd* domain) = nullptr;
  ibv_mr* (*reg_mr)(ibv_pd* domain, void* memory, std::size_t bytes, int access) = nullptr;
  int (*dereg_mr)(ibv_mr* region) = nullptr;

  ibv_comp_channel* (*create_comp_channel)(ibv_context* context) = nullptr;
  int (*destroy_comp_channel)(ibv_comp_channel* channel) = nullptr;
  ibv_cq* (*create_cq)(ibv_context* context, int entries, void* cookie, ibv_comp_channel* channel,
                       int vector) = nullptr;
  int (*destroy_cq)(ibv_cq* queue) = nullptr;
  int (*get_cq_event)(ibv_comp_channel* channel, ibv_cq** queue, void** cookie) = nullptr;
  void (*ack_cq_events)(ibv_cq* queue, unsigned count) = nullptr;

  ibv_srq* (*create_srq)(ibv_pd* domain, ibv_srq_init_attr* attributes) = nullptr;
  int (*destroy_srq)(ibv_srq* queue) = nullptr;
  ibv_qp* (*create_qp)(ibv_pd* domain, ibv_qp_init_attr* attributes) = nullptr;
  int (*modify_qp)(ibv_qp* pair, ibv_qp_attr* attributes, int mask) = nullptr;
  int (*destroy_qp)(ibv_qp* pair) = nullptr;
  ibv_ah* (*create_ah)(ibv_pd* domain, ibv_ah_attr* attributes) = nullptr;
  int (*destroy_ah)(ibv_ah* handle) = nullptr;

  const char* (*wc_status_str)(ibv_wc_status status) = nullptr;
  const char* (*event_type_str)(ibv_event_type event) = nullptr;

  ConnectionCalls connections;  ///< of librdmacm, which may be absent
};

struct LoadedVerbs {
  Verbs verbs;
  std::string problem;  ///< why the library cannot be used, for log messages; empty: it can
};

/// Loads the library, which is never unloaded.
LoadedVerbs load_verbs();

/// Destroys an object of the library. Failures are ignored: the system cleans up when the process ends.
template <class T>
struct Destroy {
  int (*destroy)(T* object) = nullptr;
  void operator()(T* object) const noexcept { static_cast<void>(destroy(object)); }
};

/// An owned object of the library.
template <class T>
using Owned = std::unique_ptr<T, Destroy<T>>;

}  // namespace aqueduct::conduits::ibv
