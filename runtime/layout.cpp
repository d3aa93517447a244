#include <aqueduct/config.hpp>
#include <aqueduct/version.hpp>

#include "core/log.hpp"

namespace aqueduct {

Status check_layout(std::uint32_t compiled_for, const Config& config) noexcept try {
  if (compiled_for == kLayout) return {};
  core::Log log(config, kNoRank);
  log.error(
      "this program was compiled for layout {} of Aqueduct's inline functions, and the library (version {}) "
      "has "
      "layout {}: compile it again with the headers of this library, or run it with the library of its "
      "headers",
      compiled_for, library_version_text(), kLayout);
  return ErrorCode::version_mismatch;
} catch (...) {
  return ErrorCode::version_mismatch;
}

}  // namespace aqueduct
