#pragma once

#include "conduits/ibv/tests/mock_device.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

namespace aqueduct::conduits::ibv::mock {

/// The functions in the table of verbs.
struct Calls {
  using Lock = std::lock_guard<std::recursive_mutex>;
  using Context = Network::Context;

  static inline Network* current = nullptr;  // a global, because verbs are plain functions

  template <class T>
  static T* refuse(int error) {
    errno = error;
    return nullptr;
  }
  /// Reads one byte without waiting.
  static bool take_news(int descriptor);

  // mock_devices_support.cpp
  static const Device& device_of(const ibv_context* context);
  static ibv_device** get_device_list(int* count);
  static void free_device_list(ibv_device**);
  static const char* get_device_name(ibv_device* device);
  static ibv_context* open_device(ibv_device* device);
  static int close_device(ibv_context* plain);
  static int query_device(ibv_context* context, ibv_device_attr* attributes);
  static int query_device_ex(ibv_context* context, ibv_device_attr_ex* attributes);
  static int query_port(ibv_context* context, std::uint8_t, _compat_ibv_port_attr* attributes);
  static int query_gid(ibv_context* context, std::uint32_t, std::uint32_t index, ibv_gid_entry* entry,
                       std::uint32_t, std::size_t);
  static int get_async_event(ibv_context* plain, ibv_async_event* event);
  static void ack_async_event(ibv_async_event*);
  static const char* event_type_str(ibv_event_type type);

  // mock_memory_support.cpp
  static ibv_pd* alloc_pd(ibv_context* context);
  static int dealloc_pd(ibv_pd* domain);
  static ibv_mr* reg_mr(ibv_pd* domain, void* memory, std::size_t bytes, int access);
  static int dereg_mr(ibv_mr* region);

  // mock_queues_support.cpp
  static ibv_comp_channel* create_comp_channel(ibv_context* context);
  static int destroy_comp_channel(ibv_comp_channel* channel);
  static ibv_cq* create_cq(ibv_context* context, int entries, void*, ibv_comp_channel* channel, int);
  static int destroy_cq(ibv_cq* queue);
  static int get_cq_event(ibv_comp_channel* channel, ibv_cq** queue, void**);
  static void ack_cq_events(ibv_cq*, unsigned);
  static ibv_srq* create_srq(ibv_pd* domain, ibv_srq_init_attr* wanted);
  static int destroy_srq(ibv_srq* queue);
  static ibv_qp* create_qp(ibv_pd* domain, ibv_qp_init_attr* wanted);
  static int modify_qp(ibv_qp* plain, ibv_qp_attr* wanted, int mask);
  static int destroy_qp(ibv_qp* plain);
  static ibv_ah* create_ah(ibv_pd* domain, ibv_ah_attr*);
  static int destroy_ah(ibv_ah* way);

  // mock_posts_support.cpp
  static int post_send(ibv_qp* plain, ibv_send_wr* request, ibv_send_wr** bad);
  static void count(ibv_wr_opcode what);
  static int receive(std::deque<Receive>& posted, ibv_recv_wr* request, ibv_recv_wr** bad);
  static int post_recv(ibv_qp* pair, ibv_recv_wr* request, ibv_recv_wr** bad);
  static int post_srq_recv(ibv_srq* queue, ibv_recv_wr* request, ibv_recv_wr** bad);
  static int poll_cq(ibv_cq* plain, int most, ibv_wc* found);
  static int req_notify_cq(ibv_cq* queue, int);
  static const char* wc_status_str(ibv_wc_status status);
};

}  // namespace aqueduct::conduits::ibv::mock
