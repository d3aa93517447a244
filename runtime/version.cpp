#include <aqueduct/version.hpp>

namespace aqueduct {

std::uint32_t library_version() noexcept {
  return kVersionMajor * 10000 + kVersionMinor * 100 + kVersionPatch;
}

const char* library_version_text() noexcept { return "0.1.0"; }
static_assert(kVersionMajor == 0 && kVersionMinor == 1 && kVersionPatch == 0,
              "change the text with the numbers");

}  // namespace aqueduct
