#include "conduits/ucx/worker.hpp"

namespace aqueduct::conduits::ucx {

ucs_status_t Worker::open(std::span<const Handler> handlers) noexcept {
  ucp_worker_params_t params{};
  params.field_mask =
      UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_FLAGS | UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  params.flags = UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK;  // requests that a lost peer never answered
  params.am_alignment = 8;
  ucs_status_t status = ucp_.worker_create(context_.handle(), &params, &handle_);
  for (const auto& [id, callback, argument] : handlers) {
    if (status != UCS_OK) return status;
    ucp_am_handler_param_t handler{};
    handler.field_mask =
        UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    handler.id = id;
    handler.cb = callback;
    handler.arg = argument;
    status = ucp_.worker_set_am_recv_handler(handle_, &handler);
  }
  return status != UCS_OK ? status : ucp_.worker_get_efd(handle_, &descriptor_);
}

}  // namespace aqueduct::conduits::ucx
