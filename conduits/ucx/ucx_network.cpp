#include "conduits/ucx/ucx_network.hpp"

#include "conduits/ucx/ucx_conduit.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace aqueduct::conduits::ucx {

ContextWish wish_of(const Config& config, std::span<const std::uint32_t> host_of, std::size_t workers) {
  const bool one_host =
      std::ranges::count(host_of, host_of.front()) == static_cast<std::ptrdiff_t>(host_of.size());
  ContextWish wish;
  wish.transports = config.text("ucx_transports");
  wish.devices = config.text("ucx_devices");
  wish.one_host = one_host;
  wish.other_hosts_only = config.flag("near") && !one_host;  // smp serves this host
  wish.ranks = host_of.size();
  wish.threads = workers > 1;
  return wish;
}

Result<std::unique_ptr<core::Network>> UcxNetwork::make(const core::Process& process) {
  std::string why;
  auto context = Context::open(wish_of(*process.config, process.host, process.mine.size()), why);
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
