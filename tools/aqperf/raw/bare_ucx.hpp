#pragma once

#include "conduits/ucx/context.hpp"
#include "tools/aqperf/measure/patience.hpp"
#include "tools/aqperf/raw/raw_network.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace aqueduct::perf {

/// Two UCP workers, one at each rank, and plain calls of UCP between them.
///
/// The passive side makes progress while the active one works: UCX's TCP transport stands still without that.
class BareUcx {
 public:
  /// Collective.
  BareUcx(Session& session, Role role, const NetworkTurn& turn);
  ~BareUcx();
  BareUcx(const BareUcx&) = delete;
  BareUcx& operator=(const BareUcx&) = delete;

  /// Whether everything could be opened, here and at the peer.
  bool usable() const noexcept { return usable_; }
  /// To be called at both ranks.
  void run(std::uint64_t turns);

 private:
  bool open(Session& session);
  bool meet(Session& session);
  void transfers();
  void send(std::size_t bytes);
  void await_message();
  void await(ucs_status_ptr_t request);
  static ucs_status_t on_message(void* arg, const void*, std::size_t, void*, std::size_t,
                                 const ucp_am_recv_param_t*);

  const conduits::ucx::Library& ucp() const noexcept { return context_->ucp(); }

  Role role_;
  NetworkTurn turn_;
  Patience patience_;
  std::unique_ptr<conduits::ucx::Context> context_;
  ucp_worker_h worker_ = nullptr;
  ucp_ep_h peer_ = nullptr;
  // Of the memory: the first half is the local buffer, the second half is the peer's target.
  std::size_t half_;
  std::byte* memory_ = nullptr;  // allocated by UCX: between processes it accesses no other memory directly
  ucp_mem_h registered_ = nullptr;
  ucp_rkey_h key_ = nullptr;
  std::uint64_t there_ = 0;                  // address of the peer's second half
  std::vector<ucs_status_ptr_t> under_way_;  // requests of a window that have not completed
  std::uint64_t received_ = 0;
  std::uint64_t expected_ = 0;
  bool usable_ = false;
};

}  // namespace aqueduct::perf
