#include "conduits/ibv/verbs.hpp"

#include <cerrno>
#include <cstddef>

#include <dlfcn.h>

namespace aqueduct::conduits::ibv {
namespace {

constexpr const char* kName = "libibverbs.so.1";

template <class Function>
void find(void* library, const char* name, Function& function, std::string& problem) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr) problem = std::string(kName) + " lacks " + name + ": it is too old";
}

// As the library's header does inline, but without its fallback for old drivers, which would need linking with the
// library.
int ask_extended(ibv_context* context, ibv_device_attr_ex* attributes) {
  const verbs_context* const extended = verbs_get_ctx(context);
  constexpr std::size_t kLeast = sizeof *extended - offsetof(verbs_context, query_device_ex);
  if (extended == nullptr || extended->sz < kLeast || extended->query_device_ex == nullptr) return EOPNOTSUPP;
  return extended->query_device_ex(context, nullptr, attributes, sizeof *attributes);
}

// Also part of rdma-core, and usually installed with it; only iWARP needs it.
ConnectionCalls load_connection_calls() {
  ConnectionCalls calls;
  void* const library = ::dlopen("librdmacm.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) return calls;
  std::string problem;
  const auto take = [&](const char* name, auto& function) { find(library, name, function, problem); };
  take("rdma_create_event_channel", calls.create_event_channel);
  take("rdma_destroy_event_channel", calls.destroy_event_channel);
  take("rdma_create_id", calls.create_id);
  take("rdma_destroy_id", calls.destroy_id);
  take("rdma_bind_addr", calls.bind_addr);
  take("rdma_listen", calls.listen);
  take("rdma_get_src_port", calls.get_src_port);
  take("rdma_resolve_addr", calls.resolve_addr);
  take("rdma_resolve_route", calls.resolve_route);
  take("rdma_connect", calls.connect);
  take("rdma_accept", calls.accept);
  take("rdma_reject", calls.reject);
  take("rdma_get_cm_event", calls.get_cm_event);
  take("rdma_ack_cm_event", calls.ack_cm_event);
  return problem.empty() ? calls : ConnectionCalls{};
}

/// The parent keeps the pages that the adapter knows, also if it forks. Since Linux 5.12 the kernel copies them at once for a
/// child. Before, the child gets no copy of them, and of nothing else that lies in these pages: of the allocator's own data, say, so that
/// fork() itself may end the child. Called before anything else of the library. It has no effect if other code in this
/// process has registered memory before; that is the program's choice.
void prepare_forks(void* library) {
  constexpr int kUnneeded = 2;  // IBV_FORK_UNNEEDED; ibv_fork_init would take the pages away all the same
  auto* const state = reinterpret_cast<int (*)()>(::dlsym(library, "ibv_is_fork_initialized"));
  if (state != nullptr && state() == kUnneeded) return;
  auto* const prepare = reinterpret_cast<int (*)()>(::dlsym(library, "ibv_fork_init"));
  if (prepare != nullptr) static_cast<void>(prepare());
}

}  // namespace

LoadedVerbs load_verbs() {
  LoadedVerbs loaded;
  // The library is never unloaded, because the drivers that it loads leave handlers behind.
  void* const library = ::dlopen(kName, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* const why = ::dlerror();
    loaded.problem = std::string(
                         "libibverbs is not installed here (on Debian: apt-get install libibverbs1 "
                         "ibverbs-providers): ") +
                     (why != nullptr ? why : "no reason given");
    return loaded;
  }
  prepare_forks(library);
  Verbs& verbs = loaded.verbs;
  const auto take = [&](const char* name, auto& function) { find(library, name, function, loaded.problem); };
  take("ibv_get_device_list", verbs.get_device_list);
  take("ibv_free_device_list", verbs.free_device_list);
  take("ibv_get_device_name", verbs.get_device_name);
  take("ibv_open_device", verbs.open_device);
  take("ibv_close_device", verbs.close_device);
  take("ibv_query_device", verbs.query_device);
  verbs.query_device_ex = ask_extended;
  take("ibv_query_port", verbs.query_port);
  take("_ibv_query_gid_ex", verbs.query_gid);
  take("ibv_get_async_event", verbs.get_async_event);
  take("ibv_ack_async_event", verbs.ack_async_event);
  take("ibv_alloc_pd", verbs.alloc_pd);
  take("ibv_dealloc_pd", verbs.dealloc_pd);
  take("ibv_reg_mr", verbs.reg_mr);
  take("ibv_dereg_mr", verbs.dereg_mr);
  take("ibv_create_comp_channel", verbs.create_comp_channel);
  take("ibv_destroy_comp_channel", verbs.destroy_comp_channel);
  take("ibv_create_cq", verbs.create_cq);
  take("ibv_destroy_cq", verbs.destroy_cq);
  take("ibv_get_cq_event", verbs.get_cq_event);
  take("ibv_ack_cq_events", verbs.ack_cq_events);
  take("ibv_create_srq", verbs.create_srq);
  take("ibv_destroy_srq", verbs.destroy_srq);
  take("ibv_create_qp", verbs.create_qp);
  take("ibv_modify_qp", verbs.modify_qp);
  take("ibv_destroy_qp", verbs.destroy_qp);
  take("ibv_create_ah", verbs.create_ah);
  take("ibv_destroy_ah", verbs.destroy_ah);
  take("ibv_wc_status_str", verbs.wc_status_str);
  take("ibv_event_type_str", verbs.event_type_str);
  verbs.connections = load_connection_calls();
  return loaded;
}

}  // namespace aqueduct::conduits::ibv
