#pragma once

#include "conduits/ucx/context.hpp"
#include "core/network.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace aqueduct::conduits::ucx {

/// How a process with `workers` workers will use UCX, in a job whose ranks are on these hosts.
ContextOptions context_options_of(const Config& config, std::span<const std::uint32_t> host_of,
                                  std::size_t workers);

/// UCX in one process: the context that its endpoints share. Each endpoint has its own worker.
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
