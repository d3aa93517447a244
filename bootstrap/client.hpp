#pragma once

#include <aqueduct/version.hpp>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/report.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>

namespace aqueduct::bootstrap {

/// Set by a launcher for each process: "fd:5,process:2,processes:8,job:123456789".
inline constexpr const char* kVariable = "AQUEDUCT_BOOTSTRAP";

/// Joins the job of the launcher that started this process.
///
/// `description` is the value of AQUEDUCT_BOOTSTRAP. An exchange waits at most `timeout` (setting
/// AQUEDUCT_BOOTSTRAP_TIMEOUT), and fails at once when the launcher ends or refuses the exchange. The result owns the
/// descriptor from here on, and programs that this process starts do not inherit it.
/// `library` is the version to announce; tests announce others.
/// Threads:  several threads may use the result; one exchange runs at a time.
/// Errors:   bad_setting (the description is unreadable), bootstrap_failed (the descriptor is not a socket).
Result<std::unique_ptr<Bootstrap>> from_launcher(std::string_view description,
                                                 std::chrono::milliseconds timeout, Report report,
                                                 std::uint32_t library = library_version());

}  // namespace aqueduct::bootstrap
