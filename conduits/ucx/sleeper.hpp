#pragma once

#include "conduits/ucx/delivery.hpp"
#include "conduits/ucx/flushes.hpp"
#include "conduits/ucx/lost_peers.hpp"
#include "conduits/ucx/messages.hpp"
#include "conduits/ucx/operations.hpp"
#include "conduits/ucx/owner_lock.hpp"
#include "conduits/ucx/peers.hpp"
#include "conduits/ucx/put_messages.hpp"
#include "conduits/ucx/worker.hpp"
#include "core/conduit.hpp"
#include "core/progress_thread.hpp"

#include <chrono>

namespace aqueduct::conduits::ucx {

/// Sleeps on the worker's descriptor.
class Sleeper final : public core::Waitable {
 public:
  Sleeper(const Worker& worker, const OwnerLock& lock, const Delivery& delivery, const Operations& operations,
          const Flushes& flushes, PutMessages& put_messages, const Messages& messages, const Peers& peers,
          const LostPeers& lost)
      : worker_(worker),
        lock_(lock),
        delivery_(delivery),
        operations_(operations),
        flushes_(flushes),
        put_messages_(put_messages),
        messages_(messages),
        peers_(peers),
        lost_(lost) {}

  /// Names the progress thread, which must pause while the owner sleeps: its progress would not wake the owner.
  void pauses(core::ProgressThread& thread) noexcept { thread_ = &thread; }

  void arm() noexcept override;
  void disarm() noexcept override;
  void sleep(std::chrono::nanoseconds limit) noexcept override;
  std::chrono::nanoseconds within() const noexcept override;
  int descriptor() const noexcept override { return worker_.descriptor(); }

 private:
  using Entry = OwnerLock::Entry;

  const Worker& worker_;
  const OwnerLock& lock_;
  const Delivery& delivery_;
  const Operations& operations_;
  const Flushes& flushes_;
  PutMessages& put_messages_;
  const Messages& messages_;
  const Peers& peers_;
  const LostPeers& lost_;
  core::ProgressThread* thread_ = nullptr;
  bool ready_ = false;  ///< UCX refused to be armed: it has work
};

}  // namespace aqueduct::conduits::ucx
