#include "conduits/ibv/paging.hpp"

namespace aqueduct::conduits::ibv {

const char* text_of(const Paging& paging) noexcept {
  if (!paging.transfers) return "no on-demand paging";
  return paging.atomics ? "on-demand paging" : "on-demand paging, but not for atomics";
}

// A device or library without this query has no on-demand paging.
Paging paging_of(const Verbs& verbs, ibv_context& context) noexcept {
  ibv_device_attr_ex attributes{};
  if (verbs.query_device_ex == nullptr || verbs.query_device_ex(&context, &attributes) != 0) return {};
  const ibv_odp_caps& odp = attributes.odp_caps;
  if ((odp.general_caps & IBV_ODP_SUPPORT) == 0) return {};
  constexpr std::uint32_t kTransfers = IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ;
  const std::uint32_t connected = odp.per_transport_caps.rc_odp_caps;
  const bool transfers = (connected & kTransfers) == kTransfers;
  return {transfers, transfers && (connected & IBV_ODP_SUPPORT_ATOMIC) != 0};
}

}  // namespace aqueduct::conduits::ibv
