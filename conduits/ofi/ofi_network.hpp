#pragma once

#include "conduits/ofi/ofi_conduit.hpp"
#include "conduits/ofi/provider.hpp"
#include "core/network.hpp"

#include <memory>
#include <mutex>

namespace aqueduct::conduits::ofi {

/// libfabric in one process: which provider its endpoints use.
class OfiNetwork final : public core::Network {
 public:
  explicit OfiNetwork(const core::Process& process) : process_(process) {}

  Result<std::unique_ptr<core::Conduit>> open(Rank me) override;

 private:
  Status choose();
  bool sleeps(Rank me) const;

  core::Process process_;
  std::mutex mutex_;  // endpoints may be opened by several threads
  Provider provider_;
  Fid<fid_fabric> fabric_;
};

/// What the settings ask for. `one_host`: all ranks of the job share a host.
ProviderCriteria criteria_of(const Config& config, bool one_host);

}  // namespace aqueduct::conduits::ofi
