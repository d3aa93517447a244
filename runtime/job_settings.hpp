#pragma once

#include <aqueduct/config.hpp>

#include <span>

namespace aqueduct::runtime {

/// The settings of the job: its conduits, endpoints and segment, and how its processes meet.
std::span<const SettingInfo> job_settings() noexcept;

}  // namespace aqueduct::runtime
