#pragma once

#include "conduits/ibv/device.hpp"
#include "conduits/ibv/verbs.hpp"
#include "core/network.hpp"

#include <mutex>

namespace aqueduct::conduits::ibv {

/// The ports that the endpoints of one process use.
class IbvNetwork final : public core::Network {
 public:
  /// `verbs`: of the library, or of a test.
  IbvNetwork(const core::Process& process, const Verbs& verbs) : process_(process), verbs_(verbs) {}

  Result<std::unique_ptr<core::Conduit>> open(Rank me) override;

 private:
  Status choose();

  core::Process process_;
  Verbs verbs_;
  std::mutex mutex_;  // several threads may open endpoints
  bool chosen_ = false;
  Port port_;
  std::vector<Port> rails_;
};

/// What the settings ask for.
Wish wish_of(const Config& config);

}  // namespace aqueduct::conduits::ibv
