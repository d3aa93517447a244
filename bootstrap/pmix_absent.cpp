// Replaces pmix.cpp in a build without PMIx (-DAQUEDUCT_PMIX=OFF, or AUTO and no libpmix-dev).

#include "bootstrap/pmix.hpp"

namespace aqueduct::bootstrap {
namespace {

constexpr const char* kWhy =
    "this build of Aqueduct has no PMIx: build it where libpmix-dev is installed, with -DAQUEDUCT_PMIX=ON";

}  // namespace

Result<std::unique_ptr<Bootstrap>> from_pmix(const std::string&, std::chrono::milliseconds, Report report) {
  if (report) report(kWhy);
  return ErrorCode::not_supported;
}

std::string describe_pmix(const std::string&) { return kWhy; }

}  // namespace aqueduct::bootstrap
