#pragma once

#include "conduits/ofi/objects.hpp"
#include "conduits/ofi/provider.hpp"
#include "conduits/ofi/registrations.hpp"
#include "core/log.hpp"
#include "tools/aqperf/measure/patience.hpp"
#include "tools/aqperf/raw/raw_network.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace aqueduct::perf {

/// Two endpoints of libfabric, one at each rank, and plain calls of libfabric between them.
///
/// The passive side polls its queue while the active one works: most providers make no progress without that.
class BareOfi {
 public:
  /// Collective.
  BareOfi(Session& session, Role role, const NetworkTurn& turn);

  /// Whether everything could be opened, here and at the peer.
  bool usable() const noexcept { return usable_; }
  std::string provider() const { return provider_.name(); }
  /// To be called at both ranks.
  void run(std::uint64_t turns);

 private:
  bool open(Session& session);
  void meet(Session& session);
  void transfers(std::uint64_t turns);
  void answers(std::uint64_t turns);
  void send(std::size_t bytes);
  void receive_one();
  void look();
  template <class Condition>
  void wait(const Patience& patience, const Condition& holds);
  template <class Call>
  void insist(const Call& call);
  std::byte* inbox() noexcept { return memory_.data() + memory_.size() / 2; }

  Role role_;
  NetworkTurn turn_;
  Patience patience_;
  Patience served_;  // of the passive side, which does not see accesses to its memory
  Config config_;
  core::Log log_;
  conduits::ofi::Provider provider_;
  std::vector<std::byte> memory_;  // the first half is the local buffer, the peer writes the second half
  conduits::ofi::Fid<fid_fabric> fabric_;
  conduits::ofi::Objects objects_;
  std::optional<conduits::ofi::Registrations> registrations_;
  std::vector<std::byte> key_;
  void* descriptor_ = nullptr;
  fi_addr_t peer_ = FI_ADDR_NOTAVAIL;
  std::uint64_t there_ = 0;  // address of the peer's second half
  std::uint64_t there_key_ = 0;
  std::uint64_t most_ = 0;      // limit for `sent_`
  std::uint64_t sent_ = 0;      // posted and not yet completed, of what completes in the queue
  std::uint64_t received_ = 0;  // messages
  std::uint64_t expected_ = 0;
  fi_context2 receiving_{};
  fi_context2 sending_{};
  std::vector<fi_context2> contexts_;  // one per operation of a window
  bool usable_ = false;
};

}  // namespace aqueduct::perf
