#include "conduits/ibv/ibv.hpp"

#include "conduits/ibv/ibv_network.hpp"
#include "conduits/ibv/wire.hpp"

namespace aqueduct::conduits::ibv {
namespace {

constexpr SettingInfo kSettings[] = {
    {"ibv_device", "AQUEDUCT_IBV_DEVICE", SettingType::text, "", "",
     "The RDMA device, with or without its port (mlx5_0, mlx5_0:1), or a list in order of preference. The "
     "fastest one whose link is up is taken. Empty means any."},
    {"ibv_rails", "AQUEDUCT_IBV_RAILS", SettingType::number, "", "1",
     "Ports that large transfers are striped over. All must be as fast as the first, which carries "
     "everything else.",
     1, kMostRails},
    {"ibv_rail_bytes", "AQUEDUCT_IBV_RAIL_BYTES", SettingType::bytes, "bytes", "65536",
     "The smallest share of a transfer that a rail gets; a transfer of two shares takes two rails.", 4096,
     1 << 30},
    {"ibv_gid", "AQUEDUCT_IBV_GID", SettingType::text, "", "",
     "Index of the port's address in its table (show_gids). Empty takes RoCE v2 with IPv4, or the first "
     "address."},
    {"ibv_mtu", "AQUEDUCT_IBV_MTU", SettingType::choice, "bytes", "auto",
     "The longest packet on the wire; auto takes what both ports have.", 0, 0, "auto|256|512|1024|2048|4096"},
    {"ibv_packet", "AQUEDUCT_IBV_PACKET", SettingType::bytes, "bytes", "4088",
     "The longest message that travels in one packet; the same on all ranks.", 512, 64 << 10},
    {"ibv_credits", "AQUEDUCT_IBV_CREDITS", SettingType::number, "", "6",
     "Messages that each peer may have in flight to a rank: as many buffers for each connected peer.", 2,
     1024},
    {"ibv_queue", "AQUEDUCT_IBV_QUEUE", SettingType::number, "", "512",
     "Operations that a rank may have in flight; half of them to one peer.", 16, 65536},
    {"ibv_depth", "AQUEDUCT_IBV_DEPTH", SettingType::number, "", "128",
     "Operations that a rank may have in flight to one peer: the length of each send queue.", 8, 65536},
    {"ibv_inline", "AQUEDUCT_IBV_INLINE", SettingType::bytes, "bytes", "192",
     "Up to this size the processor hands over the bytes with the request, where the device can.", 0, 256},
    {"ibv_timeout", "AQUEDUCT_IBV_TIMEOUT", SettingType::number, "", "15",
     "The adapter's timeout exponent: an unanswered packet is sent again after 4 us x 2^this, 6 times.", 8,
     31},
    {"ibv_service_level", "AQUEDUCT_IBV_SERVICE_LEVEL", SettingType::number, "", "0",
     "InfiniBand's service level, or RoCE's priority.", 0, 15},
    {"ibv_traffic_class", "AQUEDUCT_IBV_TRAFFIC_CLASS", SettingType::number, "", "0",
     "Traffic class in global headers; RoCE v2 networks sort packets by it.", 0, 255},
    {"ibv_keep_registered", "AQUEDUCT_IBV_KEEP_REGISTERED", SettingType::bytes, "bytes", "0",
     "Local memory outside segments that stays registered. Set it above 0 only if the program never unmaps "
     "such memory.",
     0, std::int64_t{1} << 40},
    {"ibv_pinned", "AQUEDUCT_IBV_PINNED", SettingType::bytes, "bytes", "0",
     "Local memory outside segments that all ranks of a host together may have registered at once, in equal "
     "shares. 0 takes a quarter of the host's memory, and at most half of what `ulimit -l` allows a process.",
     0, std::int64_t{1} << 50},
    {"ibv_on_demand", "AQUEDUCT_IBV_ON_DEMAND", SettingType::choice, "", "auto",
     "Memory that cannot be pinned: auto registers it for on-demand paging where the device has that; off "
     "does not.",
     0, 0, "auto|off"},
    {"ibv_huge_pages", "AQUEDUCT_IBV_HUGE_PAGES", SettingType::boolean, "", "on",
     "Whether to ask the system for huge pages where segments are registered: the adapter then looks up "
     "fewer addresses."},
    {"ibv_shared_receive_queue", "AQUEDUCT_IBV_SHARED_RECEIVE_QUEUE", SettingType::boolean, "", "on",
     "Whether peers share one queue of receives. off gives each peer's queue pair its own, as on devices "
     "that cannot share them."},
};

core::Usability probe(const Config& config) {
  const LoadedVerbs loaded = load_verbs();
  if (!loaded.problem.empty()) return {false, loaded.problem};
  const Found found = find_port(loaded.verbs, wish_of(config));
  if (!found.problem.empty()) return {false, found.problem};
  std::string why = found.port.text() + ", " + text_of(found.port.paging);
  for (const Port& rail : found.rails) why += "; large transfers also by " + rail.text();
  if (!found.passed_over.empty()) why += " (not: " + found.passed_over + ")";
  return {true, why, core::Wire::hardware};
}

Result<std::unique_ptr<core::Network>> make(const core::Process& process) {
  const LoadedVerbs loaded = load_verbs();
  if (!loaded.problem.empty()) {
    process.log->error("ibv: {}", loaded.problem);
    return ErrorCode::not_supported;
  }
  return std::unique_ptr<core::Network>(std::make_unique<IbvNetwork>(process, loaded.verbs));
}

}  // namespace

const core::ConduitEntry ibv_entry{
    .name = "ibv",
    .summary = "InfiniBand, RoCE and iWARP adapters, by RDMA verbs directly",
    .crosses_hosts = true,
    .preference = 3,
    .settings = kSettings,
    .probe = probe,
    .make = make,
};

}  // namespace aqueduct::conduits::ibv
