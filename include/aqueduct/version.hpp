#pragma once

#include <cstdint>

namespace aqueduct {

inline constexpr std::uint32_t kVersionMajor = 0;
inline constexpr std::uint32_t kVersionMinor = 1;
inline constexpr std::uint32_t kVersionPatch = 0;

/// The version of the library that is running, as major * 10000 + minor * 100 + patch. The constants above are those of
/// the headers with which the program was compiled.
std::uint32_t library_version() noexcept;
/// The version of the library that is running, as text: "0.1.0".
const char* library_version_text() noexcept;

}  // namespace aqueduct
