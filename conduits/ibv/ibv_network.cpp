#include "conduits/ibv/ibv_network.hpp"

#include "conduits/ibv/ibv_conduit.hpp"
#include "conduits/ibv/pinned.hpp"

#include <algorithm>
#include <new>

namespace aqueduct::conduits::ibv {

Wish wish_of(const Config& config) {
  return {.device = config.text("ibv_device"),
          .gid = config.text("ibv_gid"),
          .rails = static_cast<std::size_t>(config.number("ibv_rails"))};
}

Status IbvNetwork::choose() {
  const std::lock_guard lock(mutex_);
  if (chosen_) return {};
  Found found = find_port(verbs_, wish_of(*process_.config));
  if (!found.problem.empty()) {
    process_.log->error("ibv: {}", found.problem);
    return ErrorCode::not_supported;
  }
  port_ = std::move(found.port);
  rails_ = std::move(found.rails);
  const std::string mtu = process_.config->text("ibv_mtu");
  if (mtu != "auto") {
    ibv_mtu wanted = IBV_MTU_256;
    while (wanted < IBV_MTU_4096 && std::to_string(128 << wanted) != mtu)
      wanted = static_cast<ibv_mtu>(wanted + 1);
    port_.attributes.active_mtu = std::min(port_.attributes.active_mtu, wanted);
    for (Port& rail : rails_) rail.attributes.active_mtu = std::min(rail.attributes.active_mtu, wanted);
  }
  chosen_ = true;
  process_.log->debug("ibv: {}", port_.text());
  for (const Port& rail : rails_) process_.log->debug("ibv: large transfers also by {}", rail.text());
  return {};
}

Result<std::unique_ptr<core::Conduit>> IbvNetwork::open(Rank me) {
  if (const Status status = choose(); !status) return status;
  const Config& config = *process_.config;
  IbvOptions options;
  options.packet = static_cast<std::size_t>(config.number("ibv_packet")) & ~std::size_t{7};
  options.credits = static_cast<std::uint32_t>(config.number("ibv_credits"));
  options.queue = static_cast<std::uint32_t>(config.number("ibv_queue"));
  options.depth = static_cast<std::uint32_t>(config.number("ibv_depth"));
  options.inline_bytes = static_cast<std::uint32_t>(config.number("ibv_inline"));
  options.timeout = static_cast<std::uint8_t>(config.number("ibv_timeout"));
  options.service_level = static_cast<std::uint8_t>(config.number("ibv_service_level"));
  options.traffic_class = static_cast<std::uint8_t>(config.number("ibv_traffic_class"));
  options.keep_registered = static_cast<std::size_t>(config.number("ibv_keep_registered"));
  const auto on_host = std::ranges::count(process_.host, process_.host[me]);
  options.pinned = pinned_share(pinnable_here(), static_cast<std::size_t>(config.number("ibv_pinned")),
                                {static_cast<std::size_t>(on_host), process_.mine.size()}) /
                   (1 + rails_.size());  // each port has registrations of its own
  options.on_demand = config.text("ibv_on_demand") == "auto";
  options.rail_bytes = static_cast<std::size_t>(config.number("ibv_rail_bytes"));
  options.large_pages = config.flag("ibv_huge_pages");
  options.shared_receive_queue = config.flag("ibv_shared_receive_queue");
  try {
    auto objects = open_objects(verbs_, port_, options, process_.ranks, me, *process_.log);
    if (!objects) return objects.status();
    auto conduit = std::make_unique<IbvConduit>(verbs_, port_, std::move(*objects), options, process_.job,
                                                process_.ranks, me, *process_.log, process_.clock);
    if (const Status status = conduit->start(rails_); !status) return status;
    return std::unique_ptr<core::Conduit>(std::move(conduit));
  } catch (const std::bad_alloc&) {
    process_.log->error(
        "ibv: rank {}: there is no memory for its queues: raise the limit (ulimit -v), lower "
        "AQUEDUCT_IBV_QUEUE or "
        "AQUEDUCT_IBV_PACKET, or start fewer ranks on each host",
        me);
    return ErrorCode::no_memory;
  }
}

}  // namespace aqueduct::conduits::ibv
