#include "conduits/ofi/ofi.hpp"

#include "conduits/ofi/ofi_network.hpp"

namespace aqueduct::conduits::ofi {
namespace {

constexpr SettingInfo kSettings[] = {
    {"ofi_provider", "AQUEDUCT_OFI_PROVIDER", SettingType::text, "", "",
     "Provider of libfabric, as fi_info prints it (verbs;ofi_rxm). Empty chooses the best one here."},
    {"ofi_domain", "AQUEDUCT_OFI_DOMAIN", SettingType::text, "", "",
     "The provider's domain (eth0, mlx5_0), as fi_info prints it. Empty chooses."},
    {"ofi_progress", "AQUEDUCT_OFI_PROGRESS", SettingType::choice, "", "manual",
     "auto lets a thread of the provider answer peers while a rank computes; latencies double.", 0, 0,
     "manual|auto"},
    {"ofi_packet", "AQUEDUCT_OFI_PACKET", SettingType::bytes, "bytes", "16128",
     "The longest message that travels in one packet; ofi_rxm sends those above 16 KiB by a slower way.", 512,
     64 << 10},
    {"ofi_queue", "AQUEDUCT_OFI_QUEUE", SettingType::number, "", "512",
     "Operations that a rank may have in flight; half of them to one peer.", 8, 65536},
    {"ofi_receive_buffer", "AQUEDUCT_OFI_RECEIVE_BUFFER", SettingType::bytes, "bytes", "1M",
     "Room for messages that have arrived and have not been handled.", 64 << 10, 1 << 30},
    {"ofi_sleep", "AQUEDUCT_OFI_SLEEP", SettingType::choice, "", "auto",
     "Whether long waits sleep until something arrives, which makes operations about a tenth slower. auto: "
     "where a host has more ranks than cores.",
     0, 0, "auto|on|off"},
    {"ofi_keep_registered", "AQUEDUCT_OFI_KEEP_REGISTERED", SettingType::bytes, "bytes", "0",
     "Local memory outside segments that stays registered. Set it above 0 only if the program never unmaps "
     "such memory.",
     0, std::int64_t{1} << 40},
    {"ofi_register_local", "AQUEDUCT_OFI_REGISTER_LOCAL", SettingType::boolean, "", "off",
     "For tests: registers local buffers although the provider does not ask for it."},
};

core::Usability probe(const Config& config) {
  if (const Found far = find_provider(criteria_of(config, false)); far.problem.empty()) {
    return {true, far.provider.text(),
            far.provider.quirks->hardware ? core::Wire::hardware : core::Wire::sockets_of_library};
  }
  // A job of one host can be served by more providers.
  const Found found = find_provider(criteria_of(config, true));
  if (!found.problem.empty()) return {false, found.problem};
  return {true, found.provider.text()};
}

Result<std::unique_ptr<core::Network>> make(const core::Process& process) {
  return std::unique_ptr<core::Network>(std::make_unique<OfiNetwork>(process));
}

}  // namespace

const core::ConduitEntry ofi_entry{
    .name = "ofi",
    .summary = "networks that libfabric has a provider for: Slingshot, Omni-Path, EFA, InfiniBand, TCP",
    .crosses_hosts = true,
    .preference = 1,
    .settings = kSettings,
    .probe = probe,
    .make = make,
};

}  // namespace aqueduct::conduits::ofi
