#pragma once

#include "conduits/ucx/context.hpp"
#include "conduits/ucx/wire.hpp"

#include <span>

namespace aqueduct::conduits::ucx {

/// A UCP worker, with its handlers of active messages and its descriptor.
class Worker {
 public:
  /// The handler of messages of one id.
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
  /// Not done by the destructor, because UCX calls back meanwhile.
  void destroy() noexcept { ucp_.worker_destroy(handle_); }

  ucp_worker_h handle() const noexcept { return handle_; }
  unsigned progress() const noexcept { return ucp_.worker_progress(handle_); }
  /// Makes the descriptor readable at the next event. False: UCX has work now.
  bool arm() const noexcept { return ucp_.worker_arm(handle_) == UCS_OK; }
  /// Once armed, readable when UCX has work; -1: the worker is not open.
  int descriptor() const noexcept { return descriptor_; }

 private:
  const Library& ucp_;
  Context& context_;
  ucp_worker_h handle_ = nullptr;
  int descriptor_ = -1;
};

}  // namespace aqueduct::conduits::ucx
