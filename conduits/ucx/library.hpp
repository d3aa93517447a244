#pragma once

#include <ucp/api/ucp.h>

#include <optional>
#include <string>

namespace aqueduct::conduits::ucx {

/// The functions of UCX that the conduit calls, from the library that this host has.
///
/// UCX is loaded when a job asks for it, not linked: loading it installs signal handlers, and a host without UCX can run all
/// other conduits. Unless the environment sets UCX_HANDLE_ERRORS, UCX_LOG_LEVEL or UCX_MEM_EVENTS, `load` keeps UCX from
/// installing handlers, from printing, and from patching the program's memory calls. Once loaded it stays loaded.
struct Library {
  /// Loads UCX. Nothing: `why` says what is missing and what to do.
  ///
  /// Threads: changes the environment during the first call.
  static std::optional<Library> load(std::string& why);

  /// "1.13.1"
  std::string version() const { return get_version_string(); }
  /// Whether several threads may use UCX at once, each with its own worker.
  bool has_threads() const noexcept;

  decltype(&::ucp_get_version) get_version = nullptr;
  decltype(&::ucp_get_version_string) get_version_string = nullptr;
  decltype(&::ucp_lib_query) lib_query = nullptr;
  decltype(&::ucp_config_read) config_read = nullptr;
  decltype(&::ucp_config_modify) config_modify = nullptr;
  decltype(&::ucp_config_release) config_release = nullptr;
  decltype(&::ucp_init_version) init_version = nullptr;
  decltype(&::ucp_cleanup) cleanup = nullptr;
  decltype(&::ucp_context_print_info) context_print_info = nullptr;
  decltype(&::ucp_worker_create) worker_create = nullptr;
  decltype(&::ucp_worker_destroy) worker_destroy = nullptr;
  decltype(&::ucp_worker_get_address) worker_get_address = nullptr;
  decltype(&::ucp_worker_release_address) worker_release_address = nullptr;
  decltype(&::ucp_worker_set_am_recv_handler) worker_set_am_recv_handler = nullptr;
  decltype(&::ucp_worker_progress) worker_progress = nullptr;
  decltype(&::ucp_worker_arm) worker_arm = nullptr;
  decltype(&::ucp_worker_get_efd) worker_get_efd = nullptr;
  decltype(&::ucp_ep_create) ep_create = nullptr;
  decltype(&::ucp_ep_close_nbx) ep_close_nbx = nullptr;
  decltype(&::ucp_ep_flush_nbx) ep_flush_nbx = nullptr;
  decltype(&::ucp_ep_print_info) ep_print_info = nullptr;
  decltype(&::ucp_am_send_nbx) am_send_nbx = nullptr;
  decltype(&::ucp_am_recv_data_nbx) am_recv_data_nbx = nullptr;
  decltype(&::ucp_put_nbx) put_nbx = nullptr;
  decltype(&::ucp_get_nbx) get_nbx = nullptr;
  decltype(&::ucp_mem_map) mem_map = nullptr;
  decltype(&::ucp_mem_unmap) mem_unmap = nullptr;
  decltype(&::ucp_mem_query) mem_query = nullptr;
  decltype(&::ucp_rkey_pack) rkey_pack = nullptr;
  decltype(&::ucp_rkey_buffer_release) rkey_buffer_release = nullptr;
  decltype(&::ucp_ep_rkey_unpack) ep_rkey_unpack = nullptr;
  decltype(&::ucp_rkey_ptr) rkey_ptr = nullptr;
  decltype(&::ucp_rkey_destroy) rkey_destroy = nullptr;
  decltype(&::ucp_request_free) request_free = nullptr;
  decltype(&::ucp_request_check_status) request_check_status = nullptr;
  decltype(&::ucs_status_string) status_string = nullptr;
};

}  // namespace aqueduct::conduits::ucx
