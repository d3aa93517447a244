// What stands in the conduit's place in a library that was built without UCX: the reason, for aqinfo and for jobs
// that ask for it.

#include "conduits/ucx/ucx.hpp"
#include "conduits/ucx/ucx_settings.hpp"

namespace aqueduct::conduits::ucx {
namespace {

core::Usability probe(const Config&) {
  return {false,
          "this library was built without UCX; on Debian install libucx-dev, and configure with "
          "-DAQUEDUCT_UCX=ON"};
}

Result<std::unique_ptr<core::Network>> make(const core::Process& process) {
  process.log->error("ucx: {}", probe(*process.config).why);
  return ErrorCode::not_supported;
}

}  // namespace

const core::ConduitEntry ucx_entry{
    .name = "ucx",
    .summary = "most HPC networks, through UCX",
    .crosses_hosts = true,
    .settings = kSettings,
    .probe = probe,
    .make = make,
};

}  // namespace aqueduct::conduits::ucx
