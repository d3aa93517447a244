#pragma once

#include <aqueduct/status.hpp>

#include <cstdint>

namespace aqueduct {

class Config;

inline constexpr std::uint32_t kVersionMajor = 0;
inline constexpr std::uint32_t kVersionMinor = 1;
inline constexpr std::uint32_t kVersionPatch = 0;

/// The version of the library that is running, as major * 10000 + minor * 100 + patch. The constants above are those of
/// the headers with which the program was compiled.
std::uint32_t library_version() noexcept;
/// The version of the library that is running, as text: "0.1.0".
const char* library_version_text() noexcept;

/// The layout of what the headers' inline functions read, as Endpoint and aq_endpoint, and of the structures that programs in C fill
/// in. Who changes it raises the number (c/layout.cpp and c/layout_of_structures.cpp notice), so that a program compiled with older
/// headers is refused.
inline constexpr std::uint32_t kLayout = 1;
/// Whether inline functions compiled for layout `compiled_for` may run with this library. aq_job_start asks; other
/// languages' layers ask before they start a job. `config` says where the log goes.
///
/// Errors: version_mismatch; the log names both layouts.
Status check_layout(std::uint32_t compiled_for, const Config& config) noexcept;

}  // namespace aqueduct
