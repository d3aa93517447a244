#pragma once

#include <aqueduct/config.hpp>

#include <string>

namespace aqueduct::aqcheck {

/// The function by which a shared object adds the algorithms of a program, as the program itself may call it:
/// `extern "C" void aqueduct_algorithms(aqueduct::Config&)`.
inline constexpr const char* kAlgorithmsFunction = "aqueduct_algorithms";

/// Adds the algorithms of a shared object to `config`. It stays loaded. Returns what is wrong, or an empty string.
std::string add_algorithms_of(const std::string& file, Config& config);

}  // namespace aqueduct::aqcheck
