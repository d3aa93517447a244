#include "conduits/ucx/ucx_network.hpp"

#include "conduits/ucx/ucx_conduit.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace aqueduct::conduits::ucx {

ContextOptions context_options_of(const Config& config, std::span<const std::uint32_t> host_of,
                                  std::size_t workers) {
  const bool one_host =
      std::ranges::count(host_of, host_of.front()) == static_cast<std::ptrdiff_t>(host_of.size());
  ContextOptions options;
  options.transports = config.text("ucx_transports");
  options.devices = config.text("ucx_devices");
  options.one_host = one_host;
  options.other_hosts_only = config.flag("near") && !one_host;  // smp serves this host
  options.ranks = host_of.size();
  options.threads = workers > 1;
  return options;
}

Result<std::unique_ptr<core::Network>> UcxNetwork::make(const core::Process& process) {
  std::string why;
  auto context = Context::open(context_options_of(*process.config, process.host, process.mine.size()), why);
  if (context == nullptr) {
    process.log->error("ucx: {}", why);
    return ErrorCode::not_supported;
  }
  process.log->debug("ucx: UCX {} may use {}", context->ucp().version(),
                     fmt::join(context->resources(), ", "));
  return std::unique_ptr<core::Network>(std::make_unique<UcxNetwork>(process, std::move(context)));
}

Result<std::unique_ptr<core::Conduit>> UcxNetwork::open(Rank me) {
  try {
    auto conduit = std::make_unique<UcxConduit>(*context_, process_, me);
    if (const Status status = conduit->open(); !status) return status;
    return std::unique_ptr<core::Conduit>(std::move(conduit));
  } catch (const std::bad_alloc&) {
    process_.log->error(
        "ucx: rank {}: there is no memory for its buffers: lower AQUEDUCT_UCX_PACKETS or AQUEDUCT_UCX_PACKET",
        me);
    return ErrorCode::no_memory;
  }
}

}  // namespace aqueduct::conduits::ucx
