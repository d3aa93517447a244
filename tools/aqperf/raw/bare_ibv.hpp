#pragma once

#include "conduits/ibv/device.hpp"
#include "conduits/ibv/objects.hpp"
#include "conduits/ibv/wire.hpp"
#include "core/log.hpp"
#include "tools/aqperf/measure/patience.hpp"
#include "tools/aqperf/raw/raw_network.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace aqueduct::perf {

/// Two connected queue pairs, one at each rank, and plain work requests between them.
class BareIbv {
 public:
  /// Collective.
  BareIbv(Session& session, Role role, const NetworkTurn& turn);

  /// Whether everything could be opened, here and at the peer.
  bool usable() const noexcept { return usable_; }
  const std::string& device() const noexcept { return port_.device; }
  /// To be called at both ranks.
  void run(std::uint64_t turns);

 private:
  bool open(Session& session);
  bool meet(Session& session);
  void make_window();
  void transfers(std::uint64_t turns);
  void send(std::size_t bytes);
  void receive_one();
  void look();
  std::byte* inbox() noexcept { return memory_.data() + memory_.size() / 2; }

  Role role_;
  NetworkTurn turn_;
  Patience patience_;
  Config config_;
  core::Log log_;
  conduits::ibv::Verbs verbs_;
  conduits::ibv::Port port_;
  std::vector<std::byte> memory_;  // the first half is the local buffer, the second half is the peer's target
  conduits::ibv::Objects objects_;
  conduits::ibv::Owned<ibv_mr> region_;
  conduits::ibv::Owned<ibv_qp> pair_;
  std::uint32_t inline_bytes_ = 0;
  std::uint64_t there_ = 0;  // address of the peer's second half
  std::uint32_t there_key_ = 0;
  ibv_sge piece_{};
  std::vector<ibv_send_wr> window_;  // only the last request is signaled
  std::uint64_t sent_ = 0;           // posted and not yet completed
  std::uint64_t received_ = 0;
  std::uint64_t expected_ = 0;
  bool usable_ = false;
};

}  // namespace aqueduct::perf
