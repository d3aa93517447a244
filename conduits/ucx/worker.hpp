#pragma once

#include "conduits/ucx/context.hpp"
#include "conduits/ucx/wire.hpp"

#include <span>

namespace aqueduct::conduits::ucx {

/// A UCP worker: one endpoint's queues of UCX.
class Worker {
 public:
  /// What UCX calls for messages of one id.
  struct Handler {
    MessageId id;
    ucp_am_recv_callback_t callback;
    void* argument;
  };

  explicit Worker(Context& context) : ucp_(context.ucp()), context_(context) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  ucs_status_t open(std::span<const Handler> handlers) noexcept;
  bool is_open() const noexcept { return handle_ != nullptr; }
  /// Ends it. Not in the destructor: UCX calls back meanwhile.
  void destroy() noexcept { ucp_.worker_destroy(handle_); }

  ucp_worker_h handle() const noexcept { return handle_; }
  unsigned progress() const noexcept { return ucp_.worker_progress(handle_); }
  /// Whether the descriptor becomes readable from now on. False: UCX has work.
  bool arm() const noexcept { return ucp_.worker_arm(handle_) == UCS_OK; }
  /// Readable when UCX has work, once armed; -1: not open.
  int descriptor() const noexcept { return descriptor_; }

 private:
  const Library& ucp_;
  Context& context_;
  ucp_worker_h handle_ = nullptr;
  int descriptor_ = -1;
};

}  // namespace aqueduct::conduits::ucx
