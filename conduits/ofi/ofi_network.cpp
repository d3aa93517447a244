#include "conduits/ofi/ofi_network.hpp"

#include "core/backoff.hpp"

#include <algorithm>

#include <unistd.h>

namespace aqueduct::conduits::ofi {

ProviderCriteria criteria_of(const Config& config, bool one_host) {
  return {.provider = config.text("ofi_provider"),
          .domain = config.text("ofi_domain"),
          .one_host = one_host,
          .auto_progress = config.text("ofi_progress") == "auto"};
}

Status OfiNetwork::choose() {
  const std::lock_guard lock(mutex_);
  if (fabric_ != nullptr) return {};
  const bool one_host = std::equal(process_.host.begin() + 1, process_.host.end(), process_.host.begin());
  Found found = find_provider(criteria_of(*process_.config, one_host));
  if (!found.problem.empty()) {
    process_.log->error("ofi: {}", found.problem);
    return ErrorCode::not_supported;
  }
  if (!one_host && !found.provider.quirks->crosses_hosts) {
    process_.log->error(
        "ofi: provider {} stays on one host, and this job has several: set AQUEDUCT_OFI_PROVIDER",
        found.provider.name());
    return ErrorCode::not_supported;
  }
  provider_ = std::move(found.provider);
  process_.log->debug("ofi: {}", provider_.text());
  const int error = open_fid(fabric_, [&](fid_fabric** raw) {
    return provider_.library.fabric(provider_.info->fabric_attr, raw, nullptr);
  });
  if (error == 0) return {};
  process_.log->error("ofi: provider {} does not open its fabric: {}", provider_.name(),
                      provider_.library.text(error));
  return ErrorCode::network_failed;
}

// A queue with a descriptor signals each arrival to the system (measured: 1.3 µs of a put's 10 over tcp). Where ranks share
// cores, a rank that only polls takes more time from the others than that.
bool OfiNetwork::sleeps(Rank me) const {
  if (!provider_.quirks->no_descriptor.empty()) return false;
  const std::string wanted = process_.config->text("ofi_sleep");
  if (wanted != "auto") return wanted == "on";
  const auto neighbours = std::count(process_.host.begin(), process_.host.end(), process_.host[me]);
  return neighbours > std::max<std::int64_t>(core::available_cores(), ::sysconf(_SC_NPROCESSORS_ONLN));
}

Result<std::unique_ptr<core::Conduit>> OfiNetwork::open(Rank me) {
  if (const Status status = choose(); !status) return status;
  const Config& config = *process_.config;
  auto objects = open_objects(*fabric_, provider_, process_.ranks, sleeps(me), me, *process_.log);
  if (!objects) return objects.status();
  OfiOptions options;
  const Quirks& quirks = *provider_.quirks;
  options.packet =
      std::min(static_cast<std::size_t>(config.number("ofi_packet")), quirks.most_packet) & ~std::size_t{7};
  options.queue = std::min(static_cast<std::uint32_t>(config.number("ofi_queue")), quirks.most_queue);
  options.receive_bytes = static_cast<std::size_t>(config.number("ofi_receive_buffer"));
  options.keep_registered = static_cast<std::size_t>(config.number("ofi_keep_registered"));
  options.register_local = config.flag("ofi_register_local");
  try {
    auto conduit = std::make_unique<OfiConduit>(std::move(*objects), provider_, options, me, *process_.log,
                                                process_.clock);
    if (const Status status = conduit->start(); !status) return status;
    return std::unique_ptr<core::Conduit>(std::move(conduit));
  } catch (const std::bad_alloc&) {
    process_.log->error(
        "ofi: rank {}: there is no memory for its buffers: lower AQUEDUCT_OFI_RECEIVE_BUFFER, "
        "AQUEDUCT_OFI_QUEUE or "
        "AQUEDUCT_OFI_PACKET",
        me);
    return ErrorCode::no_memory;
  }
}

}  // namespace aqueduct::conduits::ofi
