#pragma once

#include "conduits/ucx/context.hpp"
#include "core/network.hpp"

#include <memory>

namespace aqueduct::conduits::ucx {

/// UCX in one process: the context that its endpoints share. Each endpoint has a worker of its own.
class UcxNetwork final : public core::Network {
 public:
  static Result<std::unique_ptr<core::Network>> make(const core::Process& process);

  UcxNetwork(const core::Process& process, std::unique_ptr<Context> context)
      : process_(process), context_(std::move(context)) {}

  Result<std::unique_ptr<core::Conduit>> open(Rank me) override;

 private:
  core::Process process_;
  std::unique_ptr<Context> context_;
};

}  // namespace aqueduct::conduits::ucx
