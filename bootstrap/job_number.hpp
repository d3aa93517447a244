#pragma once

#include <cstdint>

namespace aqueduct::bootstrap {

/// A number for a new job: random and never 0, so that no other job on this host has the same one.
std::uint64_t new_job_number() noexcept;

}  // namespace aqueduct::bootstrap
