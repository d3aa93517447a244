#pragma once

#include "conduits/udp/carrier/interface.hpp"
#include "conduits/udp/process_conduits.hpp"
#include "core/network.hpp"

#include <mutex>
#include <optional>

namespace aqueduct::conduits::udp {

/// UDP in one process: chooses the interface for all its endpoints, and opens their conduits.
class UdpNetwork final : public core::Network {
 public:
  explicit UdpNetwork(const core::Process& process) : process_(process) {}

  Result<std::unique_ptr<core::Conduit>> open(Rank me) override;

 private:
  Result<InterfaceInfo> interface();

  core::Process process_;
  std::mutex mutex_;  // endpoints may be opened by several threads
  std::optional<InterfaceInfo> chosen_;
  ProcessConduits process_conduits_;
};

}  // namespace aqueduct::conduits::udp
