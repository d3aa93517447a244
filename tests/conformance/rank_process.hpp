#pragma once

#include "tests/conformance/fabric_test.hpp"

#include <string>

namespace aqueduct::conformance {

/// The exit code of a rank's process after a failed assertion.
inline constexpr int kFailed = 1;

/// Makes the configuration of a process of a launch. To be called in it before anything else of the library.
void configure(const Fabric& fabric, const Launch& launch, std::uint32_t process, Rank endpoints,
               Config& config);
/// Runs the body in every rank of this process and ends the job. Returns the exit code; failures are assertions.
int run_ranks(Result<Job>& job, const Launch& launch, const Body& body, const std::string& where);

}  // namespace aqueduct::conformance
