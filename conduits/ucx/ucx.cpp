#include "conduits/ucx/ucx.hpp"

#include "conduits/ucx/context.hpp"
#include "conduits/ucx/ucx_network.hpp"
#include "conduits/ucx/ucx_settings.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace aqueduct::conduits::ucx {
namespace {

core::Usability probe(const Config& config) {
  std::string why;
  ContextOptions options;
  options.transports = config.text("ucx_transports");
  options.devices = config.text("ucx_devices");
  const auto context = Context::open(options, why);
  if (context == nullptr) return {false, why};
  return {true,
          fmt::format("UCX {}{}, which may use {}", context->ucp().version(),
                      context->ucp().has_threads() ? "" : " without threads",
                      fmt::join(context->resources(), ", ")),
          context->has_hardware() ? core::Wire::hardware : core::Wire::sockets_of_library};
}

Result<std::unique_ptr<core::Network>> make(const core::Process& process) {
  return UcxNetwork::make(process);
}

}  // namespace

const core::ConduitEntry ucx_entry{
    .name = "ucx",
    .summary = "most HPC networks, through UCX",
    .crosses_hosts = true,
    .preference = 2,
    .settings = kSettings,
    .probe = probe,
    .make = make,
};

}  // namespace aqueduct::conduits::ucx
