// The ibv conduit over the mock network, as a plug-in: the conformance kit goes through the conduit where there is no
// device, and callgrind counts what a put costs. All ranks are in one process.

#include "conduits/ibv/ibv_network.hpp"
#include "conduits/ibv/tests/mock_device.hpp"

#include <cerrno>
#include <cstdint>
#include <cstdlib>

namespace aqueduct::conduits::ibv {
namespace {

mock::Network& network() {
  static mock::Network only;
  static const bool two = [] {
    only.devices.resize(2);  // jobs with one port use the first
    only.devices[1].name = "mock1";
    only.devices[1].slow = true;  // so that code fails that relies on an order between devices
    if (std::getenv("IBV_MOCK_IWARP") != nullptr) {
      only.devices.resize(1);
      only.devices[0].make_iwarp();
      only.devices[0].slow = true;  // so that code fails that takes the completion of a write for its arrival
    }
    return true;
  }();
  static_cast<void>(two);
  return only;
}

/// As if the limit on pinned memory were reached: the conduit's own pages and segments are pinned, but no buffers of
/// callers.
ibv_mr* pin_pages_only(ibv_pd* domain, void* memory, std::size_t bytes, int access) {
  const bool pages = reinterpret_cast<std::uintptr_t>(memory) % 4096 == 0;
  if (pages || (access & IBV_ACCESS_REMOTE_WRITE) != 0)
    return network().verbs().reg_mr(domain, memory, bytes, access);
  errno = ENOMEM;
  return nullptr;
}

core::Usability probe(const Config&) { return {true, "a pretence", core::Wire::hardware}; }

Result<std::unique_ptr<core::Network>> make(const core::Process& process) {
  if (process.mine.size() != process.ranks) {
    process.log->error("ibv_mock: its network is within one process");
    return ErrorCode::not_supported;
  }
  Verbs verbs = network().verbs();
  if (std::getenv("IBV_MOCK_PINS_PAGES_ONLY") != nullptr) verbs.reg_mr = pin_pages_only;
  return std::unique_ptr<core::Network>(std::make_unique<IbvNetwork>(process, verbs));
}

// The settings are those of ibv, which is compiled into the plug-in.
const core::ConduitEntry kEntry{
    .name = "ibv_mock",
    .summary = "ibv over adapters that are pretended",
    .settings = {},
    .probe = probe,
    .make = make,
};

}  // namespace
}  // namespace aqueduct::conduits::ibv

extern "C" const aqueduct::core::ConduitEntry* aqueduct_conduit() { return &aqueduct::conduits::ibv::kEntry; }

/// How many requests were posted to connected queue pairs.
extern "C" int ibv_mock_requests() { return aqueduct::conduits::ibv::network().counts.requests(); }
